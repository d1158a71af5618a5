"""What the model may do."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# At once, because two of these functions bear the names of their modules: whichever is bound last is `tools.tool`.
from tools.bound import Output, bound
from tools.policy import Approve, ToolPolicy, Verdict, refuse
from tools.registry import ToolRegistry
from tools.tool import Tool, ToolCall, ToolResult, tool

if TYPE_CHECKING:
    from tools.files.make import make_file_tools
    from tools.process import run_process
    from tools.shell import make_shell_tool
    from tools.task import make_task_tool

__all__ = [
    "Approve",
    "Output",
    "Tool",
    "ToolCall",
    "ToolPolicy",
    "ToolRegistry",
    "ToolResult",
    "Verdict",
    "bound",
    "make_file_tools",
    "make_shell_tool",
    "make_task_tool",
    "refuse",
    "run_process",
    "tool",
]

HOMES = {
    "make_file_tools": "tools.files.make",
    "make_shell_tool": "tools.shell",
    "make_task_tool": "tools.task",
    "run_process": "tools.process",
}


def __getattr__(name: str) -> Any:
    """Load what needs pydantic where it is first used: it costs 55 ms."""
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(HOMES[name]), name)
