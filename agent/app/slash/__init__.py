"""The commands of a chat: what begins with `/`."""

from __future__ import annotations

from agent.app.slash.command import Command, Line, parse_line
from agent.app.slash.table import COMMANDS, TABLE, choices, unknown_command

__all__ = ["COMMANDS", "TABLE", "Command", "Line", "choices", "parse_line", "unknown_command"]
