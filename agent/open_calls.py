"""`OpenCalls`: the calls of one answer, put together from deltas whose ids and indexes may be missing or collide."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from agent.messages import scrub
from tools import ToolCall

__all__ = ["OpenCalls"]


@dataclass(slots=True)
class _OpenCall:
    id: str
    index: int | None
    name: str = ""
    parts: list[str] = field(default_factory=list)
    # Of the arguments; a file to write may come in thousands

    @property
    def arguments(self) -> str:
        return "".join(self.parts)

    def is_whole(self) -> bool:
        """Whether the arguments are a JSON object already, so that more of them would be another call's."""
        if not self.parts or not self.parts[-1].rstrip().endswith("}"):
            return False
        try:
            return isinstance(json.loads(self.arguments), dict)
        except (ValueError, RecursionError):
            return False


class OpenCalls:
    """A delta belongs to the call that has its id; a new id begins a new call; without an id, to the call of its
    index; with neither, to the call that is open. Names are assigned, arguments appended."""

    def __init__(self) -> None:
        self._calls: list[_OpenCall] = []

    def __bool__(self) -> bool:
        return bool(self._calls)

    def whole(self) -> tuple[ToolCall, ...]:
        """Return the calls in the order they began; a delta that named nothing is none."""
        return tuple(
            ToolCall(scrub(call.id), scrub(call.name), scrub(call.arguments))
            for call in self._calls
            if call.name or call.arguments.strip()
        )

    def add(self, delta: dict[str, Any]) -> None:
        """Take one entry of `tool_calls` of a delta."""
        function = delta.get("function")
        function = function if isinstance(function, dict) else {}
        name, arguments = function.get("name"), function.get("arguments")
        name = name if isinstance(name, str) else ""
        if arguments is not None and not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)
        call = self._call_of(delta, name, arguments or "")
        call.name = name or call.name
        if arguments and not (call.is_whole() and call.arguments == arguments):
            call.parts.append(arguments)  # else the server ends with the whole call once more

    def _call_of(self, delta: dict[str, Any], name: str, arguments: str) -> _OpenCall:
        call_id, index = delta.get("id"), delta.get("index")
        call_id = call_id if isinstance(call_id, str) else ""
        index = int(index) if isinstance(index, int) or (isinstance(index, str) and index.isdecimal()) else None
        known = [call for call in self._calls if call_id and call.id == call_id]
        if not known and index is not None:
            known = [call for call in self._calls if call.index == index]
        elif not known and not call_id:
            known = self._calls
        if known and not _begins_another(known[-1], call_id, index, name, arguments):
            known[-1].id = known[-1].id or call_id
            return known[-1]
        self._calls.append(_OpenCall(call_id, index))
        return self._calls[-1]


def _begins_another(known: _OpenCall, call_id: str, index: int | None, name: str, arguments: str) -> bool:
    """Whether a delta that points at a known call starts one of its own all the same: ids and indexes collide."""
    new_id = bool(call_id and known.id and call_id != known.id)
    if not name:
        return new_id and known.is_whole()  # some servers make an id up for every delta
    if new_id or (known.name and name != known.name):
        return True
    if not known.name or not arguments.lstrip().startswith("{") or not known.is_whole():
        return False
    return index != known.index or arguments != known.arguments
