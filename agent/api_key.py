"""`hide_key`: a text of the provider or of an exception, without the key that it may echo."""

from __future__ import annotations

import re

from agent.redact import redact

__all__ = ["hide_key"]

MARK = "[key removed]"
SHORTEST_PIECE = 8  # characters of the key that count as an echo of it


def hide_key(text: str, key: str) -> str:
    """Put a mark in place of `key`, of a longer piece of its beginning, of masked keys and of what looks like a key."""
    if len(key) >= SHORTEST_PIECE:
        text = re.sub(re.escape(key[:SHORTEST_PIECE]) + r"[\w*.…+/=-]*", MARK, text)
        text = text.replace(key, MARK)
    elif key:
        text = re.sub(rf"(?<!\w){re.escape(key)}(?!\w)", MARK, text)
    text = re.sub(r"[\w-]*\*{3,}[\w-]*", MARK, text)
    return redact(re.sub(r"(?i)\b(bearer )\S{8,}", rf"\1{MARK}", text))
