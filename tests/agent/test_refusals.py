"""What providers say in refusal, as the failure it is."""

from __future__ import annotations

import json
import time
from email.utils import formatdate

import pytest

from agent.failures import ContextOverflow, KeyRefused, ModelFailure, ProviderFailed, RequestRefused
from agent.refusals import failure_of_event, failure_of_status, retry_after, words_of


def refused(status: int, message: str, code: str = "", **headers: str) -> ModelFailure:
    body = json.dumps({"error": {"message": message, "type": "some_error", "code": code}})
    return failure_of_status(status, headers, body, model="m", base_url="http://host/v1")


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (400, RequestRefused, False),
        (401, KeyRefused, False),
        (402, RequestRefused, False),
        (403, KeyRefused, False),
        (404, RequestRefused, False),
        (408, ProviderFailed, True),
        (409, ProviderFailed, True),
        (413, ContextOverflow, False),
        (422, RequestRefused, False),
        (429, ProviderFailed, True),
        (500, ProviderFailed, True),
        (502, ProviderFailed, True),
        (503, ProviderFailed, True),
        (529, ProviderFailed, True),
        (307, RequestRefused, False),
    ],
)
def test_each_status_has_its_failure(status: int, kind: type[ModelFailure], retryable: bool) -> None:
    failure = refused(status, "because of this", location="http://other/")

    assert type(failure) is kind
    assert (failure.status, failure.retryable) == (status, retryable)
    assert str(status) in str(failure)
    assert "because of this" in str(failure) or status == 307


@pytest.mark.parametrize(
    "words",
    [
        "This model's maximum context length is 8192 tokens. However, you requested 9000.",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "Please reduce the length of the messages or completion.",
        "Invalid request: Your request exceeded model token limit: 8192",
        "Range of input length should be [1, 30720]",
        "the request exceeds the available context size. try increasing the context size",
        "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        "too many tokens: total number of tokens in the prompt cannot exceed 4081",
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097",
        "`inputs` must have less than 1024 tokens. Given: 2000",
        "Input is too long for requested model.",
        "context window exceeds limit (2013)",
        "prompt token count of 150000 exceeds the limit of 128000",
        "length of prompt_tokens (9000) must be less than max_seq_len (8192).",
        "Trying to keep the first 5000 tokens when context the overflows. tokens to keep from the initial prompt",
        "Prompt 超长",
        "输入长度超过模型的上限",
        "请求超出模型上下文长度限制",
    ],
)
def test_a_request_that_is_too_long_is_known_by_the_words_of_many_providers(words: str) -> None:
    failure = refused(400, words)

    assert isinstance(failure, ContextOverflow)
    assert words[:40] in str(failure)
    assert isinstance(failure_of_event({"message": words}), ContextOverflow)


@pytest.mark.parametrize("code", ["context_length_exceeded", "exceed_context_size_error", "string_above_max_length"])
def test_a_request_that_is_too_long_is_known_by_its_code(code: str) -> None:
    assert isinstance(refused(400, "no", code), ContextOverflow)


@pytest.mark.parametrize(
    "words",
    [
        "messages.1 is odd",
        "Invalid value: 'tool'",
        "Unknown parameter: 'foo'",
        "model 'x' not found",
        "max_tokens is odd",
    ],
)
def test_other_refusals_are_not_taken_for_too_long(words: str) -> None:
    assert type(refused(400, words)) is RequestRefused


def test_too_many_tokens_a_minute_is_a_rate_limit() -> None:
    failure = refused(429, "Rate limit reached: too many tokens per minute.", **{"retry-after": "7.5"})

    assert type(failure) is ProviderFailed and failure.retryable
    assert failure.retry_after_s == 7.5


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("You exceeded your current quota, please check your plan and billing details.", "insufficient_quota"),
        ("Insufficient Balance", ""),
        ("账户余额不足", ""),
    ],
)
def test_an_account_without_credit_is_not_asked_again(words: str, code: str) -> None:
    failure = refused(429, words, code)

    assert type(failure) is ProviderFailed and not failure.retryable


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after": "-3"}, 0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}, 30),
        ({"retry-after": "Wed, 21 Oct 2020 07:28:00 GMT"}, 0),
        ({}, None),
    ],
)
def test_the_wait_is_read_from_the_header(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == (seconds if seconds is None else pytest.approx(seconds))


def test_a_date_counts_from_now_where_the_server_has_no_clock() -> None:
    found = retry_after({"retry-after": formatdate(time.time() + 100, usegmt=True)})

    assert found is not None and 60 < found <= 101


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('{"error": {"message": "a", "code": 1}}', "a"),
        ('{"error": "a"}', "a"),
        ('{"message": "a", "object": "error"}', "a"),
        ('{"detail": "a"}', "a"),
        (
            '{"detail": [{"loc": ["body", "stream_options"], "msg": "Extra inputs"}]}',
            "body.stream_options: Extra inputs",
        ),
        ('[{"error": {"message": "a"}}]', "a"),
        ('{"error": {"message": "Provider returned error", "metadata": {"raw": "a"}}}', "Provider returned error; a"),
        ('{"strange": 1}', '{"strange": 1}'),
        ("<html><head><title>502 Bad\nGateway</title></head><body>x</body></html>", "502 Bad Gateway"),
        ("<p>no <b>luck</b></p>", "no luck"),
        ("plain \x1b[31mtext\n", "plain [31mtext"),
        ("", ""),
    ],
)
def test_the_words_for_a_person_are_found_in_every_form(body: str, words: str) -> None:
    assert words_of(body) == words


def test_long_words_are_bounded() -> None:
    assert len(words_of("x" * 10_000)) < 700
