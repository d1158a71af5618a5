"""Who answers when a tool asks: `Nobody`, `Yes`, or a person at the terminal (`Person`)."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from agent.app.output import Output, is_terminal
from agent.app.plain import plain

if TYPE_CHECKING:
    from tools import ToolCall

__all__ = ["Nobody", "Person", "Yes", "choose_approver"]


class Nobody:
    """Says no at once, and counts how often somebody was needed."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        # Names of the tools

    async def __call__(self, call: ToolCall, preview: str) -> bool:
        self.asked.append(call.name)
        return False


class Yes(Nobody):
    """--yes: whatever asks may run. Denied tools never ask."""

    async def __call__(self, call: ToolCall, preview: str) -> bool:
        return True


class Person(Nobody):
    """Asks on a terminal: y, n, or a for always; anything else is no."""

    def __init__(self, output: Output, descriptor: int) -> None:
        super().__init__()
        self.hold: Callable[[], AbstractContextManager[None]] = nullcontext
        # Keeps what else would be shown away from the question
        self._output = output
        self._descriptor = descriptor
        self._always: set[str] = set()

    async def __call__(self, call: ToolCall, preview: str) -> bool:
        if call.name in self._always:
            return True
        from agent.app.approve import ALWAYS, YES, call_text, clip  # only where somebody is asked

        output = self._output
        with self.hold():
            output.problem(f"{call.name} asks for your approval:")
            output.show_question("\n".join(clip(text) for text in (call_text(call), plain(preview)) if text.strip()))
            output.show_question("Allow? [y]es, [n]o, [a]lways: ", end="")
            answer = (await _line(self._descriptor)).strip().casefold()
        if answer in ALWAYS:
            self._always.add(call.name)
        return answer in YES or answer in ALWAYS


async def _line(descriptor: int) -> str:
    """Read a line of a terminal without holding up the loop; a cancel passes. The end of the input is an empty line."""
    import termios

    termios.tcflush(descriptor, termios.TCIFLUSH)  # what was typed before the question is no answer to it
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(descriptor, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)
    return os.read(descriptor, 4096).decode("utf-8", "replace")  # a terminal gives whole lines


def choose_approver(output: Output, *, yes: bool) -> Nobody:
    """Choose who answers in a run: a person only where he sees the question and can type."""
    if yes:
        return Yes()
    if not is_terminal(output.stderr):
        return Nobody()
    try:
        # where standard input is a pipe, a person may still sit at the terminal of this process
        typed = sys.stdin.fileno() if is_terminal(sys.stdin) else os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
        # in the background, a program that reads the terminal is stopped
        in_front = os.tcgetpgrp(typed) == os.getpgrp()
    except OSError:
        return Nobody()
    return Person(output, typed) if in_front else Nobody()
