"""What `run` prints for programs: `outcome`, the one object of --json, and `event`, the lines of stream-json."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent.events import Event
    from agent.messages import Usage

__all__ = ["event", "outcome"]

_EMPTY = {
    "result": "",
    "exit_code": 0,
    "finish_reason": "error",
    "steps": 0,
    "usage": {"prompt_tokens": 0, "completion_tokens": 0, "cached_tokens": 0, "cache_write_tokens": 0},
    "memory_writes": [],
    "session": None,
    "model": None,
    "seconds": 0.0,
    "error": None,
}


def outcome(usage: Usage | None = None, **parts: Any) -> dict[str, Any]:
    """Return the one object that stands for a whole run; every key is always there."""
    return _EMPTY | parts | ({"usage": asdict(usage)} if usage is not None else {})


def event(one: Event) -> dict[str, Any]:
    """Return one event of a turn as the JSON of one line."""
    from agent.events import AnswerDropped, Notice, StepStarted, TextDelta, ToolStarted

    match one:
        case StepStarted(number):
            return {"type": "step", "number": number}
        case TextDelta(text):
            return {"type": "text", "text": text}
        case AnswerDropped(reason):
            return {"type": "answer_dropped", "reason": reason}
        case Notice(kind, text):
            return {"type": "notice", "kind": kind, "text": text}
        case ToolStarted(call):
            return {"type": "tool_started", "id": call.id, "name": call.name, "arguments": call.arguments}
    said = {"ok": one.result.ok, "output": one.result.serialize()}
    return {"type": "tool_finished", "id": one.call.id, "name": one.call.name, **said, "seconds": round(one.seconds, 3)}
