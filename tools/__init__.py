"""What the model may do."""

from tools.tool import ToolCall, ToolResult

__all__ = ["ToolCall", "ToolResult"]
