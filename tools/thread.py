"""`in_thread`: a blocking function run beside the event loop, on a thread that never keeps the program from ending."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

__all__ = ["in_thread"]

T = TypeVar("T")
Job = Callable[[], Callable[[], None]]
# Does the work; what it returns tells the loop.

SETTLE_S = 0.2
# After a cancel a thread cannot be stopped. So long is waited for it, so that a file being written is whole again.
MOST_IDLE = 4

_idle: deque[SimpleQueue[Job]] = deque()  # the queues of threads that wait for a job; appends and pops are atomic


async def in_thread(func: Callable[..., T], /, *arguments: Any, **named: Any) -> T:
    """Run `func` on a thread and return what it returns, or raise what it raises.

    The threads of `asyncio.to_thread` are joined when the loop and the interpreter end, so one that hangs would hold
    the program for ever; these are daemons. One that waits is used again: a new one costs 60 us more.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[tuple[T | None, BaseException | None]] = loop.create_future()
    context = contextvars.copy_context()

    def settle(returned: T | None, error: BaseException | None) -> None:
        if not done.done():
            done.set_result((returned, error))

    def job() -> Callable[[], None]:
        returned: T | None = None
        failure: BaseException | None = None
        try:
            returned = context.run(func, *arguments, **named)
        except BaseException as error:  # handed over to whoever awaits, SystemExit too
            failure = error

        def tell() -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(settle, returned, failure)

        return tell

    _hand_over(job)
    try:
        returned, error = await asyncio.shield(done)
    except asyncio.CancelledError:
        await asyncio.wait([done], timeout=SETTLE_S)
        raise
    if error is not None:
        raise error
    return returned  # type: ignore[return-value]  # set whenever there is no error


def _hand_over(job: Job) -> None:
    try:
        _idle.pop().put(job)
    except IndexError:
        jobs: SimpleQueue[Job] = SimpleQueue()
        jobs.put(job)
        threading.Thread(target=_serve, args=(jobs,), name="tool", daemon=True).start()


def _serve(jobs: SimpleQueue[Job]) -> None:
    stays = True
    while stays:
        tell = jobs.get()()
        stays = len(_idle) < MOST_IDLE
        if stays:
            _idle.append(jobs)  # before telling, so that the next call finds this thread and starts no other
        tell()
