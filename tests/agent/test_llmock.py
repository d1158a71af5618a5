"""The client and its retries against a server that others wrote, which also judges how it behaved."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent.events import AnswerDropped, Event, Notice
from agent.failures import ProviderFailed
from agent.messages import Completion
from agent.model import OpenAIModel
from agent.retry import complete

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "file_read",
            "description": "Read a file.",
            "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
        },
    }
]


def ask(llmock: Any, tools: Any = (), timeout_s: float = 30.0) -> tuple[Completion, list[Event]]:
    events: list[Event] = []

    async def main() -> Completion:
        model = OpenAIModel("gpt-4o", base_url=llmock.base_url("openai"), api_key="k", timeout_s=timeout_s)
        try:
            return await complete(model, [{"role": "user", "content": "Read a.txt"}], tools, emit=events.append)
        finally:
            await model.close()

    return asyncio.run(main()), events


def test_a_text_streams(llmock: Any) -> None:
    llmock.reply("It is a fine day.")

    assert ask(llmock)[0].content == "It is a fine day."
    llmock.assert_resilient(strict=True)


def test_a_tool_call_comes_whole(llmock: Any) -> None:
    llmock.call_tool("file_read", {"path": "a.txt"})

    completion, _ = ask(llmock, TOOLS)

    assert [(call.name, call.arguments.replace(" ", "")) for call in completion.calls] == [
        ("file_read", '{"path":"a.txt"}')
    ]
    llmock.assert_resilient(strict=True)


@pytest.mark.parametrize("fault", ["disconnect", "truncate", "corrupt"])
def test_a_stream_that_breaks_is_asked_for_again(llmock: Any, fault: str) -> None:
    llmock.reply("One two three four five six.", times=None)
    getattr(llmock, fault)(after_chunks=2)

    completion, events = ask(llmock)

    assert completion.content == "One two three four five six."
    assert [type(event) for event in events].count(AnswerDropped) == 1
    llmock.assert_resilient(strict=True)


def test_a_rate_limit_is_waited_for(llmock: Any) -> None:
    llmock.rate_limit(times=2, retry_after=0.3)
    llmock.reply("Now.")

    completion, events = ask(llmock)

    assert completion.content == "Now."
    assert [event.kind for event in events if isinstance(event, Notice)] == ["retry", "retry"]
    llmock.assert_resilient(strict=True)


def test_a_stream_that_stalls_times_out_and_is_asked_for_again(llmock: Any) -> None:
    llmock.reply("One two three four five six.", times=None)
    llmock.stall(seconds=20, after_chunks=2)

    completion, events = ask(llmock, timeout_s=0.5)

    assert completion.content == "One two three four five six."
    assert any("said nothing for 0.5 s" in event.text for event in events if isinstance(event, Notice))


def test_a_server_that_is_down_is_given_up(llmock: Any) -> None:
    llmock.fail(503, times=None)

    async def main() -> None:
        model = OpenAIModel("gpt-4o", base_url=llmock.base_url("openai"), api_key="k")
        await complete(model, [{"role": "user", "content": "hi"}], (), emit=lambda event: None, max_retries=1)

    with pytest.raises(ProviderFailed, match="given up after 2 attempts"):
        asyncio.run(main())
