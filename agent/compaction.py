"""`Compactor`: keeps the requests of one agent inside its token budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agent.context import TokenMeter, plan_cut, summary_messages, summary_request
from agent.events import Emit, Notice, ignore
from agent.failures import ModelFailure
from agent.history import History
from agent.messages import Message, Model, Usage
from agent.retry import complete

__all__ = ["Compactor"]

FITS_AFTER_REFUSAL = 0.8  # of the talk in a request that the server found too long


class Compactor:
    """Shortens a talk by whole rounds, with one summary request, at most once a turn and in big steps."""

    def __init__(self, history: History, budget_tokens: int, spent: Callable[[Usage], None]) -> None:
        self.budget_tokens = budget_tokens
        self.meter = TokenMeter()
        self._history = history
        self._spent = spent
        self._used = self._gave_up = False
        self._estimated = 0

    def begin(self) -> None:
        """A new turn: one compaction is allowed again."""
        self._used = self._gave_up = False

    def learn(self, usage: Usage | None) -> None:
        """Correct the estimate by what the server counted for the request that `make_room` saw last."""
        if usage is not None:
            self.meter.correct(self._estimated, usage.prompt_tokens)
            self._spent(usage)

    def parts(self, schemas: Sequence[dict[str, Any]], memory: str) -> dict[str, int]:
        """Return how many tokens of a request are tools, system, memory and talk (estimated)."""
        system, in_memory = self.meter.messages(self._history.messages[:1]), self.meter.text(memory)
        return {
            "tools": self.meter.tools(schemas),
            "system": max(0, system - in_memory),
            "memory": in_memory,
            "talk": self.meter.messages(self._history.talk),
        }

    async def make_room(
        self, model: Model, schemas: Sequence[dict[str, Any]], *, overflow: bool, emit: Emit, max_retries: int
    ) -> bool:
        """Shorten the talk if the next request is over the budget, or if the server found it too long (`overflow`)."""
        fixed = self.meter.messages(self._history.messages[:1]) + self.meter.tools(schemas)
        self._estimated = fixed + self.meter.messages(self._history.talk)
        if overflow:
            why = "the server found the request too long"
            # The window is smaller than we thought, in this turn and in those that follow.
            fits = fixed + int((self._estimated - fixed) * FITS_AFTER_REFUSAL)
            self.budget_tokens = min(self.budget_tokens, fits)
        elif self._estimated <= self.budget_tokens:
            return False
        else:
            why = f"about {self._estimated} tokens, over the budget of {self.budget_tokens}"
        if fixed >= self.budget_tokens:
            return self._give_up(
                f"{why}, and about {fixed} tokens are the system prompt and the tools, which stay: fewer tools, "
                "shorter instructions or a larger agent.context_budget would help",
                emit,
            )
        shorter = await self.shorten(model, emit=emit, max_retries=max_retries, why=why, fixed=fixed)
        self._estimated = fixed + self.meter.messages(self._history.talk)
        return shorter

    async def shorten(self, model: Model, *, emit: Emit, max_retries: int, why: str, fixed: int = 0) -> bool:
        """Put a summary in place of the older part of the talk. False, with a notice, where that cannot help.

        `fixed`: tokens of each request that are no talk.
        """
        if self._used:
            return self._give_up(f"{why}, and the talk was compacted in this turn already", emit)
        cut = plan_cut(self._history.talk, self.meter, self.budget_tokens - fixed)
        if cut is None:
            return self._give_up(f"{why}, and there are no older messages left to compact", emit)
        self._used = True
        emit(Notice("compaction", f"Context: {why}; compacting {len(cut.dropped)} older messages into a summary"))
        summary = await self._sum_up(model, summary_request(cut, self.budget_tokens), emit, max_retries)
        if summary:
            self._history.shorten(summary_messages(summary, cut), keep=cut.keep)
        return bool(summary)

    def _give_up(self, why: str, emit: Emit) -> bool:
        """Say once in a turn why the talk stays as it is."""
        if not self._gave_up:
            emit(Notice("compaction", f"Context: {why}"))
        self._gave_up = True
        return False

    async def _sum_up(self, model: Model, request: Sequence[Message], emit: Emit, max_retries: int) -> str:
        try:
            completion = await complete(model, request, (), emit=ignore, max_retries=max_retries)
        except ModelFailure as failure:
            emit(Notice("compaction", f"Context: no summary could be made, nothing was dropped ({failure})"))
            return ""
        if completion.usage is not None:
            self._spent(completion.usage)
        if not completion.content.strip():
            emit(Notice("compaction", "Context: the summary came back empty, nothing was dropped"))
        return completion.content.strip()
