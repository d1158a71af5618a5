"""`redact`, `hide_key`: a text without the keys that this process knows or that look like one."""

from __future__ import annotations

import json
import os
import re
from functools import lru_cache

__all__ = ["KEY_NAME", "MARK", "hide_key", "redact"]

KEY_NAME = re.compile(r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(?:$|_)", re.IGNORECASE)
MARK = "[key removed]"
SHORTEST = 8  # a shorter value would hit ordinary words

_SHAPES = re.compile(
    r"\b(?:sk-(?:proj-|ant-)?[A-Za-z0-9_-]{20,}|gh[pousr]_[A-Za-z0-9]{30,}|AKIA[A-Z0-9]{16}"
    r"|xox[baprs]-[A-Za-z0-9-]{20,}|AIza[A-Za-z0-9_-]{30,})"
)


def redact(text: str) -> str:
    """Put a mark in place of every key: the values of variables named like keys, and the known shapes of keys."""
    values = {value for name, value in os.environ.items() if len(value) >= SHORTEST and KEY_NAME.search(name)}
    known = _known(frozenset(values))
    if known is not None:
        text = known.sub(MARK, text)
    return _SHAPES.sub(MARK, text) if any(hint in text for hint in ("sk-", "gh", "AKIA", "xox", "AIza")) else text


def hide_key(text: str, key: str) -> str:
    """`redact`, and put a mark in place of `key`, of a longer piece of its beginning, and of masked keys too."""
    if len(key) >= SHORTEST:
        piece = key[: max(SHORTEST, -(-2 * len(key) // 3))]
        text = re.sub(re.escape(piece) + r"[\w*.…+/=-]*", MARK, text)
    elif key:
        text = re.sub(rf"(?<!\w){re.escape(key)}(?!\w)", MARK, text)
    return redact(re.sub(r"[\w-]+\*{3,}[\w-]*|\*{3,}[\w-]+", MARK, text))


@lru_cache(maxsize=8)
def _known(values: frozenset[str]) -> re.Pattern[str] | None:
    """A pattern for the values as they are and as JSON writes them."""
    forms = {form for value in values for form in (value, json.dumps(value)[1:-1])}
    return re.compile("|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))) if forms else None
