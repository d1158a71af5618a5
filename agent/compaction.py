"""`Compactor`: keeps the requests of one agent inside its token budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent.context import Cut, TokenMeter, plan_cut, summary_messages, summary_request
from agent.events import Emit, Notice, ignore
from agent.failures import ModelFailure
from agent.messages import Message, Model, Usage
from agent.retry import complete

__all__ = ["Compacted", "Compactor"]


@dataclass(frozen=True, slots=True)
class Compacted:
    """What a compaction came to: `messages` stand for all but the last `keep` of the talk."""

    messages: list[Message]
    keep: int
    usage: Usage


class Compactor:
    """Shortens a talk by whole rounds, with one summary request, at most once a turn and in big steps."""

    def __init__(self, budget_tokens: int) -> None:
        self.budget_tokens = budget_tokens
        self.meter = TokenMeter()
        self._used = False
        self._estimated = 0

    def begin(self) -> None:
        """A new turn: one compaction is allowed again."""
        self._used = False

    def measure(self, history: Sequence[Message], schemas: Sequence[dict[str, Any]]) -> int:
        """Return the tokens of the request that is about to be made, and remember them for `learn`."""
        self._estimated = self.meter.messages(history) + self.meter.tools(schemas)
        return self._estimated

    def learn(self, usage: Usage | None) -> None:
        """Correct the estimate by what the server counted for that request."""
        if usage is not None:
            self.meter.correct(self._estimated, usage.prompt_tokens)

    async def shorten(
        self, model: Model, talk: Sequence[Message], *, emit: Emit, max_retries: int, why: str
    ) -> Compacted | None:
        """Sum up the older part of `talk` (no system prompt in it). None, with a notice, where that cannot help."""
        if self._used:
            emit(Notice("compaction", f"Context: {why}, and the talk was compacted in this turn already"))
            return None
        cut = plan_cut(talk, self.meter, self.budget_tokens)
        if cut is None:
            emit(Notice("compaction", f"Context: {why}, and there are no older messages left to compact"))
            return None
        self._used = True
        emit(Notice("compaction", f"Context: {why}; compacting {len(cut.dropped)} older messages into a summary"))
        return await self._sum_up(model, cut, emit, max_retries)

    async def _sum_up(self, model: Model, cut: Cut, emit: Emit, max_retries: int) -> Compacted | None:
        request = summary_request(cut, self.budget_tokens)
        try:
            completion = await complete(model, request, (), emit=ignore, max_retries=max_retries, partial=[])
        except ModelFailure as failure:
            emit(Notice("compaction", f"Context: no summary could be made, nothing was dropped ({failure})"))
            return None
        if not completion.content.strip():
            emit(Notice("compaction", "Context: the summary came back empty, nothing was dropped"))
            return None
        return Compacted(summary_messages(completion.content, cut), cut.keep, completion.usage or Usage())
