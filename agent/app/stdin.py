"""`read_stdin`: what is piped into a command, by a rule that neither hangs nor loses anything.

With a prompt on the command line, standard input is context. A pipe that gives no first byte for 3 seconds is left
alone, with a notice; one that has given a byte is read to its end, however slow. `-` reads all there is.
"""

from __future__ import annotations

import os
import select
import stat
import sys
import time
from typing import NamedTuple

from agent.app.exits import TimedOut

__all__ = ["FIRST_BYTE_S", "Piped", "read_stdin"]

FIRST_BYTE_S = 3.0
BLOCK_BYTES = 1 << 16


class Piped(NamedTuple):
    text: str = ""
    silent: bool = False
    # A pipe that gave nothing in time
    replaced: bool = False
    # It was not UTF-8; what could not be read was replaced


def read_stdin(*, needed: bool, deadline: float | None = None) -> Piped:
    """Read standard input. `needed`: it is the task itself (`-`), so it is waited for.

    A terminal is read only where `needed`. Raises `TimedOut` at the deadline (of `time.monotonic`).
    """
    descriptor = _descriptor()
    if descriptor is None:
        return Piped()
    if not needed:
        mode = os.fstat(descriptor).st_mode
        if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISREG(mode)):
            return Piped()  # a terminal, or /dev/null
        if not _ready(descriptor, FIRST_BYTE_S, deadline):
            return Piped(silent=True)
    return _decoded(_read_all(descriptor, deadline))


def _descriptor() -> int | None:
    try:
        return sys.stdin.fileno()
    except (AttributeError, OSError, ValueError):
        return None  # closed, or not a file


def _ready(descriptor: int, seconds: float, deadline: float | None) -> bool:
    """Say whether something (or the end) can be read within so many seconds."""
    if deadline is not None:
        left = deadline - time.monotonic()
        if left <= seconds:
            if not select.select([descriptor], [], [], max(0.0, left))[0]:
                raise TimedOut("the time limit (--timeout) passed while standard input was awaited")
            return True
    return bool(select.select([descriptor], [], [], seconds)[0])


def _read_all(descriptor: int, deadline: float | None) -> bytes:
    blocks: list[bytes] = []
    while True:
        while deadline is not None and not _ready(descriptor, 1.0, deadline):
            continue
        block = os.read(descriptor, BLOCK_BYTES)
        if not block:
            return b"".join(blocks)
        blocks.append(block)


def _decoded(raw: bytes) -> Piped:
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    try:
        return Piped(raw.decode("utf-8"))
    except UnicodeDecodeError:
        return Piped(raw.decode("utf-8", "replace"), replaced=True)
