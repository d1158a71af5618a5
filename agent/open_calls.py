"""`OpenCalls`: the calls of one answer, put together from deltas whose ids and indexes may be missing or collide."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from agent.messages import scrub
from tools import ToolCall

__all__ = ["OpenCalls"]

_MARK = re.compile(r'\\.|["{}]', re.DOTALL)
# What decides where a JSON object ends


@dataclass(slots=True)
class _OpenCall:
    id: str
    index: str
    doubtful: bool = False
    # Begun only by the name of the call before it, at no other index: none, unless arguments follow
    name: str = ""
    parts: list[str] = field(default_factory=list)
    # Of the arguments; a file to write may come in thousands. The first one is not blank
    size: int = 0
    _read: int = 0
    _depth: int = 0
    _in_text: bool = False
    _escape: str = ""
    _closed: bool = False

    @property
    def arguments(self) -> str:
        return "".join(self.parts)

    def append(self, arguments: str) -> None:
        if arguments.lstrip().startswith("{") and self._is_placeholder():
            self.parts.clear()
            self.size, self._read, self._closed = 0, 0, False
        if self.parts or arguments.strip():
            self.parts.append(arguments)
            self.size += len(arguments)

    def is_whole(self) -> bool:
        """Whether the arguments are a closed object already, so that more of them would be another call's.

        Reads each part once, however often it is asked.
        """
        if not self.parts or not re.match(r"\s*\{", self.parts[0]):
            return False
        while self._read < len(self.parts) and not self._closed:
            self._look_at(self._escape + self.parts[self._read])
            self._read += 1
        return self._closed

    def _is_placeholder(self) -> bool:
        """Whether there is an empty object only, which some proxies send before the arguments."""
        return self.size < 20 and self.is_whole() and "".join(self.arguments.split()) == "{}"

    def _look_at(self, text: str) -> None:
        self._escape = "\\" * ((len(text) - len(text.rstrip("\\"))) % 2)  # cut before the letter that it escapes
        for mark in _MARK.findall(text):
            if mark == '"':
                self._in_text = not self._in_text
            elif not self._in_text and mark in ("{", "}"):
                self._depth += 1 if mark == "{" else -1
                if self._depth == 0:
                    self._closed = True
                    return


class OpenCalls:
    """A delta belongs to the call that has its id; a new id begins a new call; without an id, to the call of its
    index; with neither, or without a name at an index of no call, to the call that is open. A name after whole
    arguments begins another call. Names are assigned, arguments appended."""

    def __init__(self) -> None:
        self._calls: list[_OpenCall] = []

    def __bool__(self) -> bool:
        return bool(self._calls)

    def whole(self) -> tuple[ToolCall, ...]:
        """Return the calls in the order they began; a delta that named nothing is none."""
        return tuple(
            ToolCall(scrub(call.id), scrub(call.name), scrub(call.arguments))
            for call in self._calls
            if call.parts or (call.name and not call.doubtful)
        )

    def add(self, delta: dict[str, Any]) -> None:
        """Take one entry of `tool_calls` of a delta."""
        function = delta.get("function")
        function = function if isinstance(function, dict) else {}
        name, arguments = function.get("name"), function.get("arguments")
        name = name if isinstance(name, str) else ""
        if arguments is not None and not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)
        arguments = arguments or ""
        call = self._call_of(delta, name, arguments)
        call.name = name or call.name
        if not (len(arguments) == call.size and call.is_whole() and call.arguments == arguments):
            call.append(arguments)  # else the server ends with the whole call once more

    def _call_of(self, delta: dict[str, Any], name: str, arguments: str) -> _OpenCall:
        call_id, index = _label(delta.get("id")), _label(delta.get("index"))
        known = self._find_known(call_id, index, name)
        if known is not None and not _begins_another(known, call_id, index, name, arguments):
            known.id = known.id or call_id
            return known
        same = (
            known is not None and known.name == name and call_id in ("", known.id) and not _differ(index, known.index)
        )
        self._calls.append(_OpenCall(call_id, index, doubtful=same and not arguments.strip()))
        return self._calls[-1]

    def _find_known(self, call_id: str, index: str, name: str) -> _OpenCall | None:
        """The last call that the delta points at."""
        same_id = [call for call in self._calls if call_id and call.id == call_id]
        same_index = [call for call in same_id or self._calls if index and call.index == index]
        known = same_index or same_id
        if not known and not call_id and not (index and name):
            known = self._calls
        return known[-1] if known else None


def _begins_another(known: _OpenCall, call_id: str, index: str, name: str, arguments: str) -> bool:
    """Whether a delta that points at a known call starts one of its own all the same: ids and indexes collide."""
    new_id, new_index = _differ(call_id, known.id), _differ(index, known.index)
    if not name:  # some servers make an id up for every delta, or count its index on
        stray = new_index and not call_id and bool(arguments.strip())
        return (new_id or stray) and known.is_whole()
    if new_id or (new_index and not known.parts) or (known.name and name != known.name):
        return True
    return bool(known.name) and known.is_whole() and (new_index or arguments != known.arguments)


def _differ(label: str, known: str) -> bool:
    return bool(label and known) and label != known


def _label(value: Any) -> str:
    return str(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""
