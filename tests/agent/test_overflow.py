"""What providers say of a request that is too long."""

from __future__ import annotations

import json

import pytest

from agent.failures import ContextOverflow, ModelFailure, RequestRefused
from agent.refusals import failure_of_event, failure_of_status


def refused(status: int, message: str, code: str = "") -> ModelFailure:
    body = json.dumps({"error": {"message": message, "type": "some_error", "code": code}}, ensure_ascii=False)
    return failure_of_status(status, {}, body)


@pytest.mark.parametrize(
    "words",
    [
        "This model's maximum context length is 8192 tokens. However, you requested 9000.",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "The maximum context length is 8192, and you sent 9000. Your daily quota is not touched.",
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
        "Prompt has 140000 tokens, but max context is 131072",
        "request contains 140000 tokens which is over the limit of 131072 tokens",
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
        "messages.3.tool_call_id: input too long",
        "budget tokens exceed the maximum allowed 24576",
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
    ("words", "limit", "sent"),
    [
        ("maximum context length is 16000 tokens. However, your messages resulted in 58610 tokens", 16000, 58610),
        ("maximum context length is 8192 tokens. However, you requested 9000.", 8192, 9000),
        (
            "maximum context length is 4097 tokens. However, you requested 5000 tokens (4500 in the messages, 500 in "
            "the completion).",
            4097,
            4500,
        ),
        (
            "'max_tokens' is too large: 2000. This model's maximum context length is 8192 tokens and your request has "
            "7000 input tokens (2000 > 8192 - 7000).",
            8192,
            7000,
        ),
        (
            "maximum context length of 131072 tokens. You requested a total of 140000 tokens: 130000 tokens from the "
            "input messages and 10000 tokens for the completion.",
            131072,
            130000,
        ),
        ("prompt is too long: 210000 tokens > 200000 maximum", 200000, 210000),
        ("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000", 200000, 190000),
        ("input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1048576, 1200000),
        ("maximum prompt length is 131072 but the request contains 200000 tokens.", 131072, 200000),
        ("Prompt contains 40000 tokens, too large for model with 32768 maximum context length", 32768, 40000),
        ("request (5,000 tokens) exceeds the available context size (4,096 tokens), try increasing it", 4096, 5000),
        ("length of prompt_tokens (9000) must be less than max_seq_len (8192).", 8192, 9000),
        ("max_total_tokens (140000) must be less than or equal to max_seq_len (131072)", 131072, 140000),
        ("Prompt tokens exceed the limit of 131,072", 131072, None),
        ("Your request exceeded model token limit: 8192", 8192, None),
        ("Range of input length should be [1, 30720]", 30720, None),
        ("`inputs` must have less than 1024 tokens. Given: 2000", 1024, 2000),
        ("Prompt has 140000 tokens, but max context is 131072", 131072, 140000),
        ("request contains 140000 tokens which is over the limit of 131072 tokens", 131072, 140000),
        ("maximum context length of gpt-4-32768", None, None),
        ("maximum context length is 128k, you sent 200k", None, None),
        ("maximum context length is 99 tokens", None, None),
        ("maximum context length is 99999999999999999999 tokens", None, None),
        ("context window exceeds limit (2013)", None, None),
        ("Request payload size exceeds the limit: 4194304 bytes.", None, None),
        ("the max input characters is 20000", None, None),
        ("Please reduce the length of the messages", None, None),
    ],
)
def test_the_figures_that_the_server_names_are_read(words: str, limit: int | None, sent: int | None) -> None:
    for failure in (refused(400, words), failure_of_event({"message": words})):
        assert isinstance(failure, ContextOverflow)
        assert (failure.limit_tokens, failure.sent_tokens) == (limit, sent)
