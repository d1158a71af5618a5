"""`hide_key`: a text of the provider or of an exception, without the key that it may echo."""

from __future__ import annotations

import re

from agent.redact import redact

__all__ = ["hide_key"]

MARK = "[key removed]"
SHORTEST = 8  # a shorter key could be an ordinary word, and a shorter piece of one too


def hide_key(text: str, key: str) -> str:
    """Put a mark in place of `key`, of a longer piece of its beginning, of masked keys and of what looks like a key."""
    if len(key) >= SHORTEST:
        piece = key[: max(SHORTEST, -(-2 * len(key) // 3))]
        text = re.sub(re.escape(piece) + r"[\w*.…+/=-]*", MARK, text)
        text = text.replace(key, MARK)
    elif key:
        text = re.sub(rf"(?<!\w){re.escape(key)}(?!\w)", MARK, text)
    text = re.sub(r"[\w-]+\*{3,}[\w-]*|\*{3,}[\w-]+", MARK, text)
    return redact(re.sub(r"(?i)\b(bearer )\S{8,}", rf"\1{MARK}", text))
