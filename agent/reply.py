"""`Reply`: what a turn came to."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from agent.messages import Usage
from tools import ToolCall, ToolResult

__all__ = ["Reply", "memory_write"]

WRITERS = frozenset({"memory", "memory_store", "memory_forget"})
UNCHANGED = "Entry already exists"


@dataclass(frozen=True, slots=True)
class Reply:
    """The final answer of a turn and its figures. Usage counts sub-agents and summaries too."""

    text: str
    finish_reason: str = "stop"
    # stop | length or content_filter (cut off) | limit (step limit) | repeat (one call kept failing)
    steps: int = 0
    usage: Usage = field(default_factory=Usage)
    memory_writes: list[dict[str, Any]] = field(default_factory=list)
    # The arguments of each call that changed memory, with `tool` beside them
    session_id: str = ""


def memory_write(call: ToolCall, result: ToolResult) -> dict[str, Any] | None:
    """Return what a call wrote to memory, or None where it wrote nothing."""
    if call.name not in WRITERS or not result.ok or result.serialize().startswith(UNCHANGED):
        return None
    try:
        arguments = json.loads(call.arguments, strict=False)
    except ValueError:
        return None
    kept = {key: value for key, value in arguments.items() if value is not None} if isinstance(arguments, dict) else {}
    return {"tool": call.name, **kept}
