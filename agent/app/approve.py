"""`Approver`: asks the person before a supervised tool runs."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from agent.app.plain import one_line, plain

if TYPE_CHECKING:
    from tools import ToolCall, ToolRegistry

__all__ = ["Approver", "Person", "call_text"]

SHOWN_CHARS = 8_000
SHOWN_LINES = 100
YES = frozenset({"y", "yes", "ok", "okay", "是", "好", "好的", "可以", "允许", "同意"})
NO = frozenset({"", "n", "no", "否", "不", "不行", "不可以", "拒绝"})
ALWAYS = frozenset({"a", "always", "总是", "始终", "一直"})
VIEW = frozenset({"v", "view", "全部", "查看"})


class Person(Protocol):
    """Somebody who can be asked."""

    def show(self, head: str, text: str) -> None: ...

    # What is asked about; the text is harmless already, and ends without a newline

    async def ask(self, question: str) -> str: ...

    # Nothing else is shown meanwhile. Raises `EOFError` where no answer will come


class Approver:
    """Answers for the person: y (this call), a (always for this tool, in this session), n or Enter; else it asks again.

    A call that is too long to be shown whole can be viewed whole. Where nobody can be asked the answer is no.
    """

    def __init__(self, find_person: Callable[[], Person | None], *, yes: bool = False) -> None:
        """`find_person` is asked before each question; `yes`: nobody is."""
        self._unanswered: list[ToolCall] = []
        self.always: set[str] = set()
        # The tools that are not asked about any more
        self._find_person = find_person
        self._yes = yes

    async def __call__(self, call: ToolCall, preview: str) -> bool:
        if self._yes or call.name in self.always:
            return True
        person = self._find_person()
        if person is None:
            self._unanswered.append(call)
            return False
        name = one_line(call.name)
        whole = "\n".join(text for text in (call_text(call), plain(preview).strip("\n")) if text.strip())
        short = clip(whole)
        person.show(f"{name} asks for your approval:", short)
        view = "" if short == whole else "[v]iew all of it, "
        try:
            while True:
                answer = await person.ask(f"Allow? {view}[y]es, [n]o, [a]lways {name} in this session: ")
                answer = unicodedata.normalize("NFKC", answer).strip().casefold()
                if answer in ALWAYS:
                    self.always.add(call.name)
                if answer in YES | NO | ALWAYS:
                    return answer not in NO
                if answer in VIEW:
                    person.show(f"{name}, all of it:", whole)
        except EOFError:  # Ctrl-D: no answer is a no
            return False

    def take_unanswered(self, registry: ToolRegistry) -> str:
        """Return a sentence about the calls that nobody could be asked about, and forget them; "" for none."""
        calls, self._unanswered = self._unanswered, []
        names = ", ".join(dict.fromkeys(one_line(call.name) for call in calls))
        rules = ",".join(dict.fromkeys(one_line(rule) for call in calls for rule in registry.supervising(call)))
        said = f"{names} needed an approval that nobody could give: it was denied. --yes or --allow {rules} gives it"
        return said if calls else ""


def call_text(call: ToolCall) -> str:
    """Return all arguments of a call, one a line, longer ones below their names."""
    try:
        arguments = json.loads(call.arguments or "{}", strict=False)
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
