"""`bound` and `Output`: long text cut down to its beginning and its end, with the whole of it kept in a file."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import BinaryIO

__all__ = ["LIMIT_CHARS", "Output", "bound"]

LIMIT_CHARS = 20_000  # about 5,000 tokens of English
HEAD_PART = 0.4  # the end of an output tells more: results and errors stand there
MOST_SPILLED = 100 << 20
REMOVED = b"[key removed]"


def bound(text: str, limit: int = LIMIT_CHARS, spill: Path | None = None) -> str:
    """Return `text` if it fits, else its head and tail and how much is missing; never longer than `limit`.

    spill: the file that then gets the whole text, for its owner only.
    """
    if len(text) <= limit:
        return text
    output = Output(spill, limit)
    output.feed(text.encode("utf-8", "replace"))
    return output.text()


class Output:
    """What a command printed: bytes come in by `feed`, and memory stays bounded whatever comes."""

    def __init__(self, spill: Path | None = None, limit: int = LIMIT_CHARS, *, hidden: Collection[str] = ()) -> None:
        """spill: the file for the whole output, made once it is too long to show; hidden: texts it never holds."""
        self._hidden = sorted((os.fsencode(value) for value in hidden if value), key=len, reverse=True)
        self._waiting = b""
        self._path = spill
        self._limit = limit
        self._file: BinaryIO | None = None
        self._room = MOST_SPILLED
        self._saved = ""
        self._kept = bytearray()
        self._total = 0

    def feed(self, chunk: bytes) -> None:
        self._total += len(chunk)
        self._kept += chunk
        part = 4 * self._limit  # no encoding needs more for so many characters
        if self._file is not None:
            self._save(chunk)
        elif len(self._kept) > 4 * part:
            self._save(self._kept)
        if len(self._kept) > 4 * part:
            del self._kept[part:-part]

    def text(self) -> str:
        """Return what was printed, cut down if it is long. Closes the file: nothing may be fed after it."""
        text, whole = self._kept.decode("utf-8", "replace"), self._total == len(self._kept)
        if whole and len(text) <= self._limit:
            return text
        if self._file is None:
            self._save(self._kept)
        self._save(b"", last=True)
        if self._file is not None:
            self._file.close()
        total, unit = (len(text), "characters") if whole else (self._total, "bytes")
        return excerpt(text, total, self._limit, unit, self._saved)

    def _save(self, chunk: bytes | bytearray, *, last: bool = False) -> None:
        """Add to the file, for its owner only; what hinders it is told, never raised."""
        if self._path is None:
            return
        chunk = self._without_hidden(bytes(chunk), last=last)
        try:
            if self._file is None:
                self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
                self._file = os.fdopen(os.open(self._path, flags, 0o600), "wb")
                self._saved = f"; whole output saved in {self._path}"
            self._file.write(chunk[: self._room])
            self._file.flush()
            if len(chunk) > self._room:
                self._saved = f"; first {MOST_SPILLED >> 20} MB saved in {self._path}"
        except OSError as error:
            self._path, self._saved = None, f"; the whole could not be saved: {error.strerror}"
        self._room = max(0, self._room - len(chunk))

    def _without_hidden(self, chunk: bytes, *, last: bool) -> bytes:
        """What may be written now: an end that a hidden text may begin in waits for the next piece."""
        if not self._hidden:
            return chunk
        text = self._waiting + chunk
        for value in self._hidden:
            text = text.replace(value, REMOVED)
        kept = 0 if last else min(len(text), len(self._hidden[0]) - 1)
        self._waiting = text[len(text) - kept :]
        return text[: len(text) - kept]


def excerpt(text: str, total: int, limit: int, unit: str, saved: str) -> str:
    """Return the ends of `text` within `limit`, with a line between that tells what of the `total` is missing."""
    room = max(0, limit - len(f"\n[... truncated: {total} {unit} omitted{saved} ...]\n"))
    first = text[: int(room * HEAD_PART)]
    last = text[max(0, len(text) - (room - len(first))) :]
    shown = len(first + last) if unit == "characters" else len((first + last).encode("utf-8", "replace"))
    return f"{first}\n[... truncated: {max(0, total - shown)} {unit} omitted{saved} ...]\n{last}"
