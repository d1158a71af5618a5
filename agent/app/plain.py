"""`plain`: foreign text that a terminal cannot obey, and the width of what is left."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["cell_width", "one_line", "plain", "shorten"]

_RISKY = re.compile(
    "\r\n|[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but newline and tab, DEL, C1 (8-bit escapes)
    "\u202a-\u202e\u2066-\u2069"  # direction overrides: text that reads other than it is
    "\u2028\u2029\ud800-\udfff]"  # line ends that only some programs see; halves of characters
)
_SIMPLE = re.compile(r"[\x20-\x7e]*")


def plain(text: str) -> str:
    """Return `text` with every control character but newline and tab made visible, and so harmless.

    ESC becomes `␛`; a line end `\\r\\n` becomes a newline; half characters become `\\ufffd`. Everything else,
    brackets and backslashes too, stays as it is.
    """
    if text.isprintable():  # nothing risky is, and each piece of an answer comes here
        return text
    return _RISKY.sub(_visible, text)


def _visible(match: re.Match[str]) -> str:
    found = match[0]
    if found == "\r\n":
        return "\n"
    code = ord(found)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return "\n" if code in (0x2028, 0x2029) else f"<U+{code:04X}>"


def one_line(text: str) -> str:
    """Return `text` on one line: `plain`, every run of blanks one blank."""
    return " ".join(plain(text).split())


def cell_width(text: str) -> int:
    """Return the columns that `text` takes on a terminal: wide characters take two, marks none."""
    if _SIMPLE.fullmatch(text):
        return len(text)
    return sum(map(_columns, text))


def _columns(char: str) -> int:
    if unicodedata.east_asian_width(char) in "WF":
        return 2
    return 0 if unicodedata.category(char) in ("Mn", "Me", "Cf") else 1


def shorten(text: str, cells: int) -> str:
    """Return `text` cut to `cells` columns, with `…` where something was cut off."""
    if cell_width(text) <= cells:
        return text
    used = 1  # the mark itself
    for place, char in enumerate(text):
        used += _columns(char)
        if used > cells:
            return text[:place].rstrip() + "…"
    return text
