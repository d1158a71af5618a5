"""`run_process`: a command in a session of its own, stopped with everything it started."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tools.thread import in_thread

__all__ = ["Ending", "run_process"]

GRACE_S = 0.3  # between TERM and KILL
POLL_S = 0.01
PIPE_BYTES = 1 << 20  # the usual 64 KiB make five times as many wake-ups of a long output
READ_BYTES = 1 << 18
LAST_READS = 64  # empty any pipe, and end where somebody still writes

Stray = tuple[int, str]
# A process and when it started, by which its number is known to be still its own.


@dataclass(frozen=True, slots=True)
class Ending:
    status: int | None
    # The exit status, -n for a death by signal n, None: stopped at the time limit.
    left_behind: bool
    # It had started processes that were still running, and were stopped.


async def run_process(
    argv: Sequence[str], *, cwd: Path, environment: Mapping[str, str], timeout_s: float, feed: Callable[[bytes], None]
) -> Ending:
    """Run a command without input and hand what it prints (stdout and stderr, in order) to `feed`.

    Waits for the command itself, not for those that hold its output open. Whatever ends the waiting (its exit, the time
    limit, a cancel), its process group gets TERM and, 0.3 s later, KILL; at the time limit and at a cancel so do its
    descendants outside the group. Raises OSError when it cannot be started.
    """
    readable, writable = os.pipe()
    try:
        os.set_blocking(readable, False)
        _widen(readable)
        try:
            process = _start(argv, cwd, environment, writable)
        finally:
            os.close(writable)
        return await _attend(process, readable, timeout_s, feed)
    finally:
        os.close(readable)


def _start(argv: Sequence[str], cwd: Path, environment: Mapping[str, str], writable: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=writable,
        stderr=writable,
        cwd=cwd,
        env=environment,
        start_new_session=True,
    )


def _widen(pipe: int) -> None:
    if hasattr(fcntl, "F_SETPIPE_SZ"):  # Linux
        with suppress(OSError):  # more than this user may have: the usual size works too
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)


async def _attend(
    process: subprocess.Popen[bytes], readable: int, timeout_s: float, feed: Callable[[bytes], None]
) -> Ending:
    loop = asyncio.get_running_loop()

    def read() -> bool:
        try:
            chunk = os.read(readable, READ_BYTES)
        except BlockingIOError:
            return False
        if chunk:
            feed(chunk)
        else:
            loop.remove_reader(readable)
        return bool(chunk)

    loop.add_reader(readable, read)
    ended = asyncio.ensure_future(in_thread(process.wait))
    try:
        await asyncio.wait([ended], timeout=timeout_s)
        in_time = ended.done()
    finally:
        try:
            left_behind = await _stop(process.pid, ended)
        finally:
            loop.remove_reader(readable)
    for _ in range(LAST_READS):
        if not read():
            break
    return Ending(process.returncode if in_time else None, left_behind and in_time)


async def _stop(group: int, ended: asyncio.Future[int]) -> bool:
    """Stop what is left of a process group; return whether there was anything."""
    strays = [] if ended.done() else _strays(group)
    if ended.done() and not _lives(group):
        return False
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


def _signal(group: int, strays: Sequence[Stray], number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)  # the shell with its children, or it would go on with its next command
    for pid, started in strays:
        if _started(pid) == started:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)


def _lives(group: int) -> bool:
    """Is there a process in the group that has not ended?"""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # there is one, of another user
        return True
    processes = _processes()
    # Some may have ended and wait for a parent that never asks. Without /proc they cannot be told from the living.
    return not processes or any(int(fields[2]) == group and fields[0] not in "ZX" for _, fields in processes)


def _strays(group: int) -> list[Stray]:
    """Return the descendants of a group's leader that left the group. Empty where there is no /proc."""
    children: dict[int, list[tuple[int, list[str]]]] = {}
    for pid, fields in _processes():
        children.setdefault(int(fields[1]), []).append((pid, fields))
    found: list[Stray] = []
    parents = [group]
    while parents:
        below = children.get(parents.pop(), [])
        found += [(pid, fields[19]) for pid, fields in below if int(fields[2]) != group]
        parents += [pid for pid, _ in below]
    return found


def _processes() -> list[tuple[int, list[str]]]:
    """Return the number of every process, and its fields: state, parent, group, ... and the 20th: when it started."""
    numbers = [int(entry.name) for entry in Path("/proc").glob("[0-9]*")]
    return [(pid, fields) for pid in numbers if (fields := _stat(pid)) is not None]


def _started(pid: int) -> str:
    fields = _stat(pid)
    return "" if fields is None else fields[19]


def _stat(pid: int) -> list[str] | None:
    """Return the fields of /proc/PID/stat from the third on; the second, a name, may hold anything."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
