"""Characters that nobody sees: which of them hide text from a person, and which a script or an emoji needs."""

from __future__ import annotations

import re

__all__ = ["hidden_character"]

# Never needed in text: zero-width space, word joiner and invisible operators, the bidirectional controls that turn
# text round (marks for right-to-left text, U+200E, U+200F and U+061C, are not among them), deprecated controls,
# annotation and shorthand controls, the invisible Mongolian vowel separator.
ALWAYS = "\u200b\u2060-\u2064\u202a-\u202e\u2066-\u206f\ufff9-\ufffb\u180e\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
SELECTORS = "\ufe00-\ufe0f"
IDEOGRAPHIC_SELECTORS = "\U000e0100-\U000e01ef"
TAGS = "\U000e0000-\U000e007f"
JOINERS = "\u200c\u200d"

MARKS = "\u200e\u200f"  # of right-to-left text

SUSPECT = f"[{ALWAYS}{SELECTORS}{IDEOGRAPHIC_SELECTORS}{TAGS}{JOINERS}{MARKS}]"
FLAG = "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f"
# A black flag and a region's code, such as Scotland's
IDEOGRAPH = r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
LETTER = r"[A-Za-z\u00c0-\u024f\u3400-\u4dbf\u4e00-\u9fff]"  # scripts that need no joiner
FORBIDDEN = (
    f"[{ALWAYS}{TAGS}]"
    f"|(?<=[A-Za-z])[{SELECTORS}]"
    f"|(?<!{IDEOGRAPH})[{IDEOGRAPHIC_SELECTORS}]"
    f"|(?<={LETTER})[{JOINERS}]+(?={LETTER})"
    f"|[{JOINERS}{SELECTORS}{IDEOGRAPHIC_SELECTORS}{MARKS}]{{4}}"  # one hides a bit, a row hides a letter
)


def hidden_character(text: str) -> str | None:
    """Return the first character that hides text, as `U+200B`; None where there is none.

    Emoji joined or coloured, flags, Persian and Indic joiners, right-to-left marks and variants of ideographs pass.
    """
    if text.isascii() or not re.search(SUSPECT, text):
        return None
    found = re.search(FORBIDDEN, re.sub(FLAG, "", text))
    return f"U+{ord(found[0][0]):04X}" if found else None
