"""`Compactor`: keeps the requests of one agent inside its token budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agent.context import Cut, TokenMeter, plan_cut, summary_messages, summary_request
from agent.events import Emit, Notice, ignore
from agent.failures import ContextOverflow, ModelFailure
from agent.history import History
from agent.messages import Model, Usage
from agent.retry import complete

__all__ = ["Compactor"]

FITS = 0.75  # of a window: the answer needs room, and the estimate is one; or of a request that was refused
SUMMARIES = 8  # that are asked for at most, of a talk that is many times as long as the window


class Compactor:
    """Shortens a talk by whole rounds, with a summary by the model, at most once a turn and in big steps."""

    def __init__(self, history: History, budget_tokens: int, spent: Callable[[Usage], None]) -> None:
        self.budget_tokens = budget_tokens
        # As it was given, or what a server has shown to fit
        self.meter = TokenMeter()
        self._given_tokens = budget_tokens
        self._history = history
        self._spent = spent
        self._used = self._gave_up = False
        self._estimated = 0

    def begin(self) -> None:
        """A new turn: one compaction is allowed again."""
        self._used = self._gave_up = False

    def forget(self) -> None:
        """Another model answers from here on: what was learned of the last one does not hold."""
        self.budget_tokens, self.meter = self._given_tokens, TokenMeter()

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
        self,
        model: Model,
        schemas: Sequence[dict[str, Any]],
        *,
        overflow: ContextOverflow | None,
        emit: Emit,
        max_retries: int,
    ) -> bool:
        """Shorten the talk if the next request is over the budget, or if the server found it too long (`overflow`)."""
        fixed = self._estimate(schemas)
        if overflow is not None:
            why = "the server found the request too long"
            self._learn_limit(overflow, self._estimated, fixed)
            fixed = self._estimate(schemas)
        elif self._estimated <= self.budget_tokens:
            return False
        else:
            why = f"about {self._estimated} tokens, over the budget of {self.budget_tokens}"
        if fixed >= self.budget_tokens and overflow is None:
            return self._give_up(
                f"{why}, and about {fixed} tokens are the system prompt and the tools, which stay: fewer tools or "
                "shorter instructions would help",
                emit,
            )
        shorter = await self.shorten(model, emit=emit, max_retries=max_retries, why=why, fixed=fixed)
        self._estimate(schemas)
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
        emit(Notice("compaction", f"Context: {why}; compacting {len(cut.dropped)} older messages into a summary"))
        try:
            summary, cut = await self._sum_up(model, cut, fixed, max_retries)
        except ModelFailure as failure:
            return self._give_up(f"no summary could be made, nothing was dropped ({failure})", emit)
        if not summary:
            return self._give_up("the summary came back empty, nothing was dropped", emit)
        self._used = True
        self._history.shorten(summary_messages(summary, cut), keep=cut.keep)
        return True

    async def _sum_up(self, model: Model, cut: Cut, fixed: int, max_retries: int) -> tuple[str, Cut]:
        """Ask for the summary; where the model finds that too long, for one of less, with a cut that keeps less."""
        left = SUMMARIES
        while True:
            request = summary_request(cut, self.budget_tokens // 2)
            left -= 1
            try:
                completion = await complete(model, request, (), emit=ignore, max_retries=max_retries)
            except ContextOverflow as overflow:
                if not left:
                    raise
                self._learn_limit(overflow, self.meter.messages(request))
                cut = plan_cut(self._history.talk, self.meter, self.budget_tokens - fixed) or cut
            else:
                if completion.usage is not None:
                    self._spent(completion.usage)
                return completion.content.strip(), cut

    def _estimate(self, schemas: Sequence[dict[str, Any]]) -> int:
        """Count the next request; returns how much of it is no talk."""
        self.meter.forget_all_but(self._history.messages)
        fixed = self.meter.messages(self._history.messages[:1]) + self.meter.tools(schemas)
        self._estimated = fixed + self.meter.messages(self._history.talk)
        return fixed

    def _learn_limit(self, overflow: ContextOverflow, estimated: int, fixed: int = 0) -> None:
        """The window is smaller than we thought, in this turn and in those that follow."""
        self.meter.correct(estimated, overflow.sent_tokens or 0)
        fits = overflow.limit_tokens * FITS if overflow.limit_tokens else fixed + (estimated - fixed) * FITS
        self.budget_tokens = min(self.budget_tokens, int(fits))

    def _give_up(self, why: str, emit: Emit) -> bool:
        """Say once in a turn why the talk stays as it is."""
        if not self._gave_up:
            emit(Notice("compaction", f"Context: {why}"))
        self._gave_up = True
        return False
