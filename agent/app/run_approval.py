"""`RunApprover`: who answers in a run when a tool asks: --yes, a person at the terminal, or nobody."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from agent.app.output import Output, is_terminal
from agent.app.plain import plain

if TYPE_CHECKING:
    from tools import ToolCall

__all__ = ["RunApprover"]


class RunApprover:
    """Asks a person y, n, or a for always (anything else is no), and says no at once where there is none."""

    def __init__(self, output: Output, *, yes: bool) -> None:
        self.unanswered: list[str] = []
        # Names of the tools that needed somebody
        self.hold: Callable[[], AbstractContextManager[None]] = nullcontext
        # Keeps what else would be shown away from the question
        self._output = output
        self._yes = yes
        self._always: set[str] = set()

    async def __call__(self, call: ToolCall, preview: str) -> bool:
        if self._yes or call.name in self._always:
            return True
        descriptor = _person(self._output)
        if descriptor is None:
            self.unanswered.append(call.name)
            return False
        from agent.app.approve import ALWAYS, YES, call_text, clip  # only where somebody is asked
        from agent.app.reader import LineReader

        output = self._output
        with self.hold():
            output.problem(f"{call.name} asks for your approval:")
            output.show_question("\n".join(clip(text) for text in (call_text(call), plain(preview)) if text.strip()))
            reader = LineReader(descriptor, interactive=True, show=lambda text: output.show_question(text, end=""))
            try:
                answer = (await reader.ask("Allow? [y]es, [n]o, [a]lways: ")).strip().casefold()
            except EOFError:
                return False
        if answer in ALWAYS:
            self._always.add(call.name)
        return answer in YES or answer in ALWAYS


def _person(output: Output) -> int | None:
    """Return the terminal of a person who sees the question and can type; where stdin is a pipe there may be one."""
    if not is_terminal(output.stderr):
        return None
    try:
        typed = sys.stdin.fileno() if is_terminal(sys.stdin) else os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
        # in the background, a program that reads the terminal is stopped
        return typed if os.tcgetpgrp(typed) == os.getpgrp() else None
    except OSError:
        return None
