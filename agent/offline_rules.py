"""`RULES`: what the offline model understands, in English and Chinese. The first rule that fits counts.

A pattern must fit the whole request, but for polite words before it and the stop or question mark behind it. Its named
groups are the pieces that the kind needs. Traditional letters of the Chinese patterns are read as simplified ones.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

__all__ = ["RULES", "Kind", "Request", "Rule", "is_chinese", "understand"]

Kind = Literal[
    "help",
    "recall",
    "remember",
    "forget",
    "replace",
    "delegate",
    "list",
    "search",
    "read",
    "run",
    "question",
    "unknown",
]


class Rule(NamedTuple):
    kind: Kind
    examples: tuple[str, str] | None
    # In English and Chinese, for `help`
    patterns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it was understood; `pieces` are in the words of the user."""

    kind: Kind
    text: str
    pieces: dict[str, str]


POLITE = r"(?:(?:please|now|(?:could|can|would|will) you)\b,?\s*|(?:请你?|麻烦你?|帮我|现在)[，,]?\s*)*"
STOP = r"\s*[.!?。！？]*"
LONGEST = 6_000  # characters; a longer text is no request that a rule could fit
QUOTE = "[\"'`“”]?"
NAME = "[^\\s\"'`“”，。；？！的;,?!]"  # a letter of a file's name
FILE = rf"{QUOTE}(?P<path>{NAME}*[./]{NAME}*(?<![.里中])){QUOTE}"
FOLDER = rf"{QUOTE}(?P<path>{NAME}+?){QUOTE}"
MEMORY = r"(?:your |the |my )?memory"
SUBAGENT = r"子(?:代理|智能体|任务)"

RULES = (
    Rule("help", ("help", "帮助"), (
        r"help(?: me)?|(?:hi|hello|hey|thanks)(?: there)?|what can you do|(?:who|what) are you|are you an? .+",
        r"帮助|你好|您好|谢谢|你是(?:谁|什么).*|你(?:能|会|可以)(?:做|干)些?什么",
    )),
    Rule("recall", ("what do you know about tests?", "你知道我喜欢什么吗？"), (
        r"(?:what )?(?:do|did|can) you (?:know|remember|recall)\s*(?:about|of)?(?P<topic>.*)",
        r"(?:tell me )?what you (?:know|remember)(?: about (?P<topic>.+))?",
        rf"(?:show|list|read|what(?:'s| is) in)(?: me)? {MEMORY}",
        r"(?:关于|对)(?P<topic>.+?)[，,\s]*你[都还]?(?:知道|记得|了解)(?:些|多少|什么|哪些)*[吗呢]?",
        r"你[还都]?(?:知道|了解|记得|记住了)(?:些|哪些|什么|多少)*(?:关于)?(?P<topic>.*?)(?:些?什么)?[吗么呢]?",
        r"(?:查看|显示|列出)(?:你的|我的)?记忆|记忆[里中]有(?:什么|哪些).*",
    )),
    Rule("remember", ("remember that this project runs its tests with pytest", "记住这个项目用 pytest 跑测试"), (
        r"(?:remember|note|keep in mind|(?:don'?t|never) forget)(?=[\s:,]):?(?: that\b)?[:,]?\s*(?P<content>.+)",
        rf"(?:save|add|write) (?P<content>.+?) (?:to|in|into) {MEMORY}",
        r"(?:记住|记得|记下来?|记一下|别忘了?|不要忘记?)[：:，,\s]*(?P<content>.+)",
        r"[把将](?P<content>.+?)(?:记下来|记住|[存加写][到进入](?:你的)?记忆[里中]?)",
    )),
    Rule("forget", ("forget the tests", "忘掉关于测试的事"), (
        rf"(?:delete|remove) (?P<what>.+?) from {MEMORY}",
        r"(?:forget|(?:delete|remove) the (?:memory|entry))(?: about| that| of)? (?P<what>.+?)",
        r"(?:忘记|忘掉|忘了)(?:关于)?(?P<what>.+?)(?:的(?:事情?|记忆|内容))?",
        r"[把将](?P<what>.+?)(?:忘了|忘掉|忘记)",
        r"删除(?:关于)?(?P<what>.+?)的?记忆",
    )),
    Rule("replace", ("replace pytest with nox", "把 pytest 改成 nox"), (
        r"(?:replace|change) [\"“](?P<old>[^\"”]+)[\"”] (?:with|by|to|into) [\"“](?P<new>[^\"”]+)[\"”]",
        rf"(?:replace|change) (?P<old>.+?) (?:with|by|to|into) (?P<new>.+?)(?: in {MEMORY})?",
        r"(?:在?记忆[里中])?[把将](?P<old>.+?)(?:替换|换|改)[为成](?P<new>.+)",
    )),
    Rule("delegate", ("delegate: read README.md; list files", "委派：读取 README.md；列出文件"), (
        r"delegate(?: this)?[:,]?\s*(?P<job>.+?)(?: to a sub-?agent)?",
        r"(?:have|let|ask|use) an? sub-?agent(?: to)?[:,]?\s*(?P<job>.+)",
        rf"(?:委派|委托)(?:给{SUBAGENT})?[：:，,\s]*(?P<job>.+)",
        rf"(?:让|叫|用|交给)(?:一个)?{SUBAGENT}[去来]?[：:，,\s]*(?P<job>.+)",
    )),
    Rule("list", ("list files", "列出文件"), (
        rf"(?:list|show)(?: me)?(?: all)?(?: the)? files(?: (?:in|of|under) (?:the folder )?{FOLDER})?",
        rf"ls(?: {FOLDER})?|(?:what|which) files are .*",
        rf"(?:列出|显示|查看)\s*(?:{FOLDER}\s*(?:目录|文件夹)?[里下中]的?)?(?:所有|全部)?(?:的)?文件",
        r"(?:这里)?有(?:哪些|什么)文件",
    )),
    Rule("search", ("search for TODO", "搜索 TODO"), (
        rf"(?:search|grep|look)(?: the files)?(?: for)? (?P<what>.+?)(?: in (?:the )?(?:file |folder )?{FILE})?",
        rf"(?:在\s*{FILE}\s*[里中]?)?(?:搜索|查找|搜寻)\s*(?P<what>.+)",
    )),
    Rule("read", ("read README.md", "读取 README.md"), (
        rf"(?:read|open|show|cat)(?: me)?(?: the)?(?: file)? {FILE}(?:[ ,;].*)?",
        rf"(?:read|cat)(?: the)?(?: file)? {FOLDER}",
        rf"what(?:'s| is) in(?: the)?(?: file)? {FILE}",
        rf"(?:读取?|阅读|打开|查看|看看|显示)(?:一下)?(?:文件)?\s*{FILE}.*",
        rf"{FILE}\s*[里中]?面?(?:有|写了|是)些?什么.*",
    )),
    Rule("run", ("run git status", "运行 git status"), (
        r"(?:run|execute)(?: the)?(?: command)?[:\s]\s*(?P<command>.+)",
        r"\$ (?P<command>.+)",
        r"(?:运行|执行)(?:一下)?(?:命令)?[：:\s]*(?P<command>.+)",
    )),
    Rule("question", None, (
        r".+[?？]|(?:wh(?:at|o|ose|ich|ere|en|y)|how|is|are|do|does|did|can)\b.*",
        r".*(?:什么|怎么|如何|谁|哪|多少|[吗呢]$).*",
    )),
)  # fmt: skip

_TRADITIONAL = "請煩幫現謝嗎麼會幹對關於還記憶裡裏顯別將寫進這項測試話換為讓給務檔讀閱開執運錄誰個內們哪夾尋"
_SIMPLIFIED = "请烦帮现谢吗么会干对关于还记忆里里显别将写进这项测试话换为让给务档读阅开执运录谁个内们哪夹寻"
_FOLD = str.maketrans(_TRADITIONAL, _SIMPLIFIED)
# The letters of the rules and no others; letter by letter, so that places in the text stay the same


def understand(text: str) -> Request:
    """Return what `text` asks for."""
    text = text.strip()
    if len(text) > LONGEST:
        return Request("unknown", text, {})
    folded = text.translate(_FOLD)
    for rule in RULES:
        for pattern in rule.patterns:
            match = _compiled(pattern).fullmatch(folded)
            if match is not None:
                found = {name: text[slice(*match.span(name))].strip() for name in match.groupdict() if match[name]}
                return Request(rule.kind, text, found)
    return Request("unknown", text, {})


def is_chinese(text: str) -> bool:
    """Say whether there is a Chinese character in `text`."""
    return re.search(r"[\u3400-\u9fff]", text) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(f"{POLITE}(?:{pattern}){STOP}", re.IGNORECASE | re.DOTALL)
