"""SIGTERM and SIGHUP as an exception (`raise_on_signals`) or as a cancel, so that everything is cleaned up."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from agent.app.exits import Terminated

__all__ = ["ENDING", "Cancelled", "cancel_on_signals", "raise_on_signals"]

ENDING = tuple(number for name in ("SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)) is not None)


@contextmanager
def raise_on_signals() -> Iterator[None]:
    """Raise `Terminated(128 + signal)` in the main thread at the first SIGTERM or SIGHUP.

    A signal that the parent ignores (`nohup`) stays ignored.
    """

    def raise_it(number: int, frame: FrameType | None) -> None:
        for other in ENDING:
            signal.signal(other, signal.SIG_IGN)  # a second one must not break the cleaning up
        raise Terminated(128 + number)

    handlers = {number: signal.getsignal(number) for number in ENDING}
    before = {number: handler for number, handler in handlers.items() if handler not in (signal.SIG_IGN, None)}
    for number in before:
        signal.signal(number, raise_it)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Cancelled:
    """Whether a signal cancelled the running task, and which."""

    def __init__(self) -> None:
        self.signal = 0

    def raise_if_signalled(self) -> None:
        if self.signal:
            raise Terminated(128 + self.signal)


@contextmanager
def cancel_on_signals() -> Iterator[Cancelled]:
    """Cancel the running task at SIGTERM or SIGHUP, once: its tools are killed and its history is made valid."""
    import asyncio  # loaded already where a task runs; 30 ms elsewhere

    loop, task, cancelled = asyncio.get_running_loop(), asyncio.current_task(), Cancelled()

    def cancel(number: int) -> None:
        if not cancelled.signal and task is not None:
            cancelled.signal = number
            task.cancel()

    watched = [number for number in ENDING if signal.getsignal(number) not in (signal.SIG_IGN, None)]
    before = {number: signal.getsignal(number) for number in watched}
    for number in watched:
        loop.add_signal_handler(number, cancel, number)
    try:
        yield cancelled
    finally:
        for number in watched:
            loop.remove_signal_handler(number)
            signal.signal(number, before[number])
