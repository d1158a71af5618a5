"""`MemoryManager`: one provider of recall or none, so that it never breaks a turn and delays one at most once."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from memory.entries import excerpt
from memory.guard import blocked, defuse, reason_to_hide, shown
from prompts import render
from tools import Tool

__all__ = ["MemoryManager", "MemoryProvider", "ProviderUnavailable", "load_provider"]

ENTRY_POINTS = "my_agent.memory_providers"
FENCE = "RECALLED"
REST_S = 60.0  # how long a provider that failed is left alone
LONGEST_RECALL = 8_000  # characters

log = logging.getLogger(__name__)


class MemoryProvider(Protocol):
    """Whoever finds what belongs to a message. It may have `folders`, paths of its files: no sub-agent touches them."""

    @property
    def name(self) -> str: ...

    def tools(self) -> Sequence[Tool]:
        """Return the tools that the model gets while memory is on. Sub-agents never get them."""

    async def prefetch(self, query: str) -> str:
        """Return what belongs to the user's message, as plain text; "" when there is nothing. Must not block."""

    async def close(self) -> None: ...


class ProviderUnavailable(ValueError):
    """The configuration names a provider that cannot be used; the text says why, or what is installed."""


def load_provider(name: str, settings: Mapping[str, Any]) -> MemoryProvider:
    """Build the provider that an installed package registers under `my_agent.memory_providers`.

    The entry point names a class or function that takes the settings. Raises `ProviderUnavailable`.
    """
    from importlib.metadata import entry_points  # 20 ms to import, and only for providers of others

    points = list(entry_points(group=ENTRY_POINTS))
    found = [point for point in points if point.name == name]
    if not found:
        there = ", ".join(sorted({point.name for point in points})) or "none"
        raise ProviderUnavailable(f"There is no memory provider {name!r}; installed under {ENTRY_POINTS!r}: {there}")
    whose = f"The memory provider {name!r} ({found[0].value})"
    try:
        provider: MemoryProvider = found[0].load()(settings)
    except Exception as error:
        raise ProviderUnavailable(f"{whose} cannot be used: {_words(error)}") from error
    if lacks := [part for part in ("name", "tools", "prefetch", "close") if not hasattr(provider, part)]:
        raise ProviderUnavailable(f"{whose} is no MemoryProvider: it has no {', '.join(lacks)}")
    return provider


class MemoryManager:
    """What an agent asks its provider. Nothing here raises but a cancel.

    A provider that fails or takes longer than `timeout_s` is told of in `notices` once, and left alone for a while; it
    is told of again only after it worked in between.
    """

    def __init__(
        self,
        provider: MemoryProvider | None = None,
        *,
        timeout_s: float = 2.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.provider = provider
        self.timeout_s = timeout_s
        self.name = "" if provider is None else str(provider.name)
        self.notices: list[str] = []  # sentences for the person
        self._clock = clock
        self._rests_until = float("-inf")
        self._failing = False
        self._running: asyncio.Task[Any] | None = None  # given up; nothing is asked before it ends

    @property
    def folders(self) -> Sequence[Path]:
        """Where the files of the provider lie: no sub-agent may touch them."""
        try:
            return [Path(folder) for folder in getattr(self.provider, "folders", ())]
        except Exception as error:
            self._give_up(f"its folders cannot be had: {_words(error)}")
            return []

    def take_notices(self) -> list[str]:
        """Return the notices and forget them, with those of a provider that has `notices`, a list of its own."""
        taken, self.notices = self.notices, []
        theirs = getattr(self.provider, "notices", None)
        if isinstance(theirs, list):
            taken += map(str, theirs)
            theirs.clear()
        return taken

    def tools(self) -> list[Tool]:
        """Return the provider's tools, none of which a sub-agent can inherit."""
        try:
            tools = [] if self.provider is None else list(self.provider.tools())
            for tool in tools:
                tool.inheritable = False
        except Exception as error:
            self._give_up(f"its tools cannot be had: {_words(error)}")
            return []
        return tools

    async def prefetch(self, query: str) -> str:
        """Return what the provider finds for a user's message, fenced; "" when there is nothing, or it does not work.

        Takes `timeout_s` at most.
        """
        provider = self.provider
        busy = self._running is not None and not self._running.done()
        if provider is None or not query.strip() or busy or self._clock() < self._rests_until:
            return ""
        found = await self._bounded(lambda: provider.prefetch(query), "recall")
        if not isinstance(found, str):
            if found is not None:
                self._give_up(f"recall gave {type(found).__name__} where text belongs")
            return ""
        self._failing = False
        safe = without_orders(excerpt(found.strip(), LONGEST_RECALL))
        return render("recalled", provider=self.name, text=defuse(safe, FENCE)) if safe else ""

    async def close(self) -> None:
        """Close the provider, in `timeout_s` at most."""
        if self._running is not None:
            self._running.cancel()
        if self.provider is not None:
            await self._bounded(self.provider.close, "closing it")

    async def _bounded(self, call: Callable[[], Awaitable[Any]], what: str) -> Any:
        """Await a call of the provider; None when it failed or took too long. It may ignore its cancel."""

        async def ask() -> Any:
            return await call()

        started = self._clock()
        task = asyncio.create_task(ask())
        try:
            await asyncio.wait({task}, timeout=self.timeout_s)
        except asyncio.CancelledError:
            task.cancel()
            raise
        took = self._clock() - started
        if not task.done():
            task.cancel()
            task.add_done_callback(lambda late: late.cancelled() or late.exception())  # looked at, so not complained of
            self._running = task
            self._give_up(f"{what} took longer than {self.timeout_s:g} s")
        elif task.cancelled():
            self._give_up(f"{what} was cancelled")
        elif error := task.exception():
            self._give_up(f"{what} failed: {_words(error)}")
        else:
            if took > self.timeout_s * 2:  # it blocked the loop, where no timeout reaches it
                self._give_up(f"{what} blocked for {took:.1f} s")
            return task.result()
        return None

    def _give_up(self, why: str) -> None:
        log.info("memory provider %s: %s", self.name, why)
        self._rests_until = self._clock() + REST_S
        if not self._failing:
            self.notices.append(f"Memory provider {self.name!r}: {why}; going on without it for {REST_S:g} s")
        self._failing = True


def without_orders(text: str) -> str:
    """Return the text with a `[blocked: ...]` line for each that is poisoned, or that makes those before it so."""
    lines = [shown(line) for line in text.split("\n")]
    if reason_to_hide("\n".join(lines)):
        kept: list[str] = []
        for line in lines:
            reason = reason_to_hide("\n".join([*kept, line]))
            kept.append(blocked(reason) if reason else line)
        lines = kept
    return "\n".join(lines)


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
