"""`redact`, `hide_key`: a text without the keys that this process knows or that look like one."""

from __future__ import annotations

import json
import os
import re
from functools import lru_cache

from memory import SHORTEST_KEY, hide_credentials, known_keys

__all__ = ["MARK", "hide_key", "redact"]

MARK = "[key removed]"


def redact(text: str) -> str:
    """Put a mark in place of every key: the values of variables named like keys, and the known shapes of keys."""
    known = _known(frozenset(known_keys(os.environ)))
    if known is not None:
        text = known.sub(MARK, text)
    return hide_credentials(text, MARK)


def hide_key(text: str, key: str) -> str:
    """`redact`, and put a mark in place of `key`, of a longer piece of its beginning, and of masked keys too."""
    if len(key) >= SHORTEST_KEY:
        piece = key[: max(SHORTEST_KEY, -(-2 * len(key) // 3))]
        text = re.sub(re.escape(piece) + r"[\w*.…+/=-]*", MARK, text)
    elif key:
        text = re.sub(rf"(?<!\w){re.escape(key)}(?!\w)", MARK, text)
    return redact(re.sub(r"[\w-]+\*{3,}[\w-]*|\*{3,}[\w-]+", MARK, text))


@lru_cache(maxsize=8)
def _known(values: frozenset[str]) -> re.Pattern[str] | None:
    """A pattern for the values as they are and as JSON writes them."""
    forms = {form for value in values for form in (value, json.dumps(value)[1:-1])}
    return re.compile("|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))) if forms else None
