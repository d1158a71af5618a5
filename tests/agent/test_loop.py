"""The loop: calls and results stay paired, whatever the model and the person do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from healed import heal

from agent import (
    Completion,
    ContextOverflow,
    Event,
    Message,
    Notice,
    Outcome,
    ProviderFailed,
    ScriptedModel,
    SessionUnavailable,
    TextDelta,
    ToolFinished,
    ToolStarted,
    react,
)
from tools import Tool, ToolCall, ToolRegistry


def calling(
    *calls: tuple[str, str, str], text: str = "", finish: str = "tool_calls", reasoning: str = ""
) -> Completion:
    found = tuple(ToolCall(*call) for call in calls)
    return Completion(content=text, calls=found, finish_reason=finish, reasoning=reasoning)


async def echo(text: str) -> str:
    """Say it again."""
    return text


async def fail(why: str = "always") -> str:
    """Fail."""
    raise ValueError(f"it failed: {why}")


class Stage:
    """One history that `react` plays on."""

    def __init__(self, script: Sequence[Any], *tools: Tool) -> None:
        self.model = ScriptedModel(script)
        self.history: list[Message] = [{"role": "system", "content": "s"}, {"role": "user", "content": "go"}]
        self.registry = ToolRegistry([Tool(echo, parallel=True), Tool(fail), *tools])
        self.events: list[Event] = []

    async def play(self, **options: Any) -> Outcome:
        return await react(
            self.model,
            self.history,
            self.registry,
            record=self.history.append,
            emit=self.events.append,
            max_retries=0,
            **options,
        )

    def run(self, **options: Any) -> Outcome:
        return asyncio.run(self.play(**options))

    def results(self) -> list[tuple[str, str]]:
        return [(m["tool_call_id"], m["content"]) for m in self.history if m["role"] == "tool"]

    def notices(self, kind: str) -> list[str]:
        return [event.text for event in self.events if isinstance(event, Notice) and event.kind == kind]


def test_an_answer_ends_the_turn() -> None:
    stage = Stage(["hello there"])
    outcome = stage.run()
    assert (outcome.text, outcome.finish_reason, outcome.steps) == ("hello there", "stop", 1)
    assert stage.history[-1] == {"role": "assistant", "content": "hello there"}
    assert "".join(event.text for event in stage.events if isinstance(event, TextDelta)) == "hello there"


def test_text_and_calls_stay_one_message() -> None:
    stage = Stage([calling(("a", "echo", '{"text": "x"}'), text="Looking."), "done"])
    stage.run()
    assert [message["role"] for message in stage.history] == ["system", "user", "assistant", "tool", "assistant"]
    assert stage.history[2]["content"] == "Looking."


def test_results_are_in_call_order_whatever_ends_first() -> None:
    async def slow(text: str) -> str:
        """Say it late."""
        await asyncio.sleep(0.05)
        return text

    script = [calling(("1", "slow", '{"text": "late"}'), ("2", "echo", '{"text": "soon"}')), "done"]
    stage = Stage(script, Tool(slow, parallel=True))
    stage.run()
    assert stage.results() == [("1", "late"), ("2", "soon")]
    ended = [event.call.id for event in stage.events if isinstance(event, ToolFinished)]
    assert ended == ["2", "1"]


@pytest.mark.parametrize("finish", ["length", "content_filter"])
def test_a_cut_off_answer_runs_none_of_its_calls(finish: str) -> None:
    script = [calling(("a", "echo", '{"text": "half'), ("b", "echo", '{"text": "x"}'), finish=finish), "smaller"]
    stage = Stage(script)
    assert stage.run().finish_reason == "stop"
    assert not [event for event in stage.events if isinstance(event, ToolStarted)]
    assert [call_id for call_id, _ in stage.results()] == ["a", "b"]
    assert all("truncated" in text and f"finish_reason={finish}" in text for _, text in stage.results())
    assert "not run" in stage.notices("truncated")[0]
    assert stage.history[2]["tool_calls"][0]["function"]["arguments"] == "{}"


def test_a_cut_off_text_is_told() -> None:
    stage = Stage([Completion(content="First, second and thi", finish_reason="length")])
    assert stage.run().finish_reason == "length"
    assert stage.notices("truncated")


def test_a_text_that_a_content_filter_cut_is_told_of() -> None:
    stage = Stage([Completion(content="The recipe is", finish_reason="content_filter")])
    assert stage.run().finish_reason == "content_filter"
    assert stage.notices("truncated")


def test_missing_and_reused_ids_become_unique() -> None:
    arguments = '{"text": "x"}'
    script = [
        calling(("", "echo", arguments), ("", "echo", arguments)),
        calling(("call_0", "echo", arguments)),
        calling(("call_0", "echo", arguments)),
        "done",
    ]
    stage = Stage(script)
    stage.run()
    ids = [call["id"] for message in stage.history for call in message.get("tool_calls") or ()]
    assert len(set(ids)) == 4
    assert [call_id for call_id, _ in stage.results()] == ids


@pytest.mark.parametrize("arguments", ["[1, 2]", '"text"', '{"text": ', "null", "17"])
def test_arguments_that_are_no_object_go_back_as_an_error(arguments: str) -> None:
    stage = Stage([calling(("a", "echo", arguments)), "mended"])
    stage.run()
    assert stage.history[2]["tool_calls"][0]["function"]["arguments"] == "{}"
    assert stage.results()[0][1].startswith("Error: ")


def test_an_unknown_tool_is_named_with_what_exists() -> None:
    stage = Stage([calling(("a", "read_the_file", "{}")), "sorry"])
    stage.run()
    assert "read_the_file" in stage.results()[0][1]
    assert "echo" in stage.results()[0][1]


def test_reasoning_is_kept_in_the_history() -> None:
    stage = Stage([calling(("a", "echo", '{"text": "x"}'), reasoning="I should."), "done"])
    stage.run()
    assert stage.history[2]["reasoning_content"] == "I should."


def test_the_step_limit_gives_a_last_word_without_tools() -> None:
    one = calling(("a", "echo", '{"text": "1"}'))
    stage = Stage([one, one, "So far: 1 and 1."])
    outcome = stage.run(max_steps=2)
    assert (outcome.text, outcome.finish_reason, outcome.steps) == ("So far: 1 and 1.", "limit", 3)
    assert [request.tool_choice for request in stage.model.requests] == ["auto", "auto", "none"]
    assert stage.model.requests[0].tools == stage.model.requests[2].tools
    assert stage.notices("limit")


def test_calls_in_the_last_word_are_not_run() -> None:
    one = calling(("a", "echo", '{"text": "1"}'))
    stage = Stage([one, one])
    outcome = stage.run(max_steps=1)
    assert (outcome.finish_reason, outcome.text) == ("limit", "")
    assert len([event for event in stage.events if isinstance(event, ToolStarted)]) == 1
    assert stage.history[-1]["role"] == "assistant"
    assert stage.history[-1]["content"].strip()


def test_an_identical_failing_call_is_told_at_three_and_stopped_at_five() -> None:
    stage = Stage([*[calling((f"c{n}", "fail", '{"why": "x"}')) for n in range(5)], "I give up."])
    outcome = stage.run(max_steps=50)
    assert outcome.finish_reason == "repeat"
    told = ["has failed" in text for _, text in stage.results()]
    assert told == [False, False, True, True, True]
    assert len(stage.model.requests) == 6
    assert stage.notices("repeat")


def test_other_failures_do_not_stop_the_turn() -> None:
    stage = Stage([*[calling((f"c{n}", "fail", f'{{"why": "{n}"}}')) for n in range(8)], "done"])
    assert stage.run().finish_reason == "stop"


def test_a_failed_request_leaves_a_history_that_alternates() -> None:
    stage = Stage([ProviderFailed("the server is down")])
    with pytest.raises(ProviderFailed):
        stage.run()
    assert stage.history[-1]["role"] == "assistant"
    assert "no answer" in stage.history[-1]["content"]


def test_a_request_that_is_too_long_is_made_again_once_there_is_room() -> None:
    stage = Stage([ContextOverflow("too long"), "fits"])
    asked: list[bool] = []

    async def make_room(overflow: ContextOverflow | None) -> bool:
        asked.append(overflow is not None)
        return overflow is not None

    assert stage.run(make_room=make_room).text == "fits"
    assert asked == [False, True]


def test_no_room_means_the_refusal_comes_through() -> None:
    stage = Stage([ContextOverflow("too long")])

    async def make_room(overflow: ContextOverflow | None) -> bool:
        return False

    with pytest.raises(ContextOverflow):
        stage.run(make_room=make_room)


@pytest.mark.parametrize("full_at", [0, 1, 2])
def test_calls_have_their_results_also_when_the_disk_fills(full_at: int) -> None:
    arguments = '{"text": "x"}'
    stage = Stage([calling(("a", "echo", arguments), ("b", "echo", arguments)), "done"])
    written = 0

    def record(message: Message) -> None:
        nonlocal written
        stage.history.append(message)
        written += 1
        if written > full_at:
            raise SessionUnavailable("the disk is full")

    with pytest.raises(SessionUnavailable):
        asyncio.run(react(stage.model, stage.history, stage.registry, record=record, max_retries=0))
    assert heal(stage.history[1:]) == stage.history[1:]
    assert [call_id for call_id, _ in stage.results()] == ["a", "b"]


def test_a_watcher_that_fails_does_not_end_the_turn() -> None:
    stage = Stage([calling(("a", "echo", '{"text": "x"}')), "done"])

    def broken(event: Event) -> None:
        raise RuntimeError("the screen went away")

    turn = react(stage.model, stage.history, stage.registry, record=stage.history.append, emit=broken)
    assert asyncio.run(turn).text == "done"


async def cancelled_when(stage: Stage, ready: Callable[[], bool]) -> None:
    turn = asyncio.create_task(stage.play())
    while not ready():
        await asyncio.sleep(0.001)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn


def test_a_cancel_in_a_stream_keeps_what_was_said() -> None:
    stage = Stage([Completion(content="The answer begins here")])

    class Stalling(ScriptedModel):
        async def stream(self, *args: Any, **options: Any) -> Any:
            yield "The answer "
            yield "begins"
            await asyncio.sleep(60)
            yield Completion()

    stage.model = Stalling([])
    asyncio.run(cancelled_when(stage, lambda: len([e for e in stage.events if isinstance(e, TextDelta)]) == 2))
    assert stage.history[-1]["content"] == "The answer begins\n\n[interrupted by the user]"


def test_a_cancel_before_the_first_word_leaves_no_empty_answer() -> None:
    stage = Stage([])
    stage.model = ScriptedModel(["late"], delay_s=60)
    asyncio.run(cancelled_when(stage, lambda: bool(stage.model.requests)))
    assert stage.history[-1] == {"role": "assistant", "content": "[interrupted by the user]"}


def test_a_cancel_in_the_second_of_three_calls_answers_all_three() -> None:
    running = asyncio.Event()

    async def hang() -> str:
        """Wait."""
        running.set()
        await asyncio.sleep(60)
        return "never"

    script = [calling(("1", "echo", '{"text": "first"}'), ("2", "hang", "{}"), ("3", "fail", "{}"))]
    stage = Stage(script, Tool(hang))
    asyncio.run(cancelled_when(stage, running.is_set))
    results = stage.results()
    assert [call_id for call_id, _ in results] == ["1", "2", "3"]
    assert results[0][1] == "first"
    assert "may have taken effect" in results[1][1]
    assert "before it started" in results[2][1]
