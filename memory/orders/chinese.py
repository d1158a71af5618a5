"""Orders in Chinese to a later model, in simplified or traditional characters, also mixed with English words."""

from __future__ import annotations

import re

__all__ = ["holds_chinese_order"]


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


LIST_MARK = r"\n[ \t\u3000]*(?:[-*+#>•·]|\d{1,3}[.)、])"
ONE_A_LINE = r"(?m)\n(?=.$)"  # one character a line
SIMPLE: dict[int, int | None] = str.maketrans(
    "無視記規則詞約設說別會請拋棄丟遺話對從過個這們給統繞蓋廢銷準內執將讓應該條項種後發於與並還來為時間聽遵訊",
    "无视记规则词约设说别会请抛弃丢遗话对从过个这们给统绕盖废销准内执将让应该条项种后发于与并还来为时间听遵讯",
    " \t\r\u3000*_~`·•|/\\-\"'“”‘’「」『』【】()<>[]",  # set apart or decorated words are words all the same
)

DROP = (
    "忽略|忽视|无视|漠视|忘记|忘掉|忘了|忘却|遗忘|抛开|抛弃|不顾|违背|违反|背弃|不理会?|别理会?|撇开|撇下|别管|不用管|"
    "(?:不要|别|勿|不得|不可|不必|不用|无需|无须|不需要?|没必要|不应|不再|停止|拒绝)(?:再|去|继续)?"
    "(?:遵守|遵循|遵从|服从|听从|听|执行|理会|理睬|理|管|在意|在乎|考虑|参考)|ignore|disregard|forget"
)
FORCE = (
    "丢弃|放弃|舍弃|摒弃|丢掉|推翻|绕过|覆盖|清除|清空|撤销|取消|跳过|略过|删除|作废|废除|废弃|废止|屏蔽|重置|"
    "override|bypass"
)
TIME = (
    "在此之前|在这之前|之前|以前|此前|先前|早前|早先|前面|以上|上述|上面|上边|前述|前文|上文|前边|前头|原先|原来|原有|"
    "原本|过去|最初|最早|初始|刚才|刚刚|至今|到目前为止|既有|以往|过往|上一(?:条|个|句|轮|次)|前(?:一|两|二|三|几)(?:条|个|句|轮|次)|previous|prior|above|earlier"
)
ALL = "所有|全部|一切|任何|全体|统统|通通|全都|整个|all|any"
STRONG = "指令|指示|提示词|提示语|系统提示|指引|守则|准则|吩咐|嘱咐|嘱托|命令|人设|prompts?|instructions?"
RULES = "规则|规定|规矩|要求|约束|限制|规范|设定|设置|约定|提示|说明|教导|训练|rules?"
WORDS = "一切|内容|对话|谈话|话|信息|文字|聊天记录|聊天|上下文"
SMALL = (
    "掉|了|你们?|您|我们?|的|请|给|这些|那些|这|那|在|对|关于|一下|系统|用户|开发者|被|收到|得到|接到|对话|会话|中|里|"
    "本次|此次|从现在起|所|有关|直接|全|:|…|\\.{2,}|\n"
)
BETWEEN = "[^，。；：！？、,.;:!?\n并后再按用见是把就而但请]"
END = r"(?=[，。；：！？、,.;:!?\n]|$|并|然后|而|再|开始|and|from)"

ORDER = (
    rf"(?:{DROP})(?:{SMALL}|{ALL}){{0,8}}(?:(?:{STRONG}|{RULES})[和与及或、])?(?:"
    rf"(?:{TIME})(?:{BETWEEN}{{0,8}}?(?:{STRONG}|规则|规定|规矩|要求|约束|限制|rules?)|(?:的|{ALL}|\n){{0,4}}(?:{STRONG}|{RULES})"
    rf"|(?:的|{ALL}|我们|你|您|说过|说|聊|讲|\n){{0,6}}(?:{WORDS}){END})"
    rf"|(?<=你|您|的|到)(?:的|{ALL}|\n){{0,3}}(?:安全|初始|原始|系统|内置)?(?:{STRONG})"
    rf")"
    rf"|(?:{DROP})(?:掉|了|\n)?(?:{ALL})(?:的|\n){{0,2}}(?:系统|安全)?(?:(?:{RULES})[和与及或、])?"
    rf"(?:指令|指示|提示词|系统提示|守则|准则)(?!集|数|周期|流|缓存|格式|信息|符|音|灯|牌)"
    rf"|(?:{DROP})(?:掉|了|\n)?(?:你|您)(?:的|所?有?的?|被|收到的?|得到的?)(?:{ALL})?{BETWEEN}{{0,6}}?(?:{STRONG}|{RULES})"
    rf"|(?:{DROP}|{FORCE})(?:掉|了|你的|您的|原有的?|\n){{0,3}}(?:系统|开发者)(?:的)?(?:提示词?|提示语|指令|消息|prompt)"
    rf"|(?:{FORCE})(?:掉|了)?(?:你|您)的(?:{ALL})?(?:安全|初始|原始|内置)(?:规则|限制|守则|准则|指令|设定|约束|策略)"
    rf"|(?:{FORCE})(?:{SMALL}|{ALL}){{0,6}}(?:{TIME})(?:的|{ALL}|\n){{0,4}}(?:{STRONG})"
)
CANCELLED = (
    rf"(?:{TIME})(?:的|{ALL}|给你的?|\n){{0,4}}{BETWEEN}{{0,4}}?(?:{STRONG}|规则|要求)(?:从现在起|现在|今后|，|\n)?"
    rf"(?:{ALL}|都|一律|一概|全|请|可以|应|应该|要){{1,3}}"
    rf"(?:(?:不用|不必|不要|不再|别|不)(?:再)?(?:遵守|遵循|执行|理会|理|管|听|算数|算|有效|生效)|作废|失效|无效|忽略|无视|忘记|忘掉|忘了|取消|清空)"
)
PUT_AWAY = (
    rf"[把将](?:{SMALL}|{ALL}){{0,4}}(?:系统提示词?|(?:{TIME}|你的|您的){BETWEEN}{{0,8}}?"
    rf"(?:{STRONG}|规则|要求|一切|内容|对话))(?:{ALL}|都|全)?(?:视为|看作|看成|当成|当作|当做)?"
    rf"(?:忘|忽略|无视|丢|抛|扔|删|清空|清除|作废|无效|不存在|当不存在|置之不理|置之脑后|抛诸脑后)"
)
PRETEND = (
    rf"(?:假装|就当|只当|当作|当做|权当)(?:{SMALL}|{ALL}){{0,3}}(?:没有?|从来没有)?"
    rf"(?:{TIME}){BETWEEN}{{0,6}}?(?:{STRONG}|规则)"
)
NEGATED = _words(
    "不要 不可 不能 不得 不应 不该 不许 不允许 不可以 不宜 严禁 不会 不想 不准 别 勿 莫 禁止 避免 以免 防止 切忌 没有 "
    "没 从不 从未 并未 未 不"
)
DESCRIBED = (
    "经常",
    "常常",
    "时常",
    "常",
    "容易",
    "总是",
    "总",
    "老是",
    "老",
    "有时",
    "偶尔",
    "往往",
    "可能",
    "被",
    "倾向于",
)
WHEN = ("时", "的时候", "的话", "后")  # "when the command is forgotten, ..."
ADVERBS = "(?:随意|随便|轻易|擅自|直接|完全|盲目|故意|再|去|会|地|而|来|因为|因)$"


VERB_STEMS = _words(
    "忽略 忽视 无视 漠视 忘 抛 撇 不顾 违 背弃 理会 理睬 不理 别管 用管 要管 必管 遵 从 听 执行 在意 在乎 考虑 参考 "
    "丢 弃 推翻 绕过 覆盖 清 撤销 取消 跳过 略过 删除 废 屏蔽 重置 假装 就当 只当 当作 当做 权当 无效 失效 算数 "
    "ignore disregard forget override bypass"
)
OBJECT_STEMS = _words(
    "指令 指示 提示 指引 则 规 吩咐 嘱 命令 人设 要求 约 限制 设定 设置 说明 教导 训练 一切 内容 话 信息 文字 聊天 "
    "上下文 消息 prompt instruction rule"
)  # where no verb or no object stands there is no order


def holds_chinese_order(plain: str) -> bool:
    """Is there an order in the text? It must be in small letters and without hidden characters."""
    if "\n" in plain:
        plain = re.sub(ONE_A_LINE, "", re.sub("\n+", "\n", re.sub(LIST_MARK, "\n。", plain)))
    text = plain.translate(SIMPLE)
    if not (any(stem in text for stem in VERB_STEMS) and any(stem in text for stem in OBJECT_STEMS)):
        return False
    return any(
        not _is_harmless(text, found)
        for pattern in (ORDER, CANCELLED, PUT_AWAY, PRETEND)
        for found in re.finditer(pattern, text)
    )


def _is_harmless(text: str, found: re.Match[str]) -> bool:
    """Is the order negated, put under a "when", or a statement about somebody?"""
    before = text[max(0, found.start() - 8) : found.start()]
    if text.startswith(WHEN, found.end()) or (found[0].startswith("忘") and before.endswith("用户")):
        return True
    if before.endswith(("你会", "您会")):
        return False
    says_will = before.endswith("会")
    while (shorter := re.sub(ADVERBS, "", before)) != before:
        before = shorter
    return says_will or before.endswith(NEGATED) or before.endswith(DESCRIBED)
