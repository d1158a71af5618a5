"""`ChatPerson`, `RunPerson`: who is asked for an approval: in a chat, and beside a run."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from agent.app.output import Output, is_terminal
from agent.app.reader import Interrupted, LineReader, Reader
from agent.app.screen import Screen
from agent.app.style import BOLD

STOPPING_S = 1.0

__all__ = ["ChatPerson", "RunPerson", "is_watched"]


class ChatPerson:
    """Types into the chat's own reader. Ctrl-C is a no and calls `stop`, which ends the turn."""

    def __init__(self, screen: Screen, reader: Reader, stop: Callable[[], None]) -> None:
        self._screen, self._reader, self._stop = screen, reader, stop

    def show(self, head: str, text: str) -> None:
        self._screen.say(f"\n{head}", BOLD)
        self._screen.say(text)

    async def ask(self, question: str) -> str:
        with self._screen.held():
            try:
                return await self._reader.ask(question)
            except Interrupted:
                self._stop()
                await asyncio.sleep(STOPPING_S)  # where the end of the turn arrives, before the next call begins
                return "n"


class RunPerson:
    """Sits at the terminal. `hold` keeps away from the question what else would be shown."""

    def __init__(self, output: Output, hold: Callable[[], AbstractContextManager[None]]) -> None:
        self._output, self._hold = output, hold

    def show(self, head: str, text: str) -> None:
        with self._hold():
            self._output.problem(head)
            self._output.show_question(text)

    async def ask(self, question: str) -> str:
        with self._hold(), _keyboard() as fd:
            show = self._output.show_question
            return await LineReader(fd, interactive=True, show=lambda text: show(text, end="")).ask(question)


def is_watched(output: Output) -> bool:
    """Say whether a person sees a question and can answer it."""
    if not is_terminal(output.stderr):
        return False
    try:
        with _keyboard() as fd:  # in the background, a program that reads the terminal is stopped
            return os.tcgetpgrp(fd) == os.getpgrp()
    except OSError:
        return False


@contextmanager
def _keyboard() -> Iterator[int]:
    """Give what a person types into: stdin, or where that is a pipe, the terminal behind it. Raises `OSError`."""
    if is_terminal(sys.stdin):
        yield sys.stdin.fileno()
        return
    fd = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    try:
        yield fd
    finally:
        os.close(fd)
