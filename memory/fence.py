"""`defuse`: text that cannot close, or open, the block it stands in."""

from __future__ import annotations

import re

__all__ = ["defuse"]


def defuse(text: str, mark: str) -> str:
    """Return the text with the brackets of `<MARK>` and `</MARK>` in it escaped, in any case and with any blanks."""
    name = r"[\s_-]*".join(map(re.escape, mark.split("_")))
    return re.sub(rf"[<＜](?=\s*(?:[/／]\s*)?{name})", "&lt;", text, flags=re.IGNORECASE)
