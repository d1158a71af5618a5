"""`ChatPerson`, `RunPerson`: who is asked for an approval: in a chat, and beside a run."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager

from agent.app.output import Output, is_terminal
from agent.app.reader import Interrupted, LineReader, Reader
from agent.app.screen import Screen
from agent.app.style import BOLD

STOPPING_S = 1.0

__all__ = ["ChatPerson", "RunPerson", "find_terminal"]


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
    """Sits at the terminal `fd`. `hold` keeps away from the question what else would be shown."""

    def __init__(self, output: Output, fd: int, hold: Callable[[], AbstractContextManager[None]]) -> None:
        self._output, self._fd, self._hold = output, fd, hold

    def show(self, head: str, text: str) -> None:
        with self._hold():
            self._output.problem(head)
            self._output.show_question(text)

    async def ask(self, question: str) -> str:
        with self._hold():
            show = self._output.show_question
            return await LineReader(self._fd, interactive=True, show=lambda text: show(text, end="")).ask(question)


def find_terminal(output: Output) -> int | None:
    """Return the terminal of a person who sees the question and can type; where stdin is a pipe there may be one."""
    if not is_terminal(output.stderr):
        return None
    try:
        typed = sys.stdin.fileno() if is_terminal(sys.stdin) else os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
        # in the background, a program that reads the terminal is stopped
        return typed if os.tcgetpgrp(typed) == os.getpgrp() else None
    except OSError:
        return None
