"""`bound`: a long text cut down to its beginning and its end, with the whole of it kept in a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

__all__ = ["LIMIT_CHARS", "bound", "excerpt", "open_spill"]

LIMIT_CHARS = 20_000  # about 5,000 tokens of English
HEAD_PART = 0.4  # the end of an output tells more: results and errors stand there


def bound(text: str, limit: int = LIMIT_CHARS, spill: Path | None = None) -> str:
    """Return `text` if it fits, else its head and tail and how much is missing; never longer than `limit`.

    spill: the file that then gets the whole text, for its owner only. Where it cannot be written the answer does not
    name it.
    """
    if len(text) <= limit:
        return text
    saved = ""
    if spill is not None:
        try:
            with open_spill(spill) as opened:
                opened.write(text.encode("utf-8", "replace"))
            saved = f"; whole output saved in {spill}"
        except OSError as error:
            saved = f"; the whole could not be saved: {error.strerror}"
    return excerpt(text, text, len(text), limit, "characters", saved)


def excerpt(head: str, tail: str, total: int, limit: int, unit: str, saved: str = "") -> str:
    """Return the begin of `head` and the end of `tail` within `limit`, with a line between that tells what is missing.

    total: length of the whole in `unit`: "characters", or "bytes" where nobody counted the characters.
    """
    room = max(0, limit - len(f"\n[... truncated: {total} {unit} omitted{saved} ...]\n"))
    first = head[: int(room * HEAD_PART)]
    last = tail[max(0, len(tail) - (room - len(first))) :]
    shown = len(first + last) if unit == "characters" else len((first + last).encode("utf-8", "replace"))
    return f"{first}\n[... truncated: {max(0, total - shown)} {unit} omitted{saved} ...]\n{last}"


def open_spill(path: Path) -> BinaryIO:
    """Open a file that only its owner may read, its folder too where it is new. Raises OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    os.fchmod(opened, 0o600)
    return os.fdopen(opened, "wb")
