"""`tool_line`: a finished tool call on one line."""

from __future__ import annotations

import json
from typing import Any

from agent.app.plain import cell_width, one_line, shorten
from agent.app.style import BOLD, DIM, ERROR, NOTE, paint
from tools import ToolCall, ToolResult

__all__ = ["short_call", "tool_line"]

SHOWN_CELLS = 72  # of arguments and of a result on a pipe, where no window sets a limit
NAME_CELLS = 24
VALUE_CHARS = 400  # of a value that are looked at: a line shows less than that
MEMORY_TOOLS = frozenset({"memory", "memory_store", "memory_forget"})


def short_call(call: ToolCall) -> str:
    """Return the arguments of a call as a person would say them: the first value bare, the others with their names."""
    arguments = _arguments(call)
    if arguments is None:
        return one_line(call.arguments[:VALUE_CHARS])
    if call.name == "memory":
        return _memory_words(arguments)
    parts = [_value(value) if place == 0 else f"{key}={_value(value)}" for place, (key, value) in enumerate(arguments)]
    return one_line(", ".join(parts))


def tool_line(call: ToolCall, result: ToolResult, seconds: float, *, columns: int, styled: bool) -> str:
    """Return the call, what came of it and how long it took, at most `columns` wide."""
    name, time = shorten(one_line(call.name) or "(no name)", NAME_CELLS), f"({seconds:.1f} s)"
    room = max(columns - cell_width(name) - len(time) - 8, 6)  # 8: the mark, the arrow and the blanks between
    said, size = _outcome(result)
    size = size if len(size) <= room // 2 else ""
    words = shorten(short_call(call), max(room - cell_width(said + size), room // 2))
    said = shorten(said, max(room - cell_width(words) - len(size), 1))
    outcome = said + size
    words = f" {words}" if words else ""
    if not styled:
        return f"{'*' if result.ok else '!'} {name}{words} -> {outcome} {time}"
    look = ERROR if not result.ok else NOTE if call.name in MEMORY_TOOLS else DIM
    mark = paint("●" if result.ok else "✗", look)
    tail = paint(f" → {outcome} ", look) + paint(time, DIM)
    return f"{mark} {paint(name, BOLD)}{words}{tail}"


def _arguments(call: ToolCall) -> list[tuple[str, Any]] | None:
    """The arguments in the order that the model wrote them; None where they are no object."""
    try:
        found = json.loads(call.arguments or "{}", strict=False)
    except ValueError:
        return None
    return [(key, value) for key, value in found.items() if value is not None] if isinstance(found, dict) else None


def _memory_words(arguments: list[tuple[str, Any]]) -> str:
    given = dict(arguments)
    texts = [given.get(key) for key in ("old_text", "new_content", "content")]
    words = " → ".join(_value(text) for text in texts if text)
    return one_line(f"{_value(given.get('action', '?'))} {_value(given.get('target', '?'))}: {words}")


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text[:VALUE_CHARS]


def _outcome(result: ToolResult) -> tuple[str, str]:
    """The first words of a result, and its size where there is more."""
    text = result.serialize()
    lines = [line for line in text[:100_000].split("\n") if line.strip()]
    if not lines:
        return "nothing", ""
    first = one_line(lines[0][:VALUE_CHARS])
    if len(lines) > 1:
        return shorten(first, SHOWN_CELLS), f" [{len(lines):,} lines]"
    if cell_width(first) <= SHOWN_CELLS and len(lines[0]) <= VALUE_CHARS:
        return first, ""
    return shorten(first, SHOWN_CELLS), f" [{len(text):,} characters]"
