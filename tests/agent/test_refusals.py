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
        "Total tokens of image and text exceed max message tokens",
        "Input length 140000 exceeds the maximum length 131072",
        "Input length 5000 exceeds maximum allowed token size 4096",
        "prompt tokens (9000) exceeded the maximum of 8192",
        "the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model",
        "the max input characters is 20000",
        "max_total_tokens (140000) must be less than or equal to max_seq_len (131072)",
        "Prompt length exceeded. The maximum is 8192 tokens",
        "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.",
        "Input tokens exceed limit",
        "max tokens of 4096 exceeded",
        "This request would exceed the model's maximum of 200000 tokens",
        "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
        "Token indices sequence length is longer than the specified maximum sequence length (5000 > 4096)",
        "The number of tokens in request more than max tokens allowed",
        "input (5000 tokens) is too large to process. increase the physical batch size",
        "context shift is disabled",
        "slot unavailable, n_ctx too small",
        "Request payload size exceeds the limit: 4194304 bytes.",
        "Conversation is too long, please shorten your messages",
        "Prompt 超长",
        "输入长度超过模型的上限",
        "输入长度超过限制",
        "输入内容过长",
        "上下文长度超限",
        "Token数量超过上限",
        "您的输入超过模型最大长度限制",
        "請求超出模型上下文長度",
        "请求超出模型上下文长度限制",
    ],
)
def test_a_request_that_is_too_long_is_known_by_the_words_of_many_providers(words: str) -> None:
    failure = refused(400, words)

    assert isinstance(failure, ContextOverflow)
    assert words[:40] in str(failure)
    assert isinstance(failure_of_event({"message": words}), ContextOverflow)


@pytest.mark.parametrize(
    "code",
    [
        "context_length_exceeded",
        "exceed_context_size_error",
        "string_above_max_length",
        "InputLengthExceed",
        "model_max_prompt_tokens_exceeded",
        "prompt_too_long",
    ],
)
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
        "max_tokens is too large: 999999. This model supports at most 16384 completion tokens",
        "max_tokens (5000) exceeds the maximum number of output tokens allowed (4096)",
        "max_tokens超过最大限制",
        "Input should be greater than or equal to 1",
        "messages.1.content.0.image.source: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes",
        "The input image size exceeds the maximum of 2048 pixels",
        "tools.0.custom.input_schema: description is too long",
        "Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64",
        "messages: roles must alternate",
        "The token expired, its lifetime was exceeded",
        "请求频率超过限制",
        "tokens用量超过每日限额",
    ],
)
def test_other_refusals_are_not_taken_for_too_long(words: str) -> None:
    assert type(refused(400, words)) is RequestRefused


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("Invalid 'messages[1].content': string too long. Expected maximum length 10485760", ContextOverflow),
        ("string too long for tools[0].function.name: maximum length 64", RequestRefused),
        ("Invalid 'messages[2].tool_calls[0].id': string too long. Expected maximum length 40", RequestRefused),
        ("Invalid 'user': string too long. Expected maximum length 64", RequestRefused),
    ],
)
def test_a_text_over_its_limit_is_too_long_where_it_is_content(words: str, kind: type[ModelFailure]) -> None:
    assert type(refused(400, words, "string_above_max_length")) is kind


@pytest.mark.parametrize(
    ("status", "words", "kind"),
    [
        (503, "litellm.ContextWindowExceededError: maximum context length", ContextOverflow),
        (404, "This model's maximum context length is 8192 tokens", ContextOverflow),
        (503, "Overloaded: too many tokens in the queue", ProviderFailed),
        (429, "maximum context length of your tier", ProviderFailed),
        (401, "context window", KeyRefused),
    ],
)
def test_the_context_is_known_at_any_status_that_is_not_about_the_account(
    status: int, words: str, kind: type[ModelFailure]
) -> None:
    assert type(refused(status, words)) is kind


@pytest.mark.parametrize("words", ["Token limit exceeded: 6000 tokens per minute", "请求频率超过限制", "busy"])
def test_a_rate_in_an_error_event_is_not_the_length_of_the_request(words: str) -> None:
    failure = failure_of_event({"message": words})

    assert type(failure) is ProviderFailed and failure.retryable


@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        ({"code": "400", "message": "Invalid model"}, RequestRefused, False),
        ({"status": " 401 ", "message": "no"}, KeyRefused, False),
        ({"code": "rate_limit", "status": "429", "message": "slow"}, ProviderFailed, True),
        ({"code": "1400", "message": "x"}, ProviderFailed, True),
        ({"code": True, "message": "x"}, ProviderFailed, True),
    ],
)
def test_the_status_in_an_error_event_may_be_text(error: object, kind: type[ModelFailure], retryable: bool) -> None:
    failure = failure_of_event(error)

    assert type(failure) is kind and failure.retryable is retryable


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
        ({"retry-after": "inf"}, None),
        ({"retry-after": "9" * 300}, None),
        ({"retry-after": "Fri, 31 Dec 99999999999999999999 23:59:59 GMT"}, None),
        ({"retry-after": "Fri, 31 Dec 9999 23:59:59 -2359"}, None),
        ({"retry-after": "Wed, 21 Oct 2026 99:99:99 GMT"}, None),
        ({"retry-after": "Wed, 21 Oct 2020 07:28:30 GMT", "date": "Fri, 31 Dec 9" + "9" * 30 + " 23:59:59 GMT"}, 0),
        ({"retry-after": "2026-11-30T10:00:00Z"}, None),
        ({"retry-after": ","}, None),
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
