"""What is piped into a command, by a rule that neither hangs nor loses anything.

`read_task` for a run, `read_text` for a store, `read_stdin` below both.

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

from agent.app.exits import TimedOut, UsageProblem
from agent.app.options import Options
from agent.app.output import Output, is_terminal

__all__ = ["Piped", "read_stdin", "read_task", "read_text"]

FIRST_BYTE_S = 3.0
BLOCK_BYTES = 1 << 16


class Piped(NamedTuple):
    text: str = ""
    silent: bool = False
    # A pipe that gave nothing in time
    replaced: bool = False
    # It was not UTF-8; what could not be read was replaced


def read_task(task: str | None, options: Options, output: Output, deadline: float | None) -> str:
    """Return the user's message. Without a task, or with `-`, it is what is piped in; else that is context below it.

    Raises `UsageProblem` where nothing is asked, and `TimedOut`.
    """
    replaced = False
    if task is not None:
        # halves of characters stand for bytes that are not UTF-8
        whole = task.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        task, replaced = whole, whole != task
    wanted = task is None or task == "-"
    if wanted and is_terminal(sys.stdin):
        output.notice("Type the task; Ctrl-D on an empty line ends it")
    piped = Piped() if options.no_stdin else read_stdin(needed=wanted, deadline=deadline)
    if replaced or piped.replaced:
        where = "the task" if replaced else "standard input"
        output.notice(f"{where} is not UTF-8; what could not be read was replaced by \ufffd")
    if piped.silent:
        output.notice(f"nothing came on stdin for {FIRST_BYTE_S:g} s; going on without it (--no-stdin does not wait)")
    if wanted:
        task = piped.text
    elif piped.text.strip():
        task = f"{task}\n\n<stdin>\n{piped.text.rstrip()}\n</stdin>"
    if not task or not task.strip():
        raise UsageProblem("There is nothing to do: the task is empty. Give it as an argument, or pipe it in")
    return task


def read_text() -> str:
    """Return what is piped in for a store, where nothing may be replaced."""
    piped = read_stdin(needed=True)
    if piped.replaced:
        raise UsageProblem("Standard input is not UTF-8; nothing was stored")
    return piped.text


def read_stdin(*, needed: bool, deadline: float | None = None) -> Piped:
    """Read standard input. `needed`: it is the task itself (`-`), so it is waited for.

    A terminal is read only where `needed`. Raises `TimedOut` at the deadline (of `time.monotonic`).
    """
    try:
        descriptor = sys.stdin.fileno()
    except (AttributeError, OSError, ValueError):
        return Piped()  # closed, or not a file
    if not needed:
        mode = os.fstat(descriptor).st_mode
        if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stat.S_ISREG(mode)):
            return Piped()  # a terminal, or /dev/null
        if not _ready(descriptor, FIRST_BYTE_S, deadline):
            return Piped(silent=True)
    blocks: list[bytes] = []
    while _ready(descriptor, None, deadline) and (block := os.read(descriptor, BLOCK_BYTES)):
        blocks.append(block)
    raw = b"".join(blocks).removeprefix(b"\xef\xbb\xbf")
    try:
        return Piped(raw.decode("utf-8"))
    except UnicodeDecodeError:
        return Piped(raw.decode("utf-8", "replace"), replaced=True)


def _ready(descriptor: int, seconds: float | None, deadline: float | None) -> bool:
    """Say whether something (or the end) can be read within so many seconds; None: however long it takes."""
    left = None if deadline is None else max(0.0, deadline - time.monotonic())
    if left is None or (seconds is not None and seconds < left):
        return seconds is None or bool(select.select([descriptor], [], [], seconds)[0])
    if not select.select([descriptor], [], [], left)[0]:
        raise TimedOut("the time limit (--timeout) passed while standard input was awaited")
    return True
