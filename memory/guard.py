"""What may not become memory, and what on disk no model may see. Pure functions, linear in the length of the text."""

from __future__ import annotations

import re
from collections.abc import Collection

from memory.credentials import credential_kind
from memory.orders import holds_order

__all__ = ["blocked", "defuse", "hidden_character", "reason_to_hide", "reason_to_refuse", "shown"]

# Never needed in text: zero-width space, word joiner and invisible operators, bidirectional controls, deprecated,
# annotation and shorthand controls, the Mongolian vowel separator.
ALWAYS = "\u200b\u2060-\u2064\u202a-\u202e\u2066-\u206f\ufff9-\ufffb\u180e\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
TAGS = "\U000e0000-\U000e007f"
SELECTORS = "\ufe00-\ufe0f"
IDEOGRAPHIC_SELECTORS = "\U000e0100-\U000e01ef"
JOINERS = "\u200c\u200d"
SUSPECT = f"[{ALWAYS}{TAGS}{SELECTORS}{IDEOGRAPHIC_SELECTORS}{JOINERS}\u200e\u200f]"
FLAG = "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f"  # such as Scotland's
IDEOGRAPH = r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
LETTER = r"[A-Za-z\u00c0-\u024f\u3400-\u4dbf\u4e00-\u9fff]"  # scripts that need no joiner
FORBIDDEN = (
    f"[{ALWAYS}{TAGS}]|(?<=[A-Za-z])[{SELECTORS}]|(?<!{IDEOGRAPH})[{IDEOGRAPHIC_SELECTORS}]"
    f"|(?<={LETTER})[{JOINERS}]+(?={LETTER})"
    f"|[{JOINERS}{SELECTORS}{IDEOGRAPHIC_SELECTORS}\u200e\u200f]{{4}}"  # one hides a bit, a row hides a letter
)


def hidden_character(text: str) -> str | None:
    """Return the first character that hides text, as `U+200B`; None where there is none.

    Emoji joined or coloured, flags, Persian and Indic joiners, right-to-left marks and variants of ideographs pass.
    """
    if text.isascii() or not re.search(SUSPECT, text):
        return None
    found = re.search(FORBIDDEN, re.sub(FLAG, "", text))
    return f"U+{ord(found[0][0]):04X}" if found else None


def reason_to_refuse(text: str, known_keys: Collection[str] = ()) -> str | None:
    """Return why the text may not be stored, as a sentence with what to do; None where it may.

    `known_keys` may not, whatever they look like.
    """
    if re.search(r"(?m)^[^\S\n]*§[^\S\n]*$", text):
        return "a line with only § divides entries; give one entry at a time, without it"
    if "\x00" in text:
        return "the text holds a NUL character; send it without"
    if re.search("[\ud800-\udfff]", text):
        return "the text holds half a character (a lone surrogate) and cannot be written as UTF-8; send it again whole"
    if character := hidden_character(text):
        return f"the text holds {character}, an invisible character that can hide text; send it without"
    if holds_order(text):
        return (
            "the text reads as an order to a later model to ignore what it was told; memory holds facts: "
            "say what is true instead"
        )
    if kind := credential_kind(text, known_keys):
        return (
            f"the text holds {kind}; secrets do not belong in memory: put it in the environment (a variable or a "
            "secret store) and remember only its name"
        )
    return None


def reason_to_hide(text: str) -> str | None:
    """Return why no model may see this text from disk, in a few words; None where it may."""
    if hidden_character(text):
        return "invisible characters that can hide text"
    return "an order to a later model" if holds_order(text) else None


def shown(text: str) -> str:
    """Return the text as a model may see it: as it is, or a `[blocked: ...]` line in its place."""
    reason = reason_to_hide(text)
    return blocked(reason) if reason else text


def blocked(reason: str) -> str:
    return f"[blocked: {reason}; it is on disk, where a person can look at it and remove it]"


def defuse(text: str, mark: str) -> str:
    """Return the text with the brackets of `<MARK>` and `</MARK>` in it escaped, in any case and with any blanks."""
    name = r"[\s_-]*".join(map(re.escape, mark.split("_")))
    return re.sub(rf"[<＜](?=\s*(?:[/／]\s*)?{name})", "&lt;", text, flags=re.IGNORECASE)
