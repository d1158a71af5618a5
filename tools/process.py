"""`run_process`: a command in a session of its own, stopped with everything it started."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from io import FileIO
from pathlib import Path

from tools.thread import in_thread

__all__ = ["Ending", "run_process"]

GRACE_S = 0.3  # between TERM and KILL
POLL_S = 0.01
READ_BYTES = 1 << 18
LAST_READS = 64  # empty any pipe, and end where somebody still writes

Ending = tuple[int | None, bool]
# The exit status (-n: death by signal n, None: stopped at the time limit), and whether processes were left and stopped.


async def run_process(
    argv: Sequence[str | bytes],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    timeout_s: float,
    feed: Callable[[bytes], None],
) -> Ending:
    """Run a command without input and hand what it prints (stdout and stderr, in order) to `feed`.

    Waits for the command itself, not for those that hold its output open. Whatever ends the waiting, its process group
    gets TERM and then KILL; at the time limit and at a cancel so do its descendants outside the group. Raises OSError.
    """
    readable, writable = os.pipe()
    with os.fdopen(readable, "rb", buffering=0) as pipe:
        os.set_blocking(readable, False)
        with os.fdopen(writable, "wb") as end:
            process = subprocess.Popen(  # noqa: ASYNC220  # asyncio's own waits for whoever holds the output
                argv, stdin=subprocess.DEVNULL, stdout=end, stderr=end, cwd=cwd, env=environment, start_new_session=True
            )
        return await _attend(process, pipe, timeout_s, feed)


async def _attend(
    process: subprocess.Popen[bytes], pipe: FileIO, timeout_s: float, feed: Callable[[bytes], None]
) -> Ending:
    loop = asyncio.get_running_loop()

    def read() -> bool:
        chunk = pipe.read(READ_BYTES)
        if chunk:
            feed(chunk)
        elif chunk is not None:  # the end; None: nothing there yet
            loop.remove_reader(pipe)
        return bool(chunk)

    loop.add_reader(pipe, read)
    ended = asyncio.ensure_future(in_thread(process.wait))
    try:
        await asyncio.wait([ended], timeout=timeout_s)
        in_time = ended.done()
    finally:
        try:
            left_behind = await _stop(process.pid, ended)
        finally:
            loop.remove_reader(pipe)
    for _ in range(LAST_READS):
        if not read():
            break
    return process.returncode if in_time else None, left_behind and in_time


async def _stop(group: int, ended: asyncio.Future[int]) -> bool:
    """Stop what is left of a process group; return whether there was anything."""
    if ended.done() and not _lives(group):
        return False
    strays = [] if ended.done() else _strays(group)
    try:
        _signal(group, strays, signal.SIGTERM)
        patience = int(GRACE_S / POLL_S)
        while patience and (not ended.done() or _lives(group)):
            await asyncio.sleep(POLL_S)
            patience -= 1
    finally:  # a second cancel only shortens the grace
        _signal(group, strays, signal.SIGKILL)
    await asyncio.wait([ended])
    return True


def _signal(group: int, strays: Sequence[int], number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)  # the shell with its children, or it would go on with its next command
    for pid in strays:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _lives(group: int) -> bool:
    """Is there a process in the group that has not ended?"""
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    processes = _processes()
    # Some may have ended and wait for a parent that never asks. Without /proc they cannot be told from the living.
    return not processes or any(of == group for _, _, of in processes)


def _strays(group: int) -> list[int]:
    """Return the descendants of a group's leader that left the group. Empty where there is no /proc."""
    processes, family = _processes(), {group}
    while more := {pid for pid, parent, _ in processes if parent in family} - family:
        family |= more
    return [pid for pid, _, of in processes if pid in family and of != group]


def _processes() -> list[tuple[int, int, int]]:
    """Return number, parent and group of every process that has not ended."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it ended just now
            # The second field, a name, may hold anything.
            state, parent, group = path.read_text(errors="replace").rpartition(")")[2].split()[:3]
            if state not in "ZX":
                found.append((int(path.parent.name), int(parent), int(group)))
    return found
