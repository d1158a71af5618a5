"""The client against a real server on this machine: what goes out, what comes in, and everything that breaks."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import time
import traceback
from collections.abc import Sequence
from typing import Any

import pytest
from loopback import Answer, Loopback, call, chunk, chunks, deltas, http, message, raw

from agent.failures import (
    ContextOverflow,
    EmptyAnswer,
    KeyRefused,
    ModelFailure,
    ProviderFailed,
    RequestRefused,
)
from agent.messages import Completion, Message, Usage
from agent.model import OpenAIModel

KEY = "sk-secret-0123456789abcdef"
ASK: list[Message] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}]
TOOLS = [{"type": "function", "function": {"name": "read", "parameters": {"type": "object", "properties": {}}}}]


async def drink(model: OpenAIModel, messages: Sequence[Message] = ASK, **options: Any) -> tuple[str, Completion]:
    pieces: list[str] = []
    async for piece in model.stream(messages, options.pop("tools", ()), **options):
        if isinstance(piece, Completion):
            return "".join(pieces), piece
        pieces.append(piece)
    raise AssertionError("no completion came")


def ask(server: Loopback, messages: Sequence[Message] = ASK, times: int = 1, **options: Any) -> Completion:
    """Ask `times` times with one client and return the last completion."""
    stream = {name: options.pop(name) for name in ("tools", "tool_choice") if name in options}

    async def main() -> Completion:
        model = OpenAIModel(options.pop("name", "m"), **{"base_url": server.url, "api_key": KEY, **options})
        try:
            for _ in range(times):
                shown, completion = await drink(model, messages, **stream)
                assert shown == completion.content
            return completion
        finally:
            await model.close()

    return asyncio.run(main())


def failure_of(*answers: Answer, **options: Any) -> ModelFailure:
    with Loopback(answers) as server:
        try:
            ask(server, **options)
        except ModelFailure as failure:
            assert KEY not in "".join(traceback.format_exception(failure))
            assert len(server.requests) == 1 and not server.problems
            return failure
    raise AssertionError("it did not fail")


# --- what comes in


def test_text_streams_and_ends_as_a_completion() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}
    with Loopback([deltas([{"content": "Hel"}, {"content": "lo 世界"}], usage=usage)]) as server:
        completion = ask(server)

    assert completion == Completion("Hello 世界", usage=Usage(9, 2, 4))


def test_calls_and_reasoning_come_whole() -> None:
    with Loopback([message(None, [call("read", {"path": "a"}, "x")], reasoning="Look.")]) as server:
        completion = ask(server, tools=TOOLS)

    assert [(one.id, one.name, one.arguments) for one in completion.calls] == [("x", "read", '{"path": "a"}')]
    assert (completion.finish_reason, completion.reasoning) == ("tool_calls", "Look.")


@pytest.mark.parametrize("framing", ["chunked", "length", "close"])
def test_a_stream_is_read_however_its_body_ends(framing: Any) -> None:
    with Loopback([message("one", framing=framing), message("two", framing=framing)]) as server:
        assert ask(server, times=2).content == "two"


def test_a_chunk_may_come_in_pieces_of_bytes() -> None:
    data = f"data: {json.dumps(chunk({'content': '世界 😀'}, 'stop'), ensure_ascii=False)}\n\ndata: [DONE]\n\n".encode()
    pieces = [data[at : at + 3] for at in range(0, len(data), 3)]
    with Loopback([raw(*pieces, gap_s=0.0005)]) as server:
        assert ask(server).content == "世界 😀"


def test_one_connection_serves_many_requests() -> None:
    with Loopback([message("a"), message("b"), message("c")]) as server:
        ask(server, times=3)

        assert (server.connections, len(server.requests)) == (1, 3)


def test_an_answer_that_is_not_streamed_is_taken_all_the_same() -> None:
    whole = {"choices": [{"message": {"content": "whole", "tool_calls": None}, "finish_reason": "stop"}], "usage": {}}
    with Loopback([http(200, json.dumps(whole, indent=2))]) as server:
        assert ask(server).content == "whole"


def test_what_breaks_after_the_finish_reason_does_not_spoil_the_answer() -> None:
    broken = [
        deltas([{"content": "ok"}], done=False, close="abrupt"),
        deltas([{"content": "ok"}], done=False, close="reset"),
        chunks([chunk({"content": "ok"}, "stop"), "{oops", ""], done=False),
        chunks([chunk({"content": "ok"}, "stop"), {"error": {"message": "late"}}]),
        deltas([{"content": "ok"}], done=False),
    ]
    with Loopback(broken) as server:
        assert ask(server, times=len(broken)).content == "ok"


def test_a_server_that_never_ends_its_stream_is_left_after_the_finish_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.answer_reader.GRACE_S", 0.05)
    with Loopback([deltas([{"content": "ok"}], done=False, stall_after=2)]) as server:
        assert ask(server).content == "ok"


# --- what breaks


@pytest.mark.parametrize("close", ["clean", "abrupt", "reset"])
@pytest.mark.parametrize(
    "pieces", [[], [{"content": "half an ans"}], [{"tool_calls": [{"index": 0, **call("read", '{"pa')}]}]]
)
def test_a_stream_without_a_finish_reason_is_a_dropped_one(pieces: list[dict[str, Any]], close: Any) -> None:
    failure = failure_of(deltas(pieces, None, done=False, close=close))

    assert type(failure) is ProviderFailed and failure.retryable


def test_done_without_a_finish_reason_is_a_dropped_stream() -> None:
    failure = failure_of(deltas([{"content": "half"}], None, done=True))

    assert type(failure) is ProviderFailed and failure.retryable and "cut" in str(failure)


@pytest.mark.parametrize("content_type", ["text/event-stream", "application/json"])
def test_an_answer_of_nothing_is_a_dropped_stream(content_type: str) -> None:
    failure = failure_of(raw(content_type=content_type))

    assert type(failure) is ProviderFailed and failure.retryable


def test_comments_alone_are_a_dropped_stream() -> None:
    assert failure_of(raw(b": wait\n\n", b": wait\n\n")).retryable


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ("<html><title>Sign in</title></html>", "an HTML page ('Sign in')"),
        ("\n<!DOCTYPE html><body>captive portal</body>", "captive portal"),
        ('{"hello": "world"}', "not an OpenAI-compatible"),
        ("Ollama is running", "Ollama is running"),
    ],
)
def test_a_page_with_status_200_is_no_answer(body: str, word: str) -> None:
    failure = failure_of(http(200, body, headers={"Content-Type": "text/html"}))

    assert type(failure) is ProviderFailed and not failure.retryable
    assert word in str(failure) and "base URL" in str(failure)


def test_an_error_object_with_status_200_is_the_failure_it_is() -> None:
    failure = failure_of(http(200, {"error": {"message": "busy", "code": 503}}))

    assert type(failure) is ProviderFailed and failure.retryable and "busy" in str(failure)


def test_half_a_json_answer_is_a_dropped_one() -> None:
    assert failure_of(http(200, '{"choices": [{"mess')).retryable


def test_an_error_event_ends_the_answer() -> None:
    failure = failure_of(chunks([chunk({"content": "x"}), {"error": {"message": "overloaded"}}], done=False))

    assert failure.retryable and "overloaded" in str(failure)


def test_data_that_is_not_json_ends_the_answer() -> None:
    failure = failure_of(chunks([chunk({"content": "x"}), "{oops}"], stall_after=2))

    assert type(failure) is ProviderFailed and failure.retryable and "{oops}" in str(failure)


def test_an_empty_answer_is_a_failure_of_its_own() -> None:
    assert type(failure_of(message(""))) is EmptyAnswer
    assert "reasoning only" in str(failure_of(message(None, reasoning="Hm.")))


def test_silence_is_a_timeout() -> None:
    for answer in (message("late", delay_s=30), deltas([{"content": "a"}, {"content": "b"}], stall_after=1)):
        failure = failure_of(answer, timeout_s=0.1)

        assert type(failure) is ProviderFailed and failure.retryable
        assert "said nothing for 0.1 s" in str(failure)


def test_a_server_that_is_not_there_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    async def main() -> None:
        await drink(OpenAIModel("m", base_url=f"http://127.0.0.1:{port}/v1", api_key=KEY))

    with pytest.raises(ProviderFailed, match=f"{port}/v1.*connection refused") as caught:
        asyncio.run(main())
    assert caught.value.retryable


def test_a_host_that_does_not_exist_is_named() -> None:
    async def main() -> None:
        await drink(OpenAIModel("m", base_url="http://no-such-host.invalid/v1", api_key=KEY))

    with pytest.raises(ProviderFailed, match=r"no-such-host\.invalid/v1 was not found"):
        asyncio.run(main())


def test_a_server_without_tls_is_named() -> None:
    with Loopback() as server, pytest.raises(ProviderFailed, match="No TLS connection") as caught:
        ask(server, base_url=server.url.replace("http:", "https:"))
    assert not caught.value.retryable


def test_a_redirect_from_http_to_https_never_trusts_anybody() -> None:
    with (
        Loopback() as other,
        Loopback([http(307, headers={"Location": other.url.replace("http:", "https:")})]) as server,
    ):
        with pytest.raises(ModelFailure):
            ask(server)
        assert not other.requests


def test_a_proxy_that_cannot_be_used_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "gopher://127.0.0.1:9")
    model = OpenAIModel("m", base_url="http://127.0.0.1:9/v1", api_key=KEY)
    model.warm_up()

    with pytest.raises(ProviderFailed, match="gopher") as caught:
        asyncio.run(drink(model))
    assert not caught.value.retryable


# --- refusals


@pytest.mark.parametrize(
    ("status", "body", "kind", "words"),
    [
        (400, {"error": {"message": "messages.1 is odd", "code": "bad"}}, RequestRefused, "messages.1 is odd"),
        (401, {"error": {"message": f"Incorrect API key provided: {KEY}"}}, KeyRefused, "API key was refused (401"),
        (401, {"error": {"message": "Incorrect API key: sk-secre***cdef"}}, KeyRefused, "[key removed]"),
        (403, "<html><title>Forbidden</title></html>", KeyRefused, "Forbidden"),
        (404, {"error": {"message": "model 'm' not found"}}, RequestRefused, "Check the model name 'm'"),
        (422, {"detail": [{"loc": ["body", "messages"], "msg": "odd"}]}, RequestRefused, "body.messages: odd"),
        (400, {"error": {"message": "x", "code": "context_length_exceeded"}}, ContextOverflow, "too long"),
        (413, "", ContextOverflow, "too long"),
        (500, "", ProviderFailed, "500 Internal Server Error"),
        (529, {"error": "Overloaded"}, ProviderFailed, "529: Overloaded"),
    ],
)
def test_a_refusal_is_told_in_the_servers_words(status: int, body: Any, kind: type[ModelFailure], words: str) -> None:
    failure = failure_of(http(status, body))

    assert type(failure) is kind
    assert words in str(failure) and failure.status == status
    assert failure.retryable is (kind is ProviderFailed)


def test_the_wait_that_the_server_asks_for_is_kept() -> None:
    assert failure_of(http(429, "", headers={"Retry-After": "7"})).retry_after_s == 7


def test_without_a_key_and_a_server_of_ones_own_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)

    with pytest.raises(KeyRefused, match="OPENAI_API_KEY"):
        asyncio.run(drink(OpenAIModel("m")))


@pytest.mark.parametrize("key", ["sk-ключ-0123456789", "sk-two\nlines-0123456789", "two words"])
def test_a_key_that_cannot_be_sent_is_refused_without_being_shown(key: str) -> None:
    with Loopback() as server:
        with pytest.raises(KeyRefused) as caught:
            ask(server, api_key=key)
        assert key not in str(caught.value) and not server.requests


def test_a_key_of_the_environment_is_not_sent_to_another_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with Loopback([message("a")]) as server:
        ask(server, api_key=None)

        assert server.requests[0].headers["authorization"] == "Bearer none"


def test_key_and_address_of_the_environment_go_together(monkeypatch: pytest.MonkeyPatch) -> None:
    with Loopback([message("a")]) as server:
        monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        ask(server, base_url=None, api_key=None)

        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


# --- what goes out


def test_the_request_holds_what_is_wanted_and_nothing_else() -> None:
    with Loopback([message("a")]) as server:
        ask(server, name="m-1", tools=TOOLS, tool_choice="none", cache_key="c", extra_body={"temperature": 0})

        assert server.requests[0].data == {
            "model": "m-1",
            "messages": ASK,
            "tools": TOOLS,
            "tool_choice": "none",
            "stream": True,
            "stream_options": {"include_usage": True},
            "prompt_cache_key": "c",
            "temperature": 0,
        }


@pytest.mark.parametrize(
    "suffix", ["", "/", "/v1", "/v1/", "/v1/chat/completions", "/api/paas/v4", "/v1/?version=2", " "]
)
def test_base_urls_are_taken_as_people_write_them(suffix: str) -> None:
    with Loopback([message("a")]) as server:
        ask(server, base_url=server.url.removesuffix("/v1") + suffix)

        wanted = {"/api/paas/v4": "/api/paas/v4/chat/completions", "/v1/?version=2": "/v1/chat/completions?version=2"}
        assert server.requests[0].path == wanted.get(suffix, "/v1/chat/completions")


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://host", "http://", ""])
def test_a_base_url_that_is_none_is_refused_at_once(url: str) -> None:
    with pytest.raises(ValueError, match="must look like"):
        OpenAIModel("m", base_url=url)


def test_a_password_in_the_base_url_is_not_shown() -> None:
    with Loopback([http(404, "x")]) as server, pytest.raises(RequestRefused) as caught:
        ask(server, base_url=server.url.replace("http://", "http://user:pass-word@") + "?key=query-key")
    assert "pass-word" not in str(caught.value) and "query-key" not in str(caught.value)


def test_the_fields_of_the_client_cannot_be_replaced() -> None:
    with pytest.raises(ValueError, match="messages, stream"):
        OpenAIModel("m", extra_body={"messages": [], "stream": False})


# --- fields that the server does not take


@pytest.mark.parametrize(
    ("field", "status", "body"),
    [
        ("stream_options", 400, {"error": {"message": "Unrecognized request argument supplied: stream_options"}}),
        ("stream_options", 422, {"detail": [{"loc": ["body", "stream_options"], "msg": "Extra inputs"}]}),
        ("prompt_cache_key", 400, {"error": {"message": "Unknown parameter: 'prompt_cache_key'."}}),
        ("tool_choice", 400, {"error": {"message": "tool_choice is not supported"}}),
        ("stream_options", 400, {"error": {"message": "Unknown parameter.", "param": "stream_options"}}),
        ("stream_options", 400, {"error": {"message": f"{'Long words. ' * 90}Unknown: stream_options"}}),
        ("stream_options", 400, {"error": {"message": "json: unknown field\ninclude_usage"}}),
        ("stream_options", 400, {"error": {"message": "Extra fields:\nstream_options"}}),
    ],
)
def test_a_field_that_is_refused_is_left_out_from_then_on(field: str, status: int, body: Any) -> None:
    with Loopback([http(status, body), message("a"), message("b")]) as server:
        ask(server, times=2, tools=TOOLS, tool_choice="none", cache_key="c")

        first, *rest = [request.data for request in server.requests]
        assert field in first and len(rest) == 2
        for data in rest:
            assert {name: data.get(name) for name in ("messages", "tools")} == {"messages": ASK, "tools": TOOLS}
            assert field not in data


def test_a_refusal_that_names_nothing_of_ours_is_not_tried_again() -> None:
    failure = failure_of(http(400, {"error": {"message": "tool_choice and prompt_cache_key need a licence"}}))

    assert type(failure) is RequestRefused


def test_two_requests_at_once_may_both_meet_the_refusal() -> None:
    def answer(request: Any) -> Answer:
        refuse = "stream_options" in request.data
        return http(400, {"error": {"message": "no stream_options"}}, delay_s=0.05) if refuse else message("a")

    async def main(server: Loopback) -> list[str]:
        model = OpenAIModel("m", base_url=server.url, api_key=KEY)
        answers = await asyncio.gather(*(drink(model) for _ in range(3)))
        await model.close()
        return [completion.content for _, completion in answers]

    with Loopback(answer) as server:
        assert asyncio.run(main(server)) == ["a"] * 3


# --- reasoning

THOUGHT: list[Message] = [
    *ASK,
    {"role": "assistant", "content": "a", "reasoning_content": "deep thought"},
    {"role": "user", "content": "and?"},
]


@pytest.mark.parametrize(
    ("options", "replayed"),
    [
        ({}, False),
        ({"replay_reasoning": True}, True),
        ({"name": "deepseek-reasoner"}, True),
        ({"name": "kimi-k2-thinking"}, True),
        ({"name": "qwen3-235b-a22b-thinking"}, True),
        ({"name": "deepseek-chat", "replay_reasoning": False}, False),
    ],
)
def test_reasoning_is_sent_back_where_the_provider_wants_it(options: dict[str, Any], replayed: bool) -> None:
    with Loopback([message("a")]) as server:
        ask(server, THOUGHT, **options)

        assert ("reasoning_content" in server.requests[0].messages[2]) is replayed
        assert THOUGHT[2]["reasoning_content"] == "deep thought"


@pytest.mark.parametrize("name", ["m", "deepseek-reasoner"])
def test_a_guess_about_reasoning_is_mended_by_the_servers_words(name: str) -> None:
    refusal = http(400, {"error": {"message": "The reasoning_content in the thinking mode must (not) be passed back"}})
    with Loopback([refusal, message("a"), message("b")]) as server:
        ask(server, THOUGHT, name=name, times=2)

        sent = ["reasoning_content" in request.messages[2] for request in server.requests]
        assert sent == [name != "m", name == "m", name == "m"]


# --- cancel, loops, loading


@pytest.mark.parametrize(
    "answer",
    [message("late", delay_s=30), deltas([{"content": "begin"}, {"content": "more"}], stall_after=1)],
    ids=["before the first byte", "in the stream"],
)
def test_a_cancel_closes_the_connection_at_once(answer: Answer) -> None:
    async def main(server: Loopback) -> float:
        model = OpenAIModel("m", base_url=server.url, api_key=KEY)
        asking = asyncio.create_task(drink(model))
        await asyncio.to_thread(server.wait_until, lambda: server.requests)
        await asyncio.sleep(0.05)
        began = time.monotonic()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await asyncio.to_thread(server.wait_until, lambda: server.requests[0].hung_up)
        hung_up = server.requests[0].hung_up
        server.add(message("again"))
        assert (await drink(model))[0] == "again"
        await model.close()
        return (hung_up or 0) - began

    with Loopback([answer]) as server:
        assert asyncio.run(main(server)) < 2


def test_a_reader_that_stops_closes_the_connection() -> None:
    async def main(server: Loopback) -> None:
        model = OpenAIModel("m", base_url=server.url, api_key=KEY)
        pieces = model.stream(ASK, ())
        assert await anext(pieces) == "begin"
        await pieces.aclose()  # type: ignore[attr-defined]
        await asyncio.to_thread(server.wait_until, lambda: server.requests[0].hung_up)
        await model.close()

    with Loopback([deltas([{"content": "begin"}, {"content": "more"}], stall_after=1)]) as server:
        asyncio.run(main(server))


def test_one_client_serves_one_event_loop_after_the_other() -> None:
    with Loopback([message("a"), message("b"), message("c")]) as server:
        model = OpenAIModel("m", base_url=server.url, api_key=KEY)
        for wanted in "abc":
            with asyncio.Runner() as runner:
                assert runner.run(drink(model))[0] == wanted


def test_a_client_warmed_up_in_a_thread_is_used() -> None:
    async def main(server: Loopback) -> str:
        model = OpenAIModel("m", base_url=server.url, api_key=KEY)
        await asyncio.to_thread(model.warm_up)
        shown, _ = await drink(model)
        await model.close()
        return shown

    with Loopback([message("a")]) as server:
        assert asyncio.run(main(server)) == "a"


def test_a_client_is_built_without_loading_the_package() -> None:
    program = (
        "import sys, agent.model; agent.model.OpenAIModel('m', base_url='http://h'); print('openai' in sys.modules)"
    )

    async def main() -> str:
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE)
        return (await process.communicate())[0].decode().strip()

    assert asyncio.run(main()) == "False"
