"""`glob_pattern`: which paths a search looks into, as in `*.py`, `src/**/*.ts` and `*.{md,txt}`."""

from __future__ import annotations

import re

__all__ = ["glob_pattern"]

TOKEN = re.compile(r"\*\*/|\*\*|\*|\?|\[[^]]+\]|\{[^{}]*\}|.", re.DOTALL)
MEANINGS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def glob_pattern(glob: str) -> re.Pattern[str]:
    """Return what a whole path must match.

    Without a slash a glob is for names at any depth, with one for the path from where the search began.
    """
    path = glob.removeprefix("./")
    return re.compile(_translated(path if "/" in path else f"**/{path}"))


def _translated(glob: str) -> str:
    return "".join(_meaning(token) for token in TOKEN.findall(glob))


def _meaning(token: str) -> str:
    if token[0] == "{" and len(token) > 1:
        return f"(?:{'|'.join(_translated(choice) for choice in token[1:-1].split(','))})"
    if token[0] == "[" and len(token) > 1:
        return f"[^{token[2:]}" if token[1] == "!" else token
    return MEANINGS.get(token) or re.escape(token)
