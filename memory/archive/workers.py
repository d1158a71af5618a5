"""`in_thread`: runs what blocks in a thread that is kept for the next time: half the cost of a new one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, TypeVar

from memory.archive.entry import ArchiveInterrupted

__all__ = ["in_thread"]

IDLE_LIMIT = 8

T = TypeVar("T")
Job = Callable[[], None]
_idle: list[SimpleQueue[Job]] = []
# Daemons, so that work which hangs holds up no end of the program; with a queue each, so that none waits for another.


async def in_thread(work: Callable[[], T]) -> T:
    """Run `work` and wait for it, once more if the store broke off and kept nothing of it.

    A wait that is cancelled leaves the work to end by itself.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def job() -> None:
        try:
            try:
                result = work()
            except ArchiveInterrupted:
                result = work()
        except BaseException as error:
            _hand_over(loop, future, future.set_exception, error)
        else:
            _hand_over(loop, future, future.set_result, result)

    try:
        jobs = _idle.pop()
    except IndexError:
        jobs = SimpleQueue()
        threading.Thread(target=_serve, args=(jobs,), name="archive", daemon=True).start()
    jobs.put(job)
    return await future


def _serve(jobs: SimpleQueue[Job]) -> None:
    while True:
        job = jobs.get()
        job()
        del job  # and what it holds, while there is nothing to do
        if len(_idle) >= IDLE_LIMIT:
            return
        _idle.append(jobs)


def _hand_over(
    loop: asyncio.AbstractEventLoop, future: asyncio.Future[Any], settle: Callable[[Any], None], value: Any
) -> None:
    with suppress(RuntimeError):  # the loop was closed: nobody waits for this any more
        loop.call_soon_threadsafe(lambda: None if future.done() else settle(value))
