"""`Tool`: a function the model may call."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

__all__ = ["ToolCall", "ToolResult"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as the model wrote it. `arguments` is JSON text, or should be."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    ok: bool
    data: Any = None
    error: str | None = None

    def serialize(self) -> str:
        """Return the text the model gets: `data` (text as it is, else JSON), or `Error: ...`."""
        if not self.ok:
            return f"Error: {self.error}"
        return self.data if isinstance(self.data, str) else json.dumps(self.data, ensure_ascii=False)
