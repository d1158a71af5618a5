"""What the model may do."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# At once, because the decorator and its module share a name: whichever is bound last is `tools.tool`.
from tools.tool import Tool, ToolCall, ToolResult, tool

if TYPE_CHECKING:
    from tools.policy import Approve, ToolPolicy, Verdict, refuse
    from tools.registry import ToolRegistry

__all__ = [
    "Approve",
    "Tool",
    "ToolCall",
    "ToolPolicy",
    "ToolRegistry",
    "ToolResult",
    "Verdict",
    "refuse",
    "tool",
]

HOMES = {
    "Approve": "tools.policy",
    "ToolPolicy": "tools.policy",
    "ToolRegistry": "tools.registry",
    "Verdict": "tools.policy",
    "refuse": "tools.policy",
}


def __getattr__(name: str) -> Any:
    """Load a name where it is first used: one of them must not cost the start-up of all."""
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(HOMES[name]), name)
    return value
