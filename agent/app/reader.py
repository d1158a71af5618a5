"""`Reader`: where the lines of a chat come from. `LineReader` is the plain one, `PromptReader` has an editor."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from typing import Protocol

from agent.app.exits import UsageProblem
from agent.app.terminal import Keyboard

__all__ = ["TWICE_S", "WARNING", "Interrupted", "LineReader", "Reader"]

TWICE_S = 2.0
WARNING = "(Ctrl-C again to leave)"
CHUNK_BYTES = 65_536


class Interrupted(Exception):
    """Ctrl-C, in place of an answer to a question, or right behind a message."""


class Reader(Protocol):
    """Reads for one chat. One `read` or `ask` at a time; both raise `Interrupted`, and `EOFError` at the end."""

    @property
    def interactive(self) -> bool: ...

    # Whether a person is there who can be asked

    async def read(self, *, shown: Callable[[], None] | None = None) -> str: ...

    # One message. `shown` is called once the prompt can be seen; what it raises is raised

    async def ask(self, question: str) -> str: ...

    def interrupt(self) -> bool: ...

    # SIGINT came. Returns whether something was being read, which has dealt with it

    def print_above(self, show: Callable[[], None]) -> None: ...

    # Calls `show`, which prints, without spoiling a prompt that can be seen

    def close(self) -> None: ...

    # Gives the terminal back as it was


class LineReader:
    """Reads lines from a pipe, a file, or a terminal that can do no more. Writes no escape codes.

    `show` prints prompts and warnings; it is None where nobody would see them. Bytes that are not UTF-8 become
    `\\ufffd`.
    """

    def __init__(self, fd: int, *, interactive: bool, show: Callable[[str], None] | None) -> None:
        self.interactive = interactive
        self._fd = fd
        self._show = show or (lambda text: None)
        self._buffer = bytearray()
        self._ended = False
        self._waiting: asyncio.Future[None] | None = None
        self._prompt = ""
        self._last_interrupt = -TWICE_S

    async def read(self, *, shown: Callable[[], None] | None = None) -> str:
        self._prompt = "> "
        self._show(self._prompt)
        if shown is not None:
            shown()
        try:
            return await self._line()
        except EOFError:
            self._show("\n")
            raise

    async def ask(self, question: str) -> str:
        # What was typed before the question is no answer to it
        early, self._buffer = self._buffer, bytearray()
        Keyboard(self._fd).forget()
        self._prompt = question
        self._show(question)
        try:
            return await self._line()
        finally:
            self._buffer = early + self._buffer

    def interrupt(self) -> bool:
        waiting = self._waiting
        if waiting is None or waiting.done():
            return False
        now = time.monotonic()
        if now - self._last_interrupt < TWICE_S:
            waiting.set_exception(EOFError())
        else:
            self._show(f"\n{WARNING}\n{self._prompt}")
        self._last_interrupt = now
        return True

    def print_above(self, show: Callable[[], None]) -> None:
        self._show("\n")
        show()
        self._show(self._prompt)

    def close(self) -> None:
        """Nothing was taken."""

    async def _line(self) -> str:
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0 and not self._ended:
            searched = len(self._buffer)
            data = await self._data()
            self._ended = not data
            self._buffer += data
        if end < 0 and not self._buffer:
            self._ended = not self.interactive  # in a terminal Ctrl-D ends this line, not all that may follow
            raise EOFError
        line = bytes(self._buffer[: end if end >= 0 else None])
        del self._buffer[: end + 1 if end >= 0 else None]
        return line.decode("utf-8", "replace").removesuffix("\r")

    async def _data(self) -> bytes:
        """Return what there is; empty at the end. Waits without a thread, so that a cancel or a signal gets through."""
        loop = asyncio.get_running_loop()
        waiting: asyncio.Future[None] = loop.create_future()
        try:
            loop.add_reader(self._fd, lambda: None if waiting.done() else waiting.set_result(None))
        except OSError:
            return self._take()  # a file or /dev/null cannot be waited for, and need not
        self._waiting = waiting
        try:
            await waiting
        finally:
            self._waiting = None
            loop.remove_reader(self._fd)
        return self._take()

    def _take(self) -> bytes:
        try:
            return os.read(self._fd, CHUNK_BYTES)
        except OSError as error:
            raise UsageProblem(f"Standard input (stdin) cannot be read: {error.strerror}") from error
