"""One whole answer, asked for again where that may help."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import pytest

from agent.events import AnswerDropped, Event, Notice, TextDelta
from agent.failures import (
    ContextOverflow,
    EmptyAnswer,
    KeyRefused,
    ModelFailure,
    ProviderFailed,
    RequestRefused,
)
from agent.messages import Completion
from agent.retry import complete

ASK = [{"role": "user", "content": "hi"}]


class Flaky:
    """A model whose answers are lists of pieces; an exception in one is raised when its turn comes."""

    name = "flaky"

    def __init__(self, *answers: Sequence[str | Completion | BaseException]) -> None:
        self.answers = list(answers)
        self.asked = 0
        self.closed = 0

    async def stream(self, messages: Any, tools: Any, *, tool_choice: str = "auto") -> AsyncIterator[str | Completion]:
        self.asked += 1
        try:
            for piece in self.answers.pop(0):
                if isinstance(piece, BaseException):
                    raise piece
                yield piece
        finally:
            self.closed += 1

    async def close(self) -> None: ...


def play(
    model: Flaky, *, max_retries: int = 4, rng: Callable[[], float] = lambda: 0.0, partial: list[str] | None = None
) -> tuple[Completion | ModelFailure, list[Event], list[float]]:
    events: list[Event] = []
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async def main() -> Completion | ModelFailure:
        try:
            return await complete(
                model, ASK, (), emit=events.append, max_retries=max_retries, sleep=sleep, rng=rng, partial=partial
            )
        except ModelFailure as failure:
            return failure

    return asyncio.run(main()), events, waits


def busy(retry_after_s: float | None = None) -> ProviderFailed:
    return ProviderFailed("The provider answered 429: busy", status=429, retryable=True, retry_after_s=retry_after_s)


DONE = Completion("hello")


def test_a_first_answer_is_streamed_and_returned() -> None:
    result, events, waits = play(Flaky(["hel", "lo", DONE]))

    assert (result, waits) == (DONE, [])
    assert events == [TextDelta("hel"), TextDelta("lo")]


def test_waits_double_and_end_after_the_last_retry() -> None:
    model = Flaky(*[[busy()]] * 9)

    result, events, waits = play(model)

    assert model.asked == 5 and waits == [0.5, 1, 2, 4]
    assert type(result) is ProviderFailed and result.status == 429
    assert str(result) == "The provider answered 429: busy (given up after 5 attempts)"
    assert events == [
        Notice("retry", f"The provider answered 429: busy (retry {number} of 4 in {wait:.1f} s)")
        for number, wait in enumerate(waits, 1)
    ]


def test_jitter_only_adds() -> None:
    assert play(Flaky(*[[busy(2)]] * 9), rng=lambda: 1.0)[2] == [2.125, 2.25, 2.5, 5]


def test_the_wait_that_the_server_asks_for_is_a_lower_bound() -> None:
    result, _, waits = play(Flaky([busy(3)], [busy(0.1)], ["hello", DONE]))

    assert (result, waits) == (DONE, [3, 1])


def test_a_wait_of_more_than_a_minute_is_told_instead() -> None:
    model = Flaky([busy(3600)])

    result, _, waits = play(model)

    assert (model.asked, waits) == (1, [])
    assert isinstance(result, ProviderFailed) and result.retry_after_s == 3600
    assert "asks to wait 3600 s (60 minutes)" in str(result)


def test_a_wait_of_just_a_minute_is_kept() -> None:
    assert play(Flaky([busy(60)], [DONE]))[2] == [60]


@pytest.mark.parametrize("kind", [KeyRefused, RequestRefused, ContextOverflow, ProviderFailed])
def test_what_asking_again_would_not_help_is_raised_as_it_is(kind: type[ModelFailure]) -> None:
    failure = kind("no")

    assert play(Flaky([failure]))[0] is failure


def test_a_failure_after_a_retry_keeps_what_it_knows() -> None:
    result, _, _ = play(Flaky([busy()], [ContextOverflow("too long", status=400, limit_tokens=8192, sent_tokens=9000)]))

    assert isinstance(result, ContextOverflow) and "after 2 attempts" in str(result)
    assert (result.status, result.limit_tokens, result.sent_tokens) == (400, 8192, 9000)


def test_without_retries_the_first_failure_counts() -> None:
    failure = busy()

    assert play(Flaky([failure]), max_retries=0)[0] is failure


def test_what_was_shown_of_a_broken_answer_is_taken_back() -> None:
    broken = ProviderFailed("cut", retryable=True)
    partial: list[str] = ["left from before"]

    result, events, _ = play(Flaky(["half", broken], ["hello", DONE]), partial=partial)

    assert result == DONE and partial == ["hello"]
    assert events[:2] == [TextDelta("half"), AnswerDropped("cut")]
    assert isinstance(events[2], Notice) and events[3:] == [TextDelta("hello")]


def test_what_was_shown_is_taken_back_when_it_is_given_up_too() -> None:
    events = play(Flaky(["half", ProviderFailed("cut")]))[1]

    assert events == [TextDelta("half"), AnswerDropped("cut")]


def test_an_empty_answer_is_asked_for_once_more_only() -> None:
    model = Flaky(*[[EmptyAnswer("empty", retryable=True)]] * 9)

    result, _, waits = play(model)

    assert (model.asked, waits) == (2, [0.5])
    assert type(result) is EmptyAnswer


def test_an_empty_answer_between_other_failures_counts_once() -> None:
    empty = EmptyAnswer("empty", retryable=True)

    assert play(Flaky([busy()], [empty], [busy()], [DONE]))[0] == DONE


def test_a_cancel_leaves_the_partial_text_and_closes_the_stream() -> None:
    class Stuck(Flaky):
        async def stream(self, *_: Any, **__: Any) -> AsyncIterator[str | Completion]:
            try:
                yield "half an "
                yield "answer"
                await asyncio.sleep(60)
            finally:
                self.closed += 1

    async def main() -> tuple[str, int]:
        model, partial, shown = Stuck(), [], asyncio.Event()  # type: ignore[var-annotated]

        def emit(event: Event) -> None:
            if event == TextDelta("answer"):
                shown.set()

        asking = asyncio.create_task(complete(model, ASK, (), emit=emit, partial=partial))
        await shown.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        return "".join(partial), model.closed

    assert asyncio.run(main()) == ("half an answer", 1)


def test_a_cancel_ends_a_wait() -> None:
    async def main() -> int:
        model, told = Flaky([busy(50)]), asyncio.Event()
        asking = asyncio.create_task(complete(model, ASK, (), emit=lambda event: told.set()))
        await told.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        return model.asked

    assert asyncio.run(main()) == 1


def test_a_watcher_that_fails_closes_the_stream() -> None:
    model = Flaky(["a", "b", DONE])

    def emit(event: Event) -> None:
        raise OSError("screen gone")

    with pytest.raises(OSError, match="screen gone"):
        asyncio.run(complete(model, ASK, (), emit=emit))
    assert model.closed == 1


def test_a_model_that_ends_without_an_answer_is_named() -> None:
    assert "'flaky' ended without an answer" in str(play(Flaky(["text"]))[0])
