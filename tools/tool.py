"""`Tool`: a function the model may call, and the words of a call: `ToolCall`, `ToolResult`."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from tools.thread import in_thread
from tools.words import plain, sendable, sentence, warn

__all__ = ["Bar", "Inheritable", "Tool", "ToolCall", "ToolResult", "tool"]

Inheritable = bool | Literal["supervised"]
# May a sub-agent have it? "supervised": only where the policy asks a person before each call.

Bar = Callable[[Sequence[Path]], "Tool"]
# Makes the same tool with more folders forbidden.

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")  # what OpenAI-compatible servers accept as a function name
PREVIEW_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as the model wrote it. `arguments` is JSON text, or should be."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call came to: `data` when it went well, else a sentence for the model in `error`."""

    ok: bool
    data: Any = None
    error: str | None = None

    def serialize(self) -> str:
        """Return the text the model gets: `data` (text as it is, else JSON), or `Error: ...`."""
        if not self.ok:
            return f"Error: {self.error}"
        return self.data if isinstance(self.data, str) else json.dumps(self.data, ensure_ascii=False)


class Tool:
    """A function with its schema, and what the registry must know about it.

    The parameters of `func` are the arguments, its docstring is the description, and
    `Annotated[str, Field(description="...")]` describes one argument. A `def` runs in a thread, an `async def` on the
    loop. It returns text, JSON data or a `ToolResult`, and refuses by raising ValueError or OSError: their text goes to
    the model. With a `**ignored` parameter unknown arguments are dropped instead of refused.
    """

    def __init__(
        self,
        func: Callable[..., Any],
        *,
        name: str | None = None,
        description: str | None = None,
        parallel: bool = False,
        inheritable: Inheritable = True,
        timeout_s: float | None = None,
        rule: Callable[[Mapping[str, Any]], str] | None = None,
        preview: Callable[[Mapping[str, Any]], str | Awaitable[str]] | None = None,
        bar: Bar | None = None,
    ) -> None:
        """Build the schema at once: a function that cannot be a tool raises ValueError here, not at its first call.

        rule: names the tool whose policy governs these arguments; preview: says what a call would change or lose.
        """
        from tools.arguments import Arguments  # pydantic takes 55 ms to import, so only where a tool is built

        self.func = func
        self.name: str = name or func.__name__
        if not NAME.fullmatch(self.name):
            raise ValueError(f"{self.name!r} is no tool name: use 1 to 64 letters, digits, '_' or '-'")
        self.description = (inspect.getdoc(func) or "") if description is None else description
        self.parallel = parallel
        self.inheritable = inheritable
        self.timeout_s = timeout_s
        self._rule = rule
        self._preview = preview
        self._bar = bar
        self._arguments = Arguments(func, self.name)
        function = {"name": self.name, "description": self.description, "parameters": self._arguments.schema}
        self._schema = {"type": "function", "function": function}

    def schema(self) -> dict[str, Any]:
        """Return the OpenAI function schema: the same object at each call, to be left as it is."""
        return self._schema

    async def execute(self, arguments: str) -> ToolResult:
        """Run the function with JSON text. Never raises: what goes wrong is an `error`; only a cancel passes."""
        limit = asyncio.timeout(self.timeout_s)
        try:
            values = self._arguments.read(arguments)
            async with limit:
                returned = await self._call(values)
            result = returned if isinstance(returned, ToolResult) else ToolResult(True, data=returned)
            return ToolResult(result.ok, data=plain(result.data), error=result.error and sendable(result.error))
        except TimeoutError as error:
            if not limit.expired():  # the function's own
                return self._failure(error)
            return ToolResult(False, error=f"{self.name} was given up: it took longer than {self.timeout_s:g} s")
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            return self._failure(error)  # nobody cancelled this call: something inside the function was
        except (Exception, SystemExit) as error:
            return self._failure(error)

    def rule_for(self, arguments: str) -> str:
        """Return the name of the tool whose policy governs this call: its own, unless `rule` says another.

        Raises what `rule` raises for arguments that fit; those that do not will not run anyway.
        """
        if self._rule is None or self.misfit(arguments) is not None:
            return self.name
        return self._rule(self._arguments.read(arguments))

    def misfit(self, arguments: str) -> ToolResult | None:
        """Return what `execute` would answer to arguments that do not fit, None when they do."""
        try:
            self._arguments.read(arguments)
        except Exception as error:
            return self._failure(error)
        return None

    async def preview_of(self, arguments: str) -> str:
        """Return what the call would change or lose, for the person who is asked; "" when there is nothing to show."""
        if self._preview is None:
            return ""
        try:
            async with asyncio.timeout(PREVIEW_TIMEOUT_S):
                shown = await in_thread(self._preview, self._arguments.read(arguments))
                return sendable(shown if isinstance(shown, str) else await shown)
        except Exception as error:
            return f"(no preview: {self._failure(error).error})"

    def barred(self, folders: Sequence[Path]) -> Tool:
        """Return the same tool with `folders` forbidden too; a tool that touches no files is returned as it is."""
        return self._bar(folders) if self._bar and folders else self

    async def _call(self, values: dict[str, Any]) -> Any:
        if inspect.iscoroutinefunction(self.func):
            return await self.func(**values)
        returned = await in_thread(self.func, **values)
        return await returned if inspect.isawaitable(returned) else returned

    def _failure(self, error: BaseException) -> ToolResult:
        if not isinstance(error, ValueError | OSError):
            warn(f"tool {self.name} failed", error)
        return ToolResult(False, error=sendable(sentence(error)))


def tool(func: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Make a `Tool` of the decorated function: `@tool`, or `@tool(parallel=True)` with the options of `Tool`."""
    return partial(Tool, **options) if func is None else Tool(func, **options)
