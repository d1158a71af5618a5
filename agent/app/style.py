"""`paint`: the few ways a piece of text can look. A style is the parameter list of an SGR sequence, `""` for none."""

from __future__ import annotations

__all__ = ["BOLD", "CODE", "DIM", "ERROR", "NOTE", "PLAIN", "paint"]

PLAIN = ""
BOLD = "1"
DIM = "2"
ERROR = "31"
NOTE = "33"
CODE = "36"


def paint(text: str, style: str) -> str:
    """Return `text` in `style`, and the terminal as it was after it."""
    return f"\x1b[{style}m{text}\x1b[0m" if style and text else text
