"""`Approver`: asks the person before a supervised tool runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress

from agent.app.plain import one_line, plain
from agent.app.reader import Interrupted, Reader
from agent.app.screen import Screen
from agent.app.style import BOLD, DIM, NOTE
from tools import ToolCall

__all__ = ["Approver", "call_text"]

SHOWN_CHARS = 4_000
SHOWN_LINES = 40
YES = frozenset({"y", "yes", "是", "好", "可以", "允许"})
ALWAYS = frozenset({"a", "always", "总是", "始终", "一直"})


class Approver:
    """Answers for the person: y (this call), a (always for this tool, in this session), anything else is no.

    Ctrl-C is no and calls `stop`, which ends the turn. Where nobody can be asked the answer is no, and it says so.
    """

    def __init__(self, screen: Screen, reader: Reader, *, stop: Callable[[], None], yes: bool = False) -> None:
        self._screen = screen
        self._reader = reader
        self._stop = stop
        self._yes = yes
        self._always: set[str] = set()

    @property
    def always(self) -> list[str]:
        """The tools that are not asked about any more."""
        return sorted(self._always)

    def forget(self) -> None:
        """A new session: ask about every tool again."""
        self._always.clear()

    async def __call__(self, call: ToolCall, preview: str) -> bool:
        if self._yes or call.name in self._always:
            return True
        name = one_line(call.name)
        if not self._reader.interactive:
            text = f"{name} needs an approval and nobody can be asked here: denied. --allow {name} lets it run"
            self._screen.say(text, NOTE)
            return False
        self._screen.say(f"\n{name} asks for your approval:", BOLD)
        self._screen.say(clip(call_text(call)))
        if preview.strip():
            self._screen.say(clip(plain(preview)), DIM)
        with self._screen.held():
            answer = await self._answer(f"Allow? [y]es, [n]o, [a]lways {name} in this session: ")
        if answer in ALWAYS:
            self._always.add(call.name)
        return answer in YES or answer in ALWAYS

    async def _answer(self, question: str) -> str:
        with suppress(EOFError):  # Ctrl-D: no answer is a no
            try:
                return (await self._reader.ask(question)).strip().casefold()
            except Interrupted:
                self._stop()
        return "n"


def call_text(call: ToolCall) -> str:
    """Return all arguments of a call, one a line, longer ones below their names."""
    try:
        arguments = json.loads(call.arguments or "{}")
    except ValueError:
        arguments = None
    if not isinstance(arguments, dict):
        return f"  {plain(call.arguments)}"
    lines: list[str] = []
    for name, value in arguments.items():
        text = plain(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        inner = "\n    ".join(text.split("\n"))
        lines.append(f"  {one_line(name)}: {inner}" if "\n" not in text else f"  {one_line(name)}:\n    {inner}")
    return "\n".join(lines) or "  (no arguments)"


def clip(text: str) -> str:
    """Return the beginning and the end of a long text, and how much stands between: nothing may hide below."""
    lines = text.split("\n")
    if len(lines) > SHOWN_LINES:
        half = SHOWN_LINES // 2
        lines = [*lines[:half], f"  [... {len(lines) - 2 * half} more lines ...]", *lines[-half:]]
    short = "\n".join(lines)
    if len(short) <= SHOWN_CHARS:
        return short
    half = SHOWN_CHARS // 2
    return f"{short[:half]}\n  [... {len(short) - 2 * half:,} more characters ...]\n{short[-half:]}"
