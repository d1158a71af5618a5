"""`Output`: what a command printed, its beginning and end in memory, the whole in a file where it is long."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import BinaryIO

from tools.bound import LIMIT_CHARS, excerpt, open_spill

__all__ = ["Output"]

PART_BYTES = 4 * LIMIT_CHARS  # no encoding needs more for so many characters
MOST_SPILLED = 100 << 20


class Output:
    """Bytes come in by `feed`; memory stays within a few times `PART_BYTES` whatever comes."""

    def __init__(self, spill: Path | None = None) -> None:
        """spill: the file for the whole output, made once it is too long to be shown whole."""
        self._path = spill
        self._file: BinaryIO | None = None
        self._saved = ""
        self._spilled = 0
        self._total = 0
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0

    def feed(self, chunk: bytes) -> None:
        self._total += len(chunk)
        if self._file is not None:
            self._spill(chunk)
        taken = min(len(chunk), PART_BYTES - len(self._head))
        self._head += chunk[:taken]
        if taken == len(chunk):
            return
        self._tail.append(chunk[taken:])
        self._tail_size += len(chunk) - taken
        while self._tail_size - len(self._tail[0]) >= PART_BYTES:
            self._open_spill()  # what leaves the memory now is in the file
            self._tail_size -= len(self._tail.popleft())

    def text(self) -> str:
        """Return what was printed, cut down if it is long. Closes the file: nothing may be fed after it."""
        head, tail = bytes(self._head), b"".join(self._tail)
        if self._total > len(head) + len(tail):
            self._close()
            first, last = head.decode("utf-8", "replace"), tail.decode("utf-8", "replace")
            return excerpt(first, last, self._total, LIMIT_CHARS, "bytes", self._saved)
        whole = (head + tail).decode("utf-8", "replace")
        if len(whole) <= LIMIT_CHARS:
            return whole
        self._open_spill()
        self._close()
        return excerpt(whole, whole, len(whole), LIMIT_CHARS, "characters", self._saved)

    def _open_spill(self) -> None:
        if self._path is None or self._file is not None or self._saved:
            return
        try:
            self._file = open_spill(self._path)
        except OSError as error:
            self._saved = f"; the whole could not be saved: {error.strerror}"
            return
        self._saved = f"; whole output saved in {self._path}"
        self._spill(b"".join([self._head, *self._tail]))

    def _spill(self, chunk: bytes) -> None:
        if self._file is None:
            return
        room = MOST_SPILLED - self._spilled
        try:
            self._file.write(chunk[:room])
        except OSError as error:
            self._saved = f"; saving stopped in {self._path}: {error.strerror}"
            self._file = None
            return
        self._spilled += min(len(chunk), room)
        if len(chunk) > room:
            self._saved = f"; first {MOST_SPILLED >> 20} MB saved in {self._path}"

    def _close(self) -> None:
        if self._file is None:
            return
        try:
            self._file.close()
        except OSError as error:
            self._saved = f"; saving stopped in {self._path}: {error.strerror}"
