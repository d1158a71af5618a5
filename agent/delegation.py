"""`Delegation`: runs sub-agents within their limits and turns what they did into a result."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import tools
from agent.failures import ModelFailure
from tools import ToolResult

if TYPE_CHECKING:
    from agent.agent import Agent
    from agent.messages import Usage

__all__ = ["AgentLimits", "Delegation", "with_role"]


@dataclass(frozen=True, slots=True)
class AgentLimits:
    """What the sub-agents of one turn may use."""

    max_agents: int = 32
    max_steps: int = 50
    # Model calls of each
    timeout_s: float = 600.0
    side_by_side: int = 3
    result_chars: int = 20_000


class Delegation:
    """The sub-agents of one agent. `begin` starts the count of a turn anew."""

    def __init__(self, limits: AgentLimits) -> None:
        self.limits = limits
        self._made = 0
        self._places = asyncio.Semaphore(limits.side_by_side)

    def begin(self) -> None:
        self._made = 0
        self._places = asyncio.Semaphore(self.limits.side_by_side)

    async def run(self, spawn: Callable[[int], Agent], prompt: str, spent: Callable[[Usage], None]) -> ToolResult:
        """Hand `prompt` to a fresh sub-agent. The result says whether it answered, failed, or met a limit.

        A cancel reaches the sub-agent and passes on.
        """
        if not prompt.strip():
            return ToolResult(ok=False, error="The prompt of the sub-agent is empty; say what it has to do")
        if self._made >= self.limits.max_agents:
            error = f"The limit of {self.limits.max_agents} sub-agents in one turn is reached; do the rest yourself"
            return ToolResult(ok=False, error=error)
        self._made += 1
        number = self._made
        async with self._places:
            child = spawn(number)
            try:
                return await self._play(child, prompt)
            finally:
                spent(child.usage)

    async def _play(self, child: Agent, prompt: str) -> ToolResult:
        try:
            async with asyncio.timeout(self.limits.timeout_s) as clock:
                reply = await child.run(prompt)
        except TimeoutError:
            if not clock.expired():
                raise
            error = f"The sub-agent was stopped at its time limit of {self.limits.timeout_s:g} s"
            return ToolResult(ok=False, error=error)
        except ModelFailure as failure:
            return ToolResult(ok=False, error=f"The sub-agent failed ({failure.kind}): {failure}")
        text = tools.bound(reply.text, self.limits.result_chars)
        if reply.finish_reason in ("limit", "repeat"):
            limit = f"its limit of max {child.max_steps} steps"
            why = limit if reply.finish_reason == "limit" else "a repeating failure"
            return ToolResult(ok=False, error=f"The sub-agent was stopped by {why}. Its last word: {text}")
        if reply.finish_reason != "stop":
            text += f"\n[the answer was truncated (finish_reason={reply.finish_reason})]"
        return ToolResult(ok=True, data=text)


def with_role(agent_type: str | None, instructions: str) -> str:
    """Return the instructions of a sub-agent that is to act as `agent_type`, if any."""
    role = f"You act as: {agent_type.strip()}." if agent_type and agent_type.strip() else ""
    return "\n\n".join(part for part in (role, instructions) if part)
