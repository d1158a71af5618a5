"""`in_thread`: a blocking function run beside the event loop, on a thread that never keeps the program from ending."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

__all__ = ["in_thread"]

T = TypeVar("T")

SETTLE_S = 0.2
# After a cancel a thread cannot be stopped. So long is waited for it, so that a file being written is whole again.


async def in_thread(func: Callable[..., T], /, *arguments: Any, **named: Any) -> T:
    """Run `func` on a thread and return what it returns, or raise what it raises.

    The threads of `asyncio.to_thread` are joined when the interpreter ends, so one that hangs would hold the program
    for ever; these are daemons.
    """
    outcome: Future[tuple[T | None, BaseException | None]] = Future()
    outcome.set_running_or_notify_cancel()
    context = contextvars.copy_context()

    def work() -> None:
        try:
            outcome.set_result((context.run(func, *arguments, **named), None))
        except BaseException as error:  # handed over to whoever awaits, SystemExit too
            outcome.set_result((None, error))

    threading.Thread(target=work, name="tool", daemon=True).start()
    done = asyncio.wrap_future(outcome)
    try:
        returned, error = await asyncio.shield(done)
    except asyncio.CancelledError:
        await asyncio.wait([done], timeout=SETTLE_S)
        done.cancel()  # the loop may be closed when the thread ends
        raise
    if error is not None:
        raise error
    return returned  # type: ignore[return-value]  # set whenever there is no error
