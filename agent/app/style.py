"""`paint`: the few ways a piece of text can look. A style is the parameter list of an SGR sequence, `""` for none."""

from __future__ import annotations

__all__ = ["BOLD", "CODE", "DIM", "ERROR", "GOOD", "HEAD", "ITALIC", "NOTE", "PLAIN", "combine", "paint"]

PLAIN = ""
BOLD = "1"
DIM = "2"
ITALIC = "3"
HEAD = "1;4"
ERROR = "31"
GOOD = "32"
NOTE = "33"
CODE = "36"


def combine(outer: str, inner: str) -> str:
    """Return the style of what has both."""
    return f"{outer};{inner}" if outer and inner else outer or inner


def paint(text: str, style: str) -> str:
    """Return `text` in `style`, and the terminal as it was after it."""
    return f"\x1b[{style}m{text}\x1b[0m" if style and text else text
