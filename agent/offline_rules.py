"""`RULES`: what the offline model understands, in English and Chinese. The first rule that fits counts.

A pattern must fit the whole request, but for the polite words before it (`POLITE`) and the stop or question mark
behind it. Its named groups are the pieces that the kind needs. Chinese patterns are in simplified characters, and
traditional ones are read as those.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from agent.chinese import fold, is_chinese

__all__ = ["RULES", "Kind", "Request", "Rule", "understand"]

Kind = Literal[
    "help", "greet", "recall", "remember", "forget", "edit", "replace", "delegate", "list", "search", "write", "read",
    "run", "question", "unknown",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rule:
    kind: Kind
    english: tuple[str, ...]
    chinese: tuple[str, ...]
    examples: tuple[str, str] = ("", "")
    # In English and Chinese, for `help`


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it was understood; `pieces` are in the words of the user."""

    kind: Kind
    text: str
    pieces: dict[str, str]


POLITE = (
    r"(?:(?:please|kindly|now|then|also|ok(?:ay)?|hey|hi|so|(?:could|can|would|will) you|i(?:'d like| want) you to)\b"
    r"[,.!]*\s+)*"
    r"(?:(?:请你?|麻烦你?|帮我|帮忙|现在|然后|接着|能不能|可否)[，,\s]*)*"
)
LONGEST = 6_000  # characters; a longer text is no request that a rule could fit
QUOTE = "[\"'`“”‘’「」『』]?"
NAME = "[^\\s\"'`“”‘’「」『』，。；？！;,?!]"  # a letter of a file's name, which has neither quotes nor blanks in it
FILE = rf"{QUOTE}(?P<path>{NAME}*(?:/|\.[A-Za-z0-9]{{1,8}}(?![A-Za-z0-9])){NAME[:-1]}的里中]*){QUOTE}"
FOLDER = rf"{QUOTE}(?P<path>{NAME}+?){QUOTE}"
MEMORY = r"(?:your |the |my )?memor(?:y|ies)"
SUBAGENT = r"子(?:代理|智能体|任务)"
PREFER = r"(?:(?:always|usually|really|much|would|also)\s+)*(?:prefer|like|love|hate|dislike)\b"
MINE = r"(?:name|e-?mail|time ?zone|birthday|favou?rite|preferred|role|job|pronouns|editor|shell|language)\b"
TALK = r"(?:answer|reply|write|use|speak|call|respond|explain)\b"

RULES = (
    Rule(
        "help",
        (r"help(?: me)?|commands", r"wh(?:at (?:can|could) you do|o are you|at are you)", r"are you (?:an? )?.+"),
        (r"帮助|帮忙|你是(?:谁|什么).*", r"你(?:能|会|可以)(?:做|干)(?:些)?什么", r"怎么用你?|有(?:哪些|什么)命令"),
        ("help", "帮助"),
    ),
    Rule(
        "greet",
        (r"(?:hi|hello|hey|good (?:morning|evening)|thanks?|thank you|bye|ok(?:ay)?|great)(?: there| you| a lot)*",),
        (r"你好|您好|嗨|早上好|晚上好|多?谢谢?你?|再见|好的?",),
    ),
    Rule(
        "recall",
        (
            r"what (?:else )?(?:do|did) you (?:still )?(?:know|remember|recall)\s*(?:about|of|on)?(?P<topic>.*)",
            r"(?:do|can|did) you (?:still )?(?:know|remember|recall)\s*(?:about|of|on)?(?P<topic>.*)",
            r"tell me (?:everything |all |what )?(?:you (?:know|remember) )?about (?P<topic>.+)",
            rf"(?:search|look in|check|ask) {MEMORY} (?:for|about) (?P<topic>.+)",
            rf"(?:show|list|read|print|what(?:'s| is) in)(?: me)? {MEMORY}",
        ),
        (
            r"(?:关于|对于?)(?P<topic>.+?)[，,\s]*你(?:都|还)?(?:知道|记得|了解)(?:些|多少|什么|哪些)*[吗呢]?",
            r"你(?:还|都)?(?:知道|了解)(?:些|哪些|什么|多少)*(?:关于)?(?P<topic>.*?)(?:些?什么)?[吗么呢]?",
            r"你(?:还|都)?记(?:得|住)了?(?:些|哪些|什么|多少)*(?:关于)?(?P<topic>.*?)[吗么呢]",
            r"你(?:还|都)?记(?:得|住)了?(?:些|哪些|什么|多少)+(?:关于)?(?P<topic>.*?)",
            r"(?:查看|显示|列出|看看)(?:你的|我的)?记忆", r"(?:你的)?记忆(?:里|中)?有(?:什么|哪些).*",
            r"(?:搜索|查找|回忆)(?:一下)?(?:你的)?(?:记忆)?(?:里|中)?关于(?P<topic>.+?)(?:的(?:记忆|内容|事))?",
        ),
        ("what do you know about tests?", "你知道我喜欢什么吗？"),
    ),
    Rule(
        "remember",
        (
            r"(?:remember|memori[sz]e|(?:take |make a )?note|(?:keep|bear) in mind)(?=[\s:,])(?: this)?[:,]?"
            r"(?: (?:that|of)\b)?[:,]?\s*(?P<content>.+)",
            r"(?:don'?t|do not|never) forget(?=[\s:,])(?: this)?[:,]?(?: that\b)?[:,]?\s*(?P<content>.+)",
            rf"(?:save|store|add|put|write) (?P<content>.+?) (?:to|in|into) {MEMORY}",
            rf"(?:save|add) (?:to|in) {MEMORY}[:,]?\s*(?P<content>.+)",
            rf"(?P<content>(?:i|we) {PREFER}(?! (?:it|this|that)\b).+|i(?:'m| am) (?:an? |called |named ).+)",
            r"(?P<content>i (?:live|work) (?:in|at|for|as) .+)",
            rf"(?P<content>(?:call|address) me .+|my {MINE}.* (?:is|are) .+|(?:always|never|from now on,?) {TALK}.+)",
        ),
        (
            r"你?要?(?:记住|记得|记下来?|记一下|记着|牢记)(?:一下|这点|一点)?[：:，,\s]*(?P<content>.+)",
            r"(?:千万)?(?:别|不要)忘(?:记|了|掉)?[：:，,\s]*(?P<content>.+)",
            r"[把将](?P<content>.+?)(?:记下来|记住|(?:存|加|写|保存|添加)[到进入](?:你的)?记忆[里中]?)",
            r"(?:保存|添加|写)[到进入]记忆[里中]?[：:，,\s]*(?P<content>.+)",
            r"(?P<content>我们?(?:更|最|很|比较|一直|总是|平时|不)*(?:喜欢|偏好|偏爱|习惯|讨厌).+)",
            r"(?P<content>我(?:叫|住在).+|我的(?:名字|邮箱|生日|时区|职业|编辑器|语言)(?:是|叫).+|我是(?:一?[名个位]).+)",
            r"(?P<content>(?:以后|今后)?(?:叫|称呼)我.+|(?:以后|今后|从现在起|总是|永远)(?:都|请|要|不要)*[用回说写].+)",
        ),
        ("remember that this project runs its tests with pytest", "记住这个项目用 pytest 跑测试"),
    ),
    Rule(
        "forget",
        (
            r"(?:delete|remove|erase|drop) (?:the |your )?(?:memory|entry)(?: about| of| that| with)? (?P<what>.+?)",
            rf"(?:delete|remove|erase|drop) (?P<what>.+?) from {MEMORY}",
            r"forget (?:about |that |what you know about |the (?:memory|entry|fact) (?:about |that )?)?(?P<what>.+?)",
        ),
        (
            r"(?:忘记|忘掉|忘了)(?:关于)?(?P<what>.+?)(?:的(?:事情?|记忆|内容))?",
            r"[把将](?P<what>.+?)(?:忘了|忘掉|忘记)",
            r"(?:删除|删掉|清除|去掉)(?:关于)?(?P<what>.+?)的?(?:这条)?记忆",
            r"从?记忆[里中](?:删除|删掉|去掉)(?:关于)?(?P<what>.+)",
        ),
        ("forget the tests", "忘掉关于测试的事"),
    ),
    Rule(
        "edit",
        (rf"(?:replace|change) (?P<old>.+?) (?:with|by|to|into) (?P<new>.+?) in (?:the )?(?:file )?{FILE}",),
        (rf"[把将](?:文件)?\s*{FILE}\s*[里中]?面?的\s*(?P<old>.+?)\s*(?:替换|换|改)[为成]\s*(?P<new>.+)",),
        ("replace foo with bar in notes.txt", "把 notes.txt 里的 foo 改成 bar"),
    ),
    Rule(
        "replace",
        (
            r"(?:replace|change|update|correct) (?:the (?:memory|entry) )?(?P<old>.+?) (?:with|by|to|into)"
            rf" (?P<new>.+?)(?: in {MEMORY})?",
        ),
        (r"(?:在?记忆[里中]?)?[把将](?:记忆[里中]?的)?(?P<old>.+?)(?:替换|更换|换|改|更新|更正)[为成](?P<new>.+)",),
        ("replace pytest with nox", "把 pytest 改成 nox"),
    ),
    Rule(
        "delegate",
        (
            r"(?:delegate|hand over|hand off)\b(?: this| the job| to)*[:,]?\s*(?P<job>.+?)"
            r"(?: to (?:a|another) sub-?agent)?",
            r"(?:have|let|ask|use|get|tell) (?:an?|the|another|some|two|\d+) sub-?agents?(?: to)?[:,]?\s*(?P<job>.+)",
        ),
        (
            rf"(?:委派|委托|分派|交办)(?:给{SUBAGENT})?[：:，,\s]*(?P<job>.+)",
            rf"(?:让|叫|派|用|交给|分给)(?:另?一?个)?{SUBAGENT}(?:去|来)?[：:，,\s]*(?P<job>.+)",
            rf"[把将](?P<job>.+?)(?:交给|委派给|分给)(?:一个)?{SUBAGENT}.*",
        ),
        ("delegate: read README.md; list files", "委派：读取 README.md；列出文件"),
    ),
    Rule(
        "list",
        (
            rf"(?:list|show|print)(?: me)?(?: all| the| my)* files(?: (?:in|of|under) (?:the )?(?:folder )?{FOLDER})?",
            r"list(?: the)? (?:folder|directory|workspace)", r"(?:what|which) files (?:are|do)\b.*",
            rf"ls(?: {FOLDER})?",
        ),
        (
            rf"(?:列出|显示|看看|查看)(?:一下)?\s*(?:{FILE})?\s*(?:目录|文件夹)?[里下中]?的?(?:所有|全部)?的?(?:文件|目录)(?:列表)?",
            r"(?:这里|目录[里下]?)?有(?:哪些|什么)文件",
        ),
        ("list files", "列出文件"),
    ),
    Rule(
        "search",
        (
            r"(?:search|grep|look)(?: (?:in |through )?(?:the |my )?(?:files|code|workspace|project))? for"
            rf" (?P<what>.+?)(?: in (?:the )?(?:file |folder )?{FILE})?",
            r"(?:find|search) (?P<what>.+?) in (?:the |my )?(?:files|code|workspace|project)", r"grep (?P<what>\S+)",
        ),
        (
            rf"在\s*{FILE}\s*[里中]?(?:搜索|查找|找)(?:一下)?\s*(?P<what>.+)",
            r"(?:在(?:文件|代码|项目)[里中]?)?(?:搜索|查找|搜一下|查一下|找一下)\s*(?:文件|代码)?[里中]?\s*(?P<what>.+)",
        ),
        ("search for TODO", "搜索 TODO"),
    ),
    Rule(
        "write",
        (rf"(?:write|save|put) (?P<content>.+?) (?:to|into|in) (?:the |a )?(?:new )?(?:file )?{FILE}",),
        (rf"[把将]\s*(?P<content>.+?)\s*(?:写入|写到|写进|保存到|存到)(?:文件)?\s*{FILE}[里中]?",),
        ("write hello to notes.txt", "把 hello 写入 notes.txt"),
    ),
    Rule(
        "read",
        (
            rf"(?:read|open|show|print|cat|display|view)(?: me)?(?: the)?(?: contents? of)?(?: the)?(?: file)? {FILE}"
            r"(?:[ ,;].*)?",
            rf"(?:read|cat|open)(?: the)?(?: file)? (?!(?:my|it|this|that|the|your)\b){FOLDER}",
            rf"what(?:'s| is| does)(?: in| inside)?(?: the)?(?: file)? {FILE}(?: (?:say|contain|hold).*)?",
        ),
        (
            rf"(?:读取?|阅读|打开|查看|看看|看一下|看|显示)(?:一下)?(?:文件)?\s*{FILE}.*",
            rf"(?:读取?|打开)(?:一下)?(?:文件)?\s+{FOLDER}", rf"{FILE}\s*[里中]?面?(?:有|写了|是)(?:些)?什么.*",
        ),
        ("read README.md", "读取 README.md"),
    ),
    Rule(
        "run",
        (r"(?:run|execute)(?:(?: the)?(?: shell)? command)?[:\s]\s*(?P<command>.+)", r"\$ (?P<command>.+)"),
        (r"(?:运行|执行|跑一下|跑)(?:一下)?(?:命令|指令)?[：:\s]*(?P<command>.+)",),
        ("run git status", "运行 git status"),
    ),
    Rule(
        "question",
        (r"(?:wh(?:at|o|om|ose|ich|ere|en|y)|how|is|are|am|was|were|do|does|did|can|could|should|has|have)\b.*",),
        (r".*(?:什么|怎么|怎样|如何|谁|哪|多少|几|吗|呢|是否|是不是|有没有).*",),
    ),
)  # fmt: skip


def understand(text: str) -> Request:
    """Return what `text` asks for."""
    text = text.strip()
    asks = text.endswith(("?", "？", "吗", "嗎"))
    if len(text) > LONGEST:
        return Request("unknown", text, {})
    for rule in RULES:
        # The other language is tried too: an English order may have Chinese content
        for alternative in (*(rule.chinese if is_chinese(text) else ()), *rule.english):
            match = _compiled(alternative).fullmatch(fold(text))
            if match is None:
                continue
            pieces = {
                name: text[slice(*match.span(name))].strip() for name, found in match.groupdict().items() if found
            }
            if asks and rule.kind == "remember":
                return Request("recall", text, {"topic": pieces["content"]})
            return Request(rule.kind, text, pieces)
    return Request("question" if asks else "unknown", text, {})


@cache
def _compiled(alternative: str) -> re.Pattern[str]:
    return re.compile(rf"{POLITE}(?:{alternative})\s*[.!?。！？]*", re.IGNORECASE | re.DOTALL)
