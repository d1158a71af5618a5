"""`complete`: one whole answer, asked for again where that may help. The only place that retries."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from copy import copy
from typing import Any

from agent.events import AnswerDropped, Emit, Notice, TextDelta
from agent.failures import EmptyAnswer, ModelFailure, ProviderFailed
from agent.messages import Completion, Message, Model, ToolChoice

__all__ = ["complete"]

FIRST_WAIT_S = 0.5  # doubled from one retry to the next
LONGEST_WAIT_S = 60.0  # a server that asks for more is told to the user instead
EMPTY_RETRIES = 1  # what came back empty twice will do so again


async def complete(
    model: Model,
    messages: Sequence[Message],
    tools: Sequence[dict[str, Any]],
    *,
    tool_choice: ToolChoice = "auto",
    emit: Emit,
    max_retries: int = 4,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    rng: Callable[[], float] = random.random,
    partial: list[str] | None = None,
) -> Completion:
    """Ask `model` until it gives a whole answer, and return it.

    Text is emitted as it streams; what was shown of an answer that broke is taken back by `AnswerDropped`. `partial`
    holds the text under way, for a caller that is cancelled. Raises the last `ModelFailure` when it is not retryable,
    after `max_retries`, or when the server asks to wait longer than a minute.
    """
    shown: list[str] = [] if partial is None else partial
    shown.clear()
    failed = empty = 0
    while True:
        try:
            return await _answer(model.name, model.stream(messages, tools, tool_choice=tool_choice), emit, shown)
        except ModelFailure as failure:
            if shown:
                emit(AnswerDropped(str(failure)))
            empty += isinstance(failure, EmptyAnswer)
            if not failure.retryable or failed >= max_retries or empty > EMPTY_RETRIES:
                raise (_again(failure, f"given up after {failed + 1} attempts") if failed else failure) from None
            asked_s = failure.retry_after_s or 0.0
            if asked_s > LONGEST_WAIT_S:
                asked = f"{asked_s:.0f} s ({asked_s / 60:.0f} minutes)"
                why = f"the provider asks to wait {asked}, which is too long: try again then"
                raise _again(failure, why) from None
            backoff_s = FIRST_WAIT_S * 2**failed
            wait_s = max(backoff_s, asked_s) + 0.25 * backoff_s * rng()
            failed += 1
            shown.clear()
            why = f"retry {failed} of {max_retries} in {wait_s:.1f} s"
            emit(Notice("retry", str(_again(failure, why))))
        await sleep(wait_s)


async def _answer(name: str, pieces: AsyncIterator[str | Completion], emit: Emit, shown: list[str]) -> Completion:
    try:
        async for piece in pieces:
            if isinstance(piece, Completion):
                return piece
            shown.append(piece)
            emit(TextDelta(piece))
    finally:
        if isinstance(pieces, AsyncGenerator):
            await pieces.aclose()  # at once, and not when the collector finds it: the connection hangs on it
    raise ProviderFailed(f"The model {name!r} ended without an answer.")


def _again(failure: ModelFailure, why: str) -> ModelFailure:
    told = copy(failure)
    told.args = (f"{str(failure).rstrip('.')} ({why})",)
    return told
