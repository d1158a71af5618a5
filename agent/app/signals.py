"""SIGTERM and SIGHUP as an exception (`raise_on_signals`) or as a cancel, so that everything is cleaned up."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from agent.app.exits import Terminated

__all__ = ["cancel_on_signals", "raise_on_signals"]


def _watched() -> list[int]:
    """Return the signals that end the program; one that the parent ignores (`nohup`) stays ignored."""
    found = [getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP")]
    return [number for number in found if number and signal.getsignal(number) not in (signal.SIG_IGN, None)]


def raise_on_signals() -> None:
    """Raise `Terminated(128 + signal)` in the main thread at the first SIGTERM or SIGHUP."""
    watched = _watched()

    def raise_it(number: int, frame: FrameType | None) -> None:
        for other in watched:
            signal.signal(other, signal.SIG_IGN)  # a second one must not break the cleaning up
        raise Terminated(128 + number)

    for number in watched:
        signal.signal(number, raise_it)


@contextmanager
def cancel_on_signals() -> Iterator[None]:
    """Cancel the running task at SIGTERM or SIGHUP, once: its tools are killed and its history is made valid.

    Raises `Terminated` in the place of the `CancelledError` that comes of it.
    """
    import asyncio  # loaded already where a task runs; 30 ms elsewhere

    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    caught: list[int] = []

    def cancel(number: int) -> None:
        if not caught and task is not None:
            caught.append(number)
            task.cancel()

    before = {number: signal.getsignal(number) for number in _watched()}
    for number in before:
        loop.add_signal_handler(number, cancel, number)
    try:
        yield
    except asyncio.CancelledError:
        if caught:
            raise Terminated(128 + caught[0]) from None
        raise
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)
