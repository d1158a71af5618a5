"""`ToolRegistry`: the tools of one agent, and the one gate that every call goes through."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any

from tools.policy import Approve, ToolPolicy, refuse, stricter
from tools.tool import Tool, ToolCall, ToolResult
from tools.words import warn

__all__ = ["OneAtATime", "ToolRegistry"]

MOST_AT_ONCE = 8  # calls of one batch that overlap


class OneAtATime:
    """An approver that asks its questions one after the other, and takes any failure for a no."""

    def __init__(self, approve: Approve) -> None:
        self._approve = approve
        self._asking = asyncio.Lock()

    async def __call__(self, call: ToolCall, preview: str) -> bool:
        async with self._asking:
            try:
                answer: object = await self._approve(call, preview)
            except Exception as error:
                warn(f"the question about {call.name} failed and is taken for a no", error)
                return False
        return answer is True


class ToolRegistry:
    """Tools by name, under a policy.

    A call runs if the policy allows both its tool and the tool whose rule governs its arguments (`Tool.rule_for`); the
    stricter of the two verdicts holds.
    """

    def __init__(
        self, tools: Iterable[Tool] = (), *, policy: ToolPolicy | None = None, approve: Approve = refuse
    ) -> None:
        self.policy = policy or ToolPolicy()
        self.approve: Approve = approve if isinstance(approve, OneAtATime) else OneAtATime(approve)
        # Handed on to the registry of a sub-agent, it keeps their questions apart too.
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            self.register(tool)

    def register(self, tool: Tool) -> None:
        """Add a tool. Raises ValueError when its name is taken: the model could not tell the two apart."""
        if tool.name in self._tools:
            raise ValueError(f"tool {tool.name!r} is registered already; give one of the two another name")
        self._tools[tool.name] = tool

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def names(self) -> list[str]:
        return sorted(self._tools)

    def schemas(self) -> list[dict[str, Any]]:
        """Return the schemas sorted by name, so that the prefix a provider caches is the same in every process."""
        return [self._tools[name].schema() for name in self.names()]

    def inheritable(self) -> list[Tool]:
        """Return what a sub-agent may have: a "supervised" one only where the policy asks before each of its calls."""
        tools = [self._tools[name] for name in self.names()]
        return [tool for tool in tools if tool.inheritable in (True, self.policy.verdict(tool.name))]

    def supervising(self, call: ToolCall) -> list[str]:
        """Return the names whose policy asks a person about this call."""
        tool = self._tools.get(call.name)
        names = {call.name: None, (tool.rule_for(call.arguments) if tool else call.name): None}
        return [name for name in names if self.policy.verdict(name) == "supervised"]

    async def dispatch(self, call: ToolCall) -> ToolResult:
        """Run one call, if it may run. Never raises; only a cancel passes."""
        tool = self._tools.get(call.name)
        if tool is None:
            known = ", ".join(self.names()) or "none"
            return ToolResult(False, error=f"unknown tool {call.name!r}; available tools: {known}")
        verdict = self.policy.verdict(call.name)
        try:
            verdict = stricter(verdict, self.policy.verdict(tool.rule_for(call.arguments)))
        except Exception as error:
            warn(f"the rule of {call.name} failed and the call is denied", error)
            verdict = "deny"
        if verdict == "deny":
            return ToolResult(False, error=f"Tool {call.name!r} is not allowed: the policy denies it")
        if verdict == "supervised":
            if (misfit := tool.misfit(call.arguments)) is not None:
                return misfit  # nobody need be asked about a call that cannot run
            if not await self.approve(call, await tool.preview_of(call.arguments)):
                return ToolResult(False, error=f"Tool {call.name!r} was denied: approval was not given")
        return await tool.execute(call.arguments)

    async def dispatch_batch(
        self,
        calls: Sequence[ToolCall],
        *,
        started: Callable[[int], None] = lambda index: None,
        finished: Callable[[int, ToolResult, float], None] = lambda index, result, seconds: None,
    ) -> list[ToolResult]:
        """Run the calls of one message; the results are in call order.

        Neighbouring parallel tools overlap; any other call waits for all before it and holds up all after it. `started`
        and `finished` hear of each call by its index, with the seconds it took. On a cancel every running call is
        cancelled and awaited; `finished` has then been called for exactly those that were done.
        """
        results: dict[int, ToolResult] = {}
        places = asyncio.Semaphore(MOST_AT_ONCE)

        async def run(index: int) -> None:
            async with places:
                _tell(started, index)
                begun = time.perf_counter()
                results[index] = await self.dispatch(calls[index])
                _tell(finished, index, results[index], time.perf_counter() - begun)

        def overlaps(index: int) -> bool:
            tool = self._tools.get(calls[index].name)
            return tool is not None and tool.parallel

        for side_by_side, indexes in groupby(range(len(calls)), overlaps):
            if side_by_side:
                async with asyncio.TaskGroup() as tasks:
                    for index in indexes:
                        tasks.create_task(run(index))
            else:
                for index in indexes:
                    await run(index)
        return [results[index] for index in range(len(calls))]


def _tell(listener: Callable[..., None], *news: Any) -> None:
    try:
        listener(*news)
    except Exception as error:  # a display that fails must not take the batch with it
        warn("a listener of the batch failed", error)
