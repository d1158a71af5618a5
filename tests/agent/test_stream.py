"""One answer put together from its pieces, whatever their order and numbering."""

from __future__ import annotations

from typing import Any

import pytest
from wire_answers import chunk

from agent.failures import (
    ContextOverflow,
    EmptyAnswer,
    KeyRefused,
    ModelFailure,
    ProviderFailed,
    RequestRefused,
)
from agent.messages import Completion, Usage
from agent.stream import Assembly, usage_of


def assemble(*deltas: dict[str, Any], finish: str | None = "stop") -> Completion:
    assembly = Assembly()
    for delta in deltas:
        assembly.add(chunk(delta))
    if finish:
        assembly.add(chunk({}, finish))
    return assembly.completion()


def tool(
    name: str | None = None, arguments: Any = None, call_id: str | int | None = None, index: int | str | None = None
) -> dict[str, Any]:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return {"tool_calls": [{"id": call_id, "index": index, "function": function}]}


def calls_of(*deltas: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(call.id, call.name, call.arguments) for call in assemble(*deltas, finish="tool_calls").calls]


TWO = [("x", "read", '{"p":"a"}'), ("y", "read", '{"p":"b"}')]
SAME_ID = [("x", *call[1:]) for call in TWO]
NO_ID = [("", *call[1:]) for call in TWO]
NUMBERED = [("7", *TWO[0][1:]), ("8", *TWO[1][1:])]


@pytest.mark.parametrize(
    ("deltas", "calls"),
    [
        ([tool("read", '{"p":', "x", 0), tool(None, '"a"}', None, 0), tool("read", '{"p":"b"}', "y", 1)], TWO),
        ([tool("read", '{"p":', "x"), tool(None, '"a"}'), tool("read", '{"p":"b"}', "y")], TWO),
        ([tool("read", '{"p":"a"}', "x", 0), tool("read", '{"p":"b"}', "y", 0)], TWO),
        ([tool("read", '{"p":', "x", 3), tool("read", '"a"}', "x", 3), tool("read", '{"p":"b"}', "y", 7)], TWO),
        ([tool("read", "", "x", 0), tool("", '{"p":"a"}', "", 0), tool("read", '{"p":"b"}', "y", 1)], TWO),
        (
            [
                tool("read", "", "x", 0),
                tool("read", "", "y", 1),
                tool(None, '{"p":"b"}', None, 1),
                tool(None, '{"p":"a"}', None, 0),
            ],
            TWO,
        ),
        (
            [
                tool("read", "", "x", "0"),
                tool("read", "", "y", "1"),
                tool(None, '{"p":"b"}', None, "1"),
                tool(None, '{"p":"a"}', None, "0"),
            ],
            TWO,
        ),
        ([tool("read", '{"p":', "x", 0), tool(None, '"a"}', "fresh", 0), tool("read", '{"p":"b"}', "y", 1)], TWO),
        ([tool("read", {"p": "a"}, "x", 0)], [("x", "read", '{"p": "a"}')]),
        ([tool("read", '{"p":"a"}', "x", 0), tool("read", '{"p":"a"}', "x", 0)], TWO[:1]),
        ([tool("a", '{"p":1}'), tool("b", '{"p":2}')], [("", "a", '{"p":1}'), ("", "b", '{"p":2}')]),
        ([tool("a", '{"p":1}'), tool("a", '{"p":2}')], [("", "a", '{"p":1}'), ("", "a", '{"p":2}')]),
        ([tool("a", '{"p":1}', "c", 0), tool("a", '{"p":2}', "c", 1)], [("c", "a", '{"p":1}'), ("c", "a", '{"p":2}')]),
        ([tool("a"), tool("b")], [("", "a", ""), ("", "b", "")]),
        ([tool("read", None, "x", 0)], [("x", "read", "")]),
        ([tool("read", "[1, 2]", "x", 0)], [("x", "read", "[1, 2]")]),
        ([tool("read", '{"p": "cut', "x", 0)], [("x", "read", '{"p": "cut')]),
        ([{"tool_calls": [None, {}, {"function": None}]}, tool("a", "{}", "x", 0)], [("x", "a", "{}")]),
        ([{"tool_calls": None, "content": None}, tool("a", "{}", "x", 0)], [("x", "a", "{}")]),
        # Arguments at an index that has no header
        ([tool("read", "", "x", 0), tool(None, '{"p":', None, 1), tool(None, '"a"}', None, 1)], TWO[:1]),
        (
            [
                tool("read", "", "x", 0),
                tool(None, '{"p":"a"}', None, 1),
                tool("read", "", "y", 1),
                tool(None, '{"p":"b"}', None, 2),
            ],
            TWO,
        ),
        ([tool("read", '{"p":"a"}', "x", 0), tool(None, '{"p":"b"}', None, 1), tool("read", "", "y", 1)], TWO),
        # One id for both calls
        (
            [
                tool("read", "", "x", 0),
                tool(None, '{"p":"a"}', None, 0),
                tool("read", "", "x", 1),
                tool(None, '{"p":"b"}', None, 1),
            ],
            SAME_ID,
        ),
        (
            [
                tool("read", "", "x", 0),
                tool(None, '{"p":"a"}', "x", 0),
                tool("read", "", "x", 1),
                tool(None, '{"p":"b"}', "x", 1),
            ],
            SAME_ID,
        ),
        (
            [tool("read", "", "x"), tool(None, '{"p":"a"}'), tool("read", "", "x"), tool(None, '{"p":"b"}')],
            SAME_ID,
        ),
        # No ids
        (
            [
                tool("read", "", None, 0),
                tool(None, '{"p":"a"}', None, 0),
                tool("read", "", None, 0),
                tool(None, '{"p":', None, 0),
                tool(None, '"b"}', None, 0),
            ],
            NO_ID,
        ),
        ([tool("read", ""), tool(None, '{"p":"a"}'), tool("read", ""), tool(None, '{"p":"b"}')], NO_ID),
        ([tool("read", '{"p":"a"}'), tool("read", '{"p"'), tool(None, ':"b"}')], NO_ID),
        (
            [tool("read", ' {"p": "\\\\'), tool(None, '"}'), tool("read", "{}")],
            [("", "read", ' {"p": "\\\\"}'), ("", "read", "{}")],
        ),
        # Ids and indexes that are other numbers
        ([tool("read", "", 7), tool(None, '{"p":"a"}', 7), tool("read", "", 8), tool(None, '{"p":"b"}', 8)], NUMBERED),
        ([tool("read", '{"p":', 7), tool(None, '"a"}'), tool("read", "", 8), tool(None, '{"p":"b"}')], NUMBERED),
        ([tool("read", '{"p":"a"}', "x", "9" * 5000)], TWO[:1]),
        # An empty object before the arguments
        ([tool("read", "{}", "x", 0), tool(None, '{"p":"a"}', None, 0)], TWO[:1]),
        ([tool("read", "{}", "x"), tool(None, '{"p":"a"}')], TWO[:1]),
        ([tool("read", "{", "x", 0), tool(None, " }", None, 0), tool(None, '{"p":"a"}', None, 0)], TWO[:1]),
        (
            [
                tool("read", "{}", "x", 0),
                tool("read", "{}", "y", 1),
                tool(None, "", None, 0),
                tool(None, " ", None, 0),
                tool(None, "{", None, 0),
                tool(None, '"p":"a', None, 0),
                tool(None, '"}', None, 0),
                tool(None, '{"p":"b"}', None, 1),
            ],
            TWO,
        ),
        ([tool("read", "{}", "x", 0), tool(None, "", None, 0), tool(None, "{}", None, 0)], [("x", "read", "{}")]),
        # One id for both calls, one of them without arguments
        ([tool("read", '{"p":"a"}', "x", 0), tool("read", "", "x", 1)], [TWO[0], ("x", "read", "")]),
        ([tool("read", "", "x", 0), tool("read", '{"p":"a"}', "x", 1)], [("x", "read", ""), TWO[0]]),
        (
            [tool("read", "", "x", 0), tool("read", "", "x", 1), tool(None, '{"p":"a"}', "x", 1)],
            [("x", "read", ""), TWO[0]],
        ),
        (
            [tool("read", "", "x", 0), tool("read", "", "x", 1), tool(None, '{"p":"a"}', "x", 0)],
            [TWO[0], ("x", "read", "")],
        ),
        # What comes after whole arguments and is no call
        ([tool("read", '{"p":"a"}', "x", 0), tool("read", "", "x", 0), tool("read", " ", "x", 0)], TWO[:1]),
        ([tool("read", '{"p":"a"}'), tool("read", "")], NO_ID[:1]),
        ([tool("read", '{"p":"a"}', "x", 0), tool("read", '{"p":"a"}', "x")], TWO[:1]),
        ([tool("read", '{"p":"a"}', "x", 0), tool(None, "", None, 1)], TWO[:1]),
    ],
)
def test_deltas_of_calls_find_their_call(deltas: list[dict[str, Any]], calls: list[tuple[str, str, str]]) -> None:
    assert calls_of(*deltas) == calls


def test_a_name_repeated_in_every_delta_is_assigned() -> None:
    pieces = ['{"content":', '"{\\"a\\":', " 1}", '"', "}"]

    assert calls_of(*(tool("write", piece, "x", 0) for piece in pieces)) == [("x", "write", "".join(pieces))]


def test_a_repeated_name_without_ids_does_not_divide_the_arguments() -> None:
    pieces = ["{", '"a": {}', ', "b": "}"', "}"]

    assert calls_of(*(tool("write", piece) for piece in pieces)) == [("", "write", "".join(pieces))]


@pytest.mark.parametrize("call_id", [None, "fresh"])
def test_the_work_does_not_grow_with_what_came_before(call_id: str | None) -> None:
    pieces = ['{"content": "', *["{}"] * 60_000, '"}']  # each of them might be the end
    deltas = [
        tool(None if call_id and place else "write", piece, f"{call_id}{place}" if call_id else None, 0)
        for place, piece in enumerate(pieces)
    ]

    assert [call[1:] for call in calls_of(*deltas)] == [("write", "".join(pieces))]


def test_text_and_calls_and_reasoning_are_one_answer() -> None:
    completion = assemble(
        {"role": "assistant", "reasoning_content": "Hm, "},
        {"reasoning": "yes."},
        {"content": "Look"},
        {"content": "ing."},
        tool("read", "{}", "x", 0),
        finish="tool_calls",
    )

    assert (completion.content, completion.reasoning) == ("Looking.", "Hm, yes.")
    assert completion.calls[0].name == "read"


def test_reasoning_in_two_fields_is_taken_once() -> None:
    assert assemble({"reasoning_content": "a", "reasoning": "a", "content": "b"}).reasoning == "a"


def test_content_may_be_a_list_of_parts() -> None:
    parts = [{"type": "thinking", "thinking": []}, {"type": "text", "text": "a"}, None]

    assert assemble({"content": parts}).content == "a"


def test_a_refusal_is_text() -> None:
    assert assemble({"content": None, "refusal": "I can't do that."}).content == "I can't do that."


def test_a_surrogate_pair_cut_in_two_is_one_letter_and_a_lone_half_is_replaced() -> None:
    assembly = Assembly()

    shown = [
        assembly.add(chunk({"content": text})) for text in ("a\ud83d", "\ude00b", "c\ud800d", "\udc00", "\0", "e\ud83d")
    ]
    assembly.add(chunk({}, "stop"))

    assert shown[:2] == ["a", "😀b"]
    content = assembly.completion().content
    assert content.startswith("a😀bc") and content.encode() and "\0" not in content
    assert content.startswith("".join(shown))


def test_strange_chunks_are_passed_over() -> None:
    assembly = Assembly()
    for strange in (
        {},
        {"choices": None},
        {"choices": []},
        {"choices": [None]},
        {"choices": [{}]},
        {"choices": [{"index": 0, "delta": None, "finish_reason": ""}]},
        {"choices": [{"delta": {"content": 5}}]},
        {"choices": "no"},
        {"usage": None, "error": None},
    ):
        assert assembly.add(strange) == ""
    assembly.add(chunk({"content": "ok"}, "stop"))

    assert assembly.completion().content == "ok"


def test_a_choice_without_an_index_is_the_same_answer() -> None:
    assembly = Assembly()
    assembly.add(chunk({"content": "a"}))
    assembly.add({"choices": [{"delta": {"content": "b"}, "finish_reason": "stop"}]})

    assert assembly.completion().content == "ab"


@pytest.mark.parametrize("finish", [None, "", "null"])
def test_without_a_finish_reason_it_was_cut(finish: str | None) -> None:
    assembly = Assembly()
    assembly.add(chunk({"content": "half an ans"}, finish))

    with pytest.raises(ProviderFailed, match="cut in the middle") as caught:
        assembly.completion()
    assert caught.value.retryable


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("MAX_TOKENS", "length"),
        ("max_output_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("ERROR_LIMIT", "length"),
        ("content_filter", "content_filter"),
        ("sensitive", "content_filter"),
        ("SAFETY", "content_filter"),
        ("RECITATION", "content_filter"),
        ("PROHIBITED_CONTENT", "content_filter"),
        ("refusal", "content_filter"),
        ("ERROR_TOXIC", "content_filter"),
        ("end_turn", "end_turn"),
        ("tool_calls", "tool_calls"),
        ("function_call", "function_call"),
        ("COMPLETE", "complete"),
        ("eos", "eos"),
    ],
)
def test_finish_reasons_of_other_providers_are_known(said: str, reason: str) -> None:
    assert assemble({"content": "x"}, finish=said).finish_reason == reason


@pytest.mark.parametrize(
    "reason",
    [
        "insufficient_system_resource",
        "network_error",
        "abort",
        "engine_overloaded",
        "MALFORMED_FUNCTION_CALL",
        "UNEXPECTED_TOOL_CALL",
        "error",
        "ERROR",
        "USER_CANCEL",
        "timeout",
        "rate_limit_exceeded",
    ],
)
def test_an_answer_that_the_provider_broke_off_is_a_failure(reason: str) -> None:
    with pytest.raises(ProviderFailed, match=reason.lower()) as caught:
        assemble({"content": "par"}, tool("read", "{}", "x", 0), finish=reason)
    assert caught.value.retryable and type(caught.value) is ProviderFailed


@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_a_closing_stop_does_not_make_a_cut_answer_whole(reason: str) -> None:
    assembly = Assembly()
    assembly.add(chunk({"content": "half"}, reason))
    assembly.add(chunk({}, "stop"))

    assert assembly.completion().finish_reason == reason


def test_a_chunk_with_a_message_instead_of_a_delta_is_the_answer() -> None:
    assembly = Assembly()
    assembly.add(chunk({"role": "assistant", "content": ""}))
    message = {"role": "assistant", "content": "Hi.", **tool("read", "{}", "x")}
    shown = assembly.add(
        {"choices": [{"message": message, "delta": {"role": "assistant"}, "finish_reason": "tool_calls"}]}
    )

    completion = assembly.completion()
    assert (shown, completion.content, completion.finish_reason) == ("Hi.", "Hi.", "tool_calls")
    assert [call.name for call in completion.calls] == ["read"]


def test_a_message_after_the_deltas_brings_what_they_lacked() -> None:
    assembly = Assembly()
    assembly.add(chunk({"content": "I look."}))
    assembly.add(chunk({"reasoning_content": "think"}))
    message = {"content": "I look.", "reasoning_content": "think", **tool("read", "{}", "x")}
    assembly.add({"choices": [{"message": message, "finish_reason": "tool_calls"}]})
    completion = assembly.completion()

    assert (completion.content, completion.reasoning) == ("I look.", "think")
    assert [call.name for call in completion.calls] == ["read"]


def test_a_message_after_the_deltas_repeats_them_and_is_not_added() -> None:
    assembly = Assembly()
    assembly.add(chunk({"content": "Hi."}))
    assembly.add({"choices": [{"message": {"content": "Hi."}, "finish_reason": "stop"}]})

    assert assembly.completion().content == "Hi."


@pytest.mark.parametrize(
    ("deltas", "finish", "word"),
    [
        ([], "stop", "neither text nor a tool call"),
        ([{"content": " \n"}], "stop", "neither"),
        ([{"reasoning_content": "I think"}], "stop", "reasoning only"),
        ([{"reasoning_content": "I think"}], "length", "length limit"),
        ([{"tool_calls": [{}]}], "tool_calls", "neither"),
        ([], "content_filter", "content filter"),
    ],
)
def test_an_answer_without_text_and_calls_is_empty(deltas: list[dict[str, Any]], finish: str, word: str) -> None:
    with pytest.raises(EmptyAnswer, match=word) as caught:
        assemble(*deltas, finish=finish)
    assert "empty" in str(caught.value)


@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        ({"message": "overloaded", "type": "server_error", "code": "overloaded"}, ProviderFailed, True),
        ("Overloaded", ProviderFailed, True),
        ({"code": 502, "message": "upstream"}, ProviderFailed, True),
        ({"code": 401, "message": "no"}, KeyRefused, False),
        ({"code": "invalid_api_key", "message": "no"}, KeyRefused, False),
        ({"type": "invalid_request_error", "message": "bad"}, RequestRefused, False),
        ({"code": "context_length_exceeded", "message": "x"}, ContextOverflow, False),
        ({"type": "insufficient_quota", "message": "x"}, ProviderFailed, False),
    ],
)
def test_an_error_in_the_stream_is_the_failure_it_is(error: object, kind: type[ModelFailure], retryable: bool) -> None:
    with pytest.raises(kind) as caught:
        Assembly().add({"error": error})
    assert type(caught.value) is kind
    assert caught.value.retryable is retryable


@pytest.mark.parametrize(
    "event",
    [
        {"object": "error", "message": "bad luck", "code": 500},
        {"choices": [{"delta": {}, "finish_reason": "error", "error": {"message": "bad luck", "code": 500}}]},
        {"choices": [{"delta": {"content": ""}, "finish_reason": "error"}]},
    ],
)
def test_errors_are_found_where_providers_put_them(event: dict[str, Any]) -> None:
    with pytest.raises(ProviderFailed) as caught:
        Assembly().add(event)
    assert caught.value.retryable


def test_a_base_resp_that_reports_an_error_is_one() -> None:
    with pytest.raises(KeyRefused, match="login fail: no key"):
        Assembly().add({"choices": None, "base_resp": {"status_code": 1004, "status_msg": "login fail: no key"}})


@pytest.mark.parametrize("base_resp", [{"status_code": 0, "status_msg": ""}, {"status_code": "0"}, {}, None, "odd"])
def test_a_base_resp_without_an_error_is_passed_over(base_resp: object) -> None:
    assembly = Assembly()

    assert assembly.add({**chunk({"content": "ok"}, "stop"), "base_resp": base_resp}) == "ok"


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 2}, Usage(9, 2)),
        ({"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}, Usage(9, 2, 4)),
        ({"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": None}, Usage(9, 2)),
        (
            {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 5}},
            Usage(9, 0, 4, 5),
        ),
        ({"prompt_tokens": 9, "prompt_cache_hit_tokens": 6, "prompt_cache_miss_tokens": 3}, Usage(9, 0, 6)),
        ({"prompt_tokens": 9, "cached_tokens": 7}, Usage(9, 0, 7)),
        ({"prompt_tokens": "9", "completion_tokens": None, "cached_tokens": -1}, Usage()),
    ],
)
def test_usage_is_read_under_every_name(usage: dict[str, Any], counted: Usage) -> None:
    assert usage_of(usage) == counted


def test_the_last_usage_counts() -> None:
    assembly = Assembly()
    assembly.add({**chunk({"content": "a"}), "usage": {"prompt_tokens": 1}})
    assembly.add(chunk({}, "stop"))
    assembly.add({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 1}})

    assert assembly.completion().usage == Usage(5, 1)


@pytest.mark.parametrize("last", [{}, {"prompt_tokens": 0, "completion_tokens": 0}, {"prompt_tokens": None}])
def test_a_usage_without_figures_leaves_those_that_came_before(last: dict[str, Any]) -> None:
    assembly = Assembly()
    assembly.add({**chunk({"content": "a"}, "stop"), "usage": {"prompt_tokens": 5, "completion_tokens": 1}})
    assembly.add({"choices": [], "usage": last})

    assert assembly.completion().usage == Usage(5, 1)


def test_a_usage_without_figures_is_none() -> None:
    assembly = Assembly()
    assembly.add({**chunk({"content": "a"}, "stop"), "usage": {}})

    assert assembly.completion().usage is None
