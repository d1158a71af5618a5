"""`make_task_tool`: one job handed to a sub-agent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

from pydantic import Field

from tools.bound import bound
from tools.tool import Tool, ToolResult

__all__ = ["Delegate", "make_task_tool"]

Delegate = Callable[[str, str | None], Awaitable[ToolResult | str]]
# Takes the prompt and the kind of agent, and returns the sub-agent's last word.


def make_task_tool(delegate: Delegate) -> Tool:
    """Make `task`, which calls `delegate`. Neighbouring calls overlap; a sub-agent does not inherit it."""

    async def task(
        prompt: Annotated[str, Field(description="the whole job, with all the sub-agent must know")],
        agent_type: Annotated[str | None, Field(description="kind of sub-agent, where several are known")] = None,
    ) -> ToolResult:
        """Hand one self-contained job to a sub-agent and get its final answer.

        It sees nothing of this talk and keeps nothing afterwards. Several jobs given at once are done side by side.
        """
        if not prompt.strip():
            raise ValueError("prompt is empty; describe the whole job")
        answer = await delegate(prompt, agent_type)
        if isinstance(answer, str):
            return ToolResult(True, data=bound(answer))
        data = bound(answer.data) if isinstance(answer.data, str) else answer.data
        return ToolResult(answer.ok, data=data, error=answer.error and bound(answer.error))

    return Tool(task, parallel=True, inheritable=False)
