"""`Interrupts`: what the signals mean to a chat: Ctrl-C stops a turn, SIGTERM and SIGHUP end the program."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable, Coroutine
from typing import Any, Self, TypeVar

__all__ = ["Interrupts", "Stopped"]

T = TypeVar("T")

PATIENCE_S = 3.0  # so long may a turn clean up before another Ctrl-C cuts that short


class Stopped(Exception):
    """The person stopped the work with Ctrl-C; it has cleaned up."""


class Interrupts:
    """Handles signals inside `with`, on the running loop. `idle`: SIGINT came while nothing ran."""

    def __init__(self, *, idle: Callable[[], object]) -> None:
        self._idle = idle
        self.code: int | None = None
        # The exit code, once something asked the program to end
        self._work: asyncio.Task[Any] | None = None
        self._stopped_at = 0.0
        self._main: asyncio.Task[Any] | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self._main = asyncio.current_task()
        loop = asyncio.get_running_loop()
        self._before[signal.SIGINT] = signal.getsignal(signal.SIGINT)
        loop.add_signal_handler(signal.SIGINT, self.stop)
        for number in (signal.SIGTERM, signal.SIGHUP):
            if (before := signal.getsignal(number)) is not signal.SIG_IGN:  # nohup
                self._before[number] = before
                loop.add_signal_handler(number, self.end, 128 + number)
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            asyncio.get_running_loop().remove_signal_handler(number)
            signal.signal(number, before)

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do `work`, which Ctrl-C may stop; then `Stopped` is raised, when it has cleaned up."""
        task: asyncio.Task[T] = asyncio.ensure_future(work)
        self._work = task
        self._stopped_at = 0.0
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.wait({task}, timeout=PATIENCE_S)
            raise
        finally:
            self._work = None
        if task.cancelled():
            raise Stopped
        return task.result()

    def stop(self) -> None:
        """Do what Ctrl-C does. While the work cleans up, a further one is ignored until that takes too long."""
        if self._work is None:
            self._idle()
        elif not self._stopped_at or time.monotonic() - self._stopped_at > PATIENCE_S:
            self._stopped_at = time.monotonic()
            self._work.cancel()

    def end(self, code: int) -> None:
        """End the program with this exit code; whatever runs is cancelled and cleans up. The first call counts."""
        if self.code is None:
            self.code = code
            if self._main is not None:
                self._main.cancel()

    def settle(self) -> None:
        """The chat is closing: a signal that comes from here on cancels nothing any more."""
        self._main = None
