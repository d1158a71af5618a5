"""The model of the tests: it plays its script and objects when a conversation does not simply grow."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent.failures import ProviderFailed
from agent.messages import Completion, Message
from agent.scripted import ScriptedModel
from tools import ToolCall

SYSTEM: Message = {"role": "system", "content": "Be brief."}
HI: Message = {"role": "user", "content": "hi"}
HELLO: Message = {"role": "assistant", "content": "hello"}
MORE: Message = {"role": "user", "content": "more"}
TOOLS = [{"type": "function", "function": {"name": "read"}}]


async def drink(model: ScriptedModel, *messages: Message, tools: Any = (), tool_choice: Any = "auto") -> list[Any]:
    return [piece async for piece in model.stream(messages, tools, tool_choice=tool_choice)]


def ask(model: ScriptedModel, *messages: Message, tools: Any = (), tool_choice: Any = "auto") -> Completion:
    *pieces, completion = asyncio.run(drink(model, *messages, tools=tools, tool_choice=tool_choice))
    assert "".join(pieces) == completion.content
    return completion


def test_answers_are_played_in_order() -> None:
    call = Completion(calls=(ToolCall("c", "read", "{}"),), finish_reason="tool_calls")
    model = ScriptedModel(["two words 世界", call])

    assert ask(model, SYSTEM, HI) == Completion("two words 世界")
    assert ask(model, SYSTEM, HI, HELLO, MORE) is call


def test_an_exception_in_the_script_is_raised() -> None:
    with pytest.raises(ProviderFailed, match="busy"):
        ask(ScriptedModel([ProviderFailed("busy")]), HI)


def test_functions_see_the_request_and_may_be_async() -> None:
    async def later(messages: Any, tools: Any) -> str:
        await asyncio.sleep(0)
        return f"{len(messages)} messages"

    model = ScriptedModel([lambda messages, tools: later, lambda messages, tools: tools[0]["function"]["name"]])

    assert ask(model, SYSTEM, HI, tools=TOOLS).content == "2 messages"
    assert ask(model, SYSTEM, HI, HELLO, MORE, tools=TOOLS).content == "read"


def test_one_function_may_answer_everything() -> None:
    model = ScriptedModel(lambda messages, tools: messages[-1]["content"].upper())

    assert [ask(model, HI).content, ask(model, MORE).content] == ["HI", "MORE"]


def test_requests_are_recorded_as_they_were() -> None:
    model, history = ScriptedModel(["a"]), [SYSTEM, dict(HI)]

    ask(model, *history, tools=TOOLS, tool_choice="none")
    history[1]["content"] = "changed"

    assert model.requests == [([SYSTEM, HI], TOOLS, "none")]


def test_a_script_that_is_over_says_so() -> None:
    model = ScriptedModel(["a"])
    ask(model, HI)

    with pytest.raises(AssertionError, match=r"request 2 came, but the script has 1 answers; .*more"):
        ask(model, HI, HELLO, MORE)


def test_something_else_than_an_answer_is_named() -> None:
    with pytest.raises(AssertionError, match="the script has 7 where"):
        ask(ScriptedModel([lambda messages, tools: 7]), HI)


def test_a_changed_prefix_is_refused_and_shown() -> None:
    model = ScriptedModel(["hello", "x"])
    ask(model, SYSTEM, HI)

    with pytest.raises(
        AssertionError, match=r"does not extend the one before it, from message 0 on:\n.*brief.*\n.*12:30"
    ):
        ask(model, {"role": "system", "content": "Be brief. It is 12:30."}, HI, HELLO, MORE)


def test_a_message_changed_in_place_is_noticed() -> None:
    model, system = ScriptedModel(["hello", "x"]), dict(SYSTEM)
    ask(model, system, HI)
    system["content"] += " "

    with pytest.raises(AssertionError, match="from message 0 on"):
        ask(model, system, HI, HELLO, MORE)


def test_a_history_that_got_shorter_is_refused() -> None:
    model = ScriptedModel(["a", "b", "c"])
    ask(model, SYSTEM, HI)
    ask(model, SYSTEM, HI, HELLO, MORE)

    with pytest.raises(AssertionError, match="does not extend"):
        ask(model, SYSTEM, HI, HELLO)


def test_changed_tools_are_refused() -> None:
    model = ScriptedModel(["a", "b"])
    ask(model, SYSTEM, HI, tools=TOOLS)

    with pytest.raises(AssertionError, match="changes the tools"):
        ask(model, SYSTEM, HI, HELLO, MORE, tools=[*TOOLS, *TOOLS])


def test_the_same_request_may_come_again() -> None:
    model = ScriptedModel([ProviderFailed("busy", retryable=True), "a"])
    with pytest.raises(ProviderFailed):
        ask(model, SYSTEM, HI)

    assert ask(model, SYSTEM, HI).content == "a"


def test_conversations_side_by_side_are_told_apart() -> None:
    model = ScriptedModel(["a"] * 6)
    for opening in (HI, MORE, HI):
        ask(model, SYSTEM, opening)

    for opening, answer in ((HI, "one"), (HI, "two"), (MORE, "three")):
        ask(model, SYSTEM, opening, {"role": "assistant", "content": answer}, {"role": "user", "content": "go on"})


def test_without_the_check_anything_goes() -> None:
    model = ScriptedModel(["a", "b"], check=False)
    ask(model, SYSTEM, HI, HELLO, MORE)

    assert ask(model, SYSTEM, HI, {"role": "assistant", "content": "other"}, tools=TOOLS).content == "b"


def test_a_delay_is_waited_and_parallel_requests_keep_their_order() -> None:
    async def main() -> list[str]:
        model = ScriptedModel(["first", "second"], delay_s=0.01)
        answers = await asyncio.gather(drink(model, HI), drink(model, MORE))
        return [answer[-1].content for answer in answers]

    assert asyncio.run(main()) == ["first", "second"]
