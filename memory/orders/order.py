"""`holds_order`: is there an order to a later model in a text, such as to ignore what it was told before?"""

from __future__ import annotations

import re
import unicodedata

from memory.orders.chinese import holds_chinese_order
from memory.orders.english import holds_english_order

__all__ = ["holds_order"]

INVISIBLE = [
    *(0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x180E, 0x3164, 0xFEFF, 0xFFA0),
    *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070),
    *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0),
]  # fmt: skip
ACCENTS = range(0x300, 0x370)
TAGS = {0xE0000 + code: chr(code).lower() for code in range(0x20, 0x7F)}
LOOKALIKES = str.maketrans(
    "аеорсухіјѕԁɡһӏвкмнтαεορυνικτηıɩ’‘ʼ",
    "aeopcyxijsdghlbkmhtaeopuviktnii'''",
)  # small Cyrillic, Greek and other letters
PLAIN: dict[int, str | int | None] = {**dict.fromkeys([*INVISIBLE, *ACCENTS]), **TAGS, **LOOKALIKES}

GAP = r"[\W_]{0,3}"


def holds_order(text: str) -> bool:
    """Does the text tell a later model to ignore, disregard or forget what it was told?

    English and Chinese. Sees through full-width and look-alike letters, accents, hidden characters, line breaks,
    letters set apart, mixed case and a few words between. Talk of ignoring, orders not to ignore, and statements about
    models pass. Linear in the length of the text.
    """
    plain = text.lower() if text.isascii() else _plain(text)
    return holds_english_order(plain) or _is_set_apart(plain) or (not plain.isascii() and holds_chinese_order(plain))


def _plain(text: str) -> str:
    short = re.sub("[\ufdf0-\ufdff]", " ", text)  # one of these becomes eighteen
    return unicodedata.normalize("NFKD", short).casefold().translate(PLAIN)


def _apart(*words: str) -> str:
    return "|".join(GAP.join(word) for word in words)


STEMS_APART = _apart("ign", "disr", "forg")
SET_APART = (
    rf"({_apart('ignore', 'disregard', 'forget')}){GAP}"
    rf"(?:(?:{_apart('all', 'any', 'the', 'your', 'my', 'of', 'these', 'those')}){GAP}){{0,4}}"
    rf"({_apart('previous', 'prior', 'above', 'earlier', 'preceding')}){GAP}"
    rf"(?:\w{GAP}){{0,12}}?({_apart('instruction', 'directive', 'guideline', 'prompt', 'rule')})"
)


def _is_set_apart(plain: str) -> bool:
    """Is such an order written with its letters set apart, or its words run together?"""
    if not re.search(STEMS_APART, plain):
        return False
    return any(
        not re.search(r"\s", found[0]) or any(not word.isalpha() for word in found.groups())
        for found in re.finditer(SET_APART, plain)
    )
