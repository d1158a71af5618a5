"""`typed_part`: what the person typed of a user message, without what memory put before it."""

from __future__ import annotations

import re

__all__ = ["typed_part"]

_RECALLED = re.compile(r"\A<RECALLED>\n.*?\n</RECALLED>\s*", re.DOTALL)


def typed_part(text: str) -> str:
    """Return the message without the block that recall put at its beginning."""
    return _RECALLED.sub("", text)
