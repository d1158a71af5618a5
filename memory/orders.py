"""`holds_order`: is there an order to a later model in a text, such as to ignore what it was told before?

Each word of the text becomes one letter, its role; an order is a pattern of roles, and no pattern reaches further than
some twenty words, so the search is linear. English and Chinese share the roles and the patterns.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["holds_order"]

ENGLISH = {
    "V": "ignore disregard forget disobey neglect overlook ignoring disregarding forgetting",  # an order by themselves
    "W": "override overrule bypass discard dismiss drop skip cancel void abandon",  # programs do so every day
    "O": "follow following obey obeying heed heeding observe respect listen attention mind",  # an order when negated
    "N": "not never dont no stop cease cannot cant without avoid mustnt shouldnt refuse",
    "M": "doesnt didnt wont hasnt",  # negates, and says what somebody does
    "D": "often sometimes usually rarely easily may might can could would",  # says what somebody does
    "a": "please always also still just ever even simply kindly do pay thus longer have",
    "A": "all any every each everything anything whatever what entire",
    "Y": "your",
    "u": "you youve ai agent assistant",
    "P": "previous previously prior earlier former aforementioned past original before",
    "Q": "above foregoing preceding",
    "I": "instruction instructions directive directives guideline guidelines",
    "S": "prompt prompts",
    "R": "rules commands directions restrictions policies guidance",
    "L": "message messages context conversation conversations content text history chat",
    "Z": "system developer",
    "T": "given told taught received",
    "h": "did does has had was were is are been came",
    "f": "the a these those this that them my our which it set stated listed very other current rest session",
    "p": "of from by in to for with at on about",
    "&": "and or then",
    ".": "but when while because if so",
}
CHINESE = {
    "V": "忽略 忽视 无视 漠视 忘记 忘掉 忘了 忘却 遗忘 抛开 抛弃 不顾 违背 违反 背弃 不理会 不理 别理 别管 不用管",
    "W": "丢弃 放弃 推翻 绕过 覆盖 清除 清空 撤销 取消 跳过 作废 废除",
    "O": "遵守 遵循 遵从 服从 听从 听 执行 理会 理睬 在意 在乎 考虑",
    "N": "不要 不可 不能 不得 不应 不该 不许 不允许 不准 不必 不用 不需要 不再 不想 不会 不 别再 别 勿 莫 无需 无须 "
    "停止 拒绝 禁止 严禁 避免 以免 防止 切忌",
    "M": "没有 没 从不 从未 并未 未",
    "D": "经常 时常 常 容易 总是 老是 有时 偶尔 往往 可能 被 会",
    "s": "用户 模型",
    "a": "请 再 去 要 随意 随便 轻易 擅自 直接 完全 一概 可以",
    "A": "所有 全部 一切 任何 全体 统统 全都 都",
    "Y": "你的 您的 你 您",
    "P": "在此之前 之前 以前 此前 先前 早前 前面 以上 上述 上面 前述 原先 原来 最初 刚才 以往 "
    "过往 上一条 上一个 前几条",
    "Q": "上文 前文",
    "I": "指令 指示 守则 准则 指引 命令",
    "S": "提示词 提示语",
    "R": "规则 规定 规矩 要求 约束 限制 规范 设定 约定 提示 说明",
    "L": "内容 对话 谈话 说过的话 聊天记录 上下文",
    "Z": "系统 开发者",
    "B": "把 将 对",
    "f": "的 了 掉 安全 在 这些 那些 这 那 给 一下 我们 我 收到 说过 中 里 所",
    "&": "和 与 及 或",
    ".": "并 然后 按 用 就 但 而 指令集 指令周期 指令行 指令缓存 指示灯 提示框 提示信息 规则引擎",
    "t": "的时候 的话 时",
}
ROLES = {word: role for table in (ENGLISH, CHINESE) for role, words in table.items() for word in words.split()}
VERBS = {word for word, role in ROLES.items() if role in "VWO"}
IDEOGRAPH = "[\u3400-\u9fff]"
WORD = (
    f"[a-z0-9]+(?:'[a-z0-9]+)*|(?={IDEOGRAPH})(?:"
    + "|".join(sorted((word for words in CHINESE.values() for word in words.split()), key=len, reverse=True))
    + r"|.)|[,:、=]|[。;!?.](?=$|[\s\"')\]*]|(?<=[。;!?]))|¶"
)
MARKS = {"、": ",", ",": ",", "=": ",", ":": ":", "¶": "n"}

VERB = "(?:V|(?<!h)N[ap]{0,4}O)"
START = rf"(?:(?<![^.,:na]){VERB}|{VERB}(?!n)):?"  # what ends a paragraph aims at nothing
LINK = "fAYPQuhTnZB"
NEAR = rf"(?:[{LINK}&]|(?<![xsISRL])p){{0,8}}"  # "warnings from earlier rules" are no earlier rules
FAR = rf"(?:[{LINK}]|(?<![xs])[p&]){{0,6}}"
BEFORE = rf"{NEAR}(?:[xsISRL]{NEAR}){{0,3}}"
AFTER = rf"{FAR}(?:[xszL]{FAR}){{0,4}}"
END = "(?=f?L?(?:[.,:n&]|$))"
ORDER = "|".join(
    [
        rf"{START}{BEFORE}[PQ]{AFTER}[ISR](?!t)",  # ignore all previous instructions
        rf"{START}{BEFORE}[AISRL](?:[fupYhT]{{0,5}}[PQ]{END}|[fh]{{0,2}}u[hf]{{0,3}}T)",  # ignore the rules above
        rf"{START}[fAYu]{{0,4}}(?:Q|P[fAYu]{{0,5}}[LA]){END}",  # disregard the above
        rf"{START}A[fY]{{0,3}}[xZ]?(?:R&)?I{END}",  # ignore all instructions
        rf"{START}[fAYPQpRI]{{0,5}}Z[ISRL]",  # ignore the system prompt
        rf"(?<![^.,:na])V[fAYPQZa,.:]{{0,9}}[APQZ][fAYPQZ,.]{{0,6}}[ISR](?!t){END}",  # ignore, all prior rules
        rf"(?:{START}|W)[fApZ]{{0,3}}Y[fAPQ]{{0,4}}[xszZ]{{0,2}}[ISR]",  # forget your rules
        rf"W:?{NEAR}[PQ][fAYPQ]{{0,4}}[IS](?!t)",  # override the earlier instructions
        rf"B[fAYu]{{0,4}}[PYZ][fAYPz]{{0,6}}[ISRL][fAa]{{0,3}}(?:{VERB}|W)",  # take the rules above and forget them
        rf"P[fAYPz]{{0,6}}[ISR]a{{0,2}}A[aA]{{0,2}}(?:{VERB}|W)",  # the rules above: forget them all
    ]
)
HARMLESS = "(?:[NM][ap]{0,3}|h|(?<![uY])Da{0,3}|sa{0,2})[VW]"  # never ignore, may ignore, linters ignore

TOGETHER = (
    "(?:ignore|disregard|forget)(?:all|any|the|your|my|of|these|those){0,4}"
    "(?:previous|prior|above|earlier)[a-z]{0,12}?(?:instruction|directive|guideline|prompt|rule)"
)
SET_APART = r"(?<![a-z])(?:[a-z][\W_]{1,3}){8,}[a-z]|[a-z]{20,}"

ACCENTS = [*range(0x300, 0x370), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)]
CONTROLS = [0xAD, 0x61C, 0x180E, 0xFEFF, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070)]
HIDDEN = dict.fromkeys([*ACCENTS, *CONTROLS])
TAGS = {0xE0000 + code: chr(code).lower() for code in range(0x20, 0x7F)}
ALIKE = str.maketrans("аеорсухіјѕһкмтαορικτ’", "aeopcyxijshkmtaopikt'")  # Cyrillic and Greek letters
SIMPLE = str.maketrans(
    "無視記規則約設說別請拋棄丟遺話對從過個這們給統繞蓋廢銷執將應該條項於與並還來時間聽遵內開發當違顧會總數據許準絕無須",
    "无视记规则约设说别请抛弃丢遗话对从过个这们给统绕盖废销执将应该条项于与并还来时间听遵内开发当违顾会总数据许准绝无须",
)
PLAIN: dict[int, str | int | None] = {**HIDDEN, **TAGS, **ALIKE, **SIMPLE}


def holds_order(text: str) -> bool:
    """Does the text tell a later model to ignore, disregard or forget what it was told?

    Sees through full-width and look-alike letters, accents, hidden characters, line breaks, letters set apart, mixed
    case and a few words between. Talk of ignoring, orders not to ignore, and statements about others pass.
    """
    plain = text.lower() if text.isascii() else _plain(text)
    if any(re.search(TOGETHER, re.sub(r"[\W_]", "", run)) for run in re.findall(SET_APART, plain)):
        return True
    plain = re.sub(r"\n\s*?(?:\n|[-*+#>•]\s|\d{1,3}[.)、])", "¶", plain)
    return _holds_order(plain) or ("\n" in plain and _holds_order(plain.replace("\n", "。")))


def _holds_order(plain: str) -> bool:
    plain = re.sub(r"(?<=s)\s+[\"'“‘«](?=\w)", ": ", plain)  # what somebody says is no more harmless in quotes
    joined = re.sub(rf"(?<={IDEOGRAPH})[^\w,:;.!?、。¶]+(?={IDEOGRAPH})", "", plain)
    words = re.findall(WORD, joined)
    if VERBS.isdisjoint(words):
        return False
    roles = "".join(map(_role, words))
    return re.search(ORDER, re.sub(HARMLESS, lambda found: "x" * len(found[0]), roles)) is not None


def _plain(text: str) -> str:
    short = re.sub("[\ufdf0-\ufdff]", " ", text)  # one of these becomes eighteen
    return unicodedata.normalize("NFKD", short).casefold().translate(PLAIN)


def _role(word: str) -> str:
    role = ROLES.get(word) or MARKS.get(word)
    if role:
        return role
    if "\u3400" <= word <= "\u9fff":
        return "z"
    if not word[-1].isalnum():
        return "."
    plain = word.replace("'", "")
    return ROLES.get(plain) or ("s" if len(plain) > 3 and plain[-1] == "s" and plain[-2] != "s" else "x")
