"""`call_tool` and `Workspace`: tools called as a model calls them, with JSON text."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from tools import Tool, ToolResult, make_file_tools

__all__ = ["Workspace", "call_tool"]


def call_tool(tool: Tool, **arguments: Any) -> ToolResult:
    return asyncio.run(tool.execute(json.dumps(arguments)))


class Workspace:
    """A folder with its file tools: `ws("file_read", path="a.txt")`."""

    def __init__(self, root: Path, **options: Any) -> None:
        root.mkdir(parents=True, exist_ok=True)
        self.root = root
        self.tools = {tool.name: tool for tool in make_file_tools(root, **options)}

    def __call__(self, name: str, **arguments: Any) -> ToolResult:
        return call_tool(self.tools[name], **arguments)

    def put(self, path: str, content: bytes | str) -> Path:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
        return place
