"""What providers say in refusal, as the failure it is."""

from __future__ import annotations

import json

import pytest

from agent.failures import ContextOverflow, KeyRefused, ModelFailure, ProviderFailed, RequestRefused
from agent.refusals import failure_of_event, failure_of_status, words_of


def refused(status: int, message: str, code: str = "", **headers: str) -> ModelFailure:
    body = json.dumps({"error": {"message": message, "type": "some_error", "code": code}})
    return failure_of_status(status, headers, body, model="m", base_url="http://host/v1")


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (400, RequestRefused, False),
        (401, KeyRefused, False),
        (402, ProviderFailed, False),
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


GEMINI = (
    "You exceeded your current quota, please check your plan and billing details. For more information head to this.\n"
    "* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 10\n"
    "Please retry in 2.4s."
)
GEMINI_BODY = json.dumps([{"error": {"code": 429, "message": GEMINI, "status": "RESOURCE_EXHAUSTED"}}])


@pytest.mark.parametrize(
    ("status", "words", "code"),
    [
        (429, "You exceeded your current quota, please check your plan and billing details.", "insufficient_quota"),
        (402, "Insufficient Balance", ""),
        (429, "Insufficient Balance", ""),
        (429, "账户余额不足", ""),
        (400, "Your credit balance is too low to access the API. Please go to Plans & Billing", ""),
        (400, "Access denied, please make sure your account is in good standing.", "Arrearage"),
        (403, "Sorry, your account balance is insufficient", ""),
        (403, "Your team has used all available credits", ""),
        (401, "x", "insufficient_quota"),
        (429, "Your account org-12345678<ak-12345678> is suspended, please check your plan and billing details", ""),
        (402, "This request requires more credits, or fewer max_tokens", ""),
        (402, "maximum context length of a free account", ""),
        (429, GEMINI.replace("limit: 10", "limit: 0"), "RESOURCE_EXHAUSTED"),
    ],
)
def test_an_account_without_credit_is_one_failure_at_every_status(status: int, words: str, code: str) -> None:
    stream = failure_of_event({"message": words, "code": code or str(status)})

    for failure in (refused(status, words, code), stream):
        assert type(failure) is ProviderFailed and not failure.retryable
        assert "out of credit" in str(failure) and words[:30] in str(failure)


@pytest.mark.parametrize(
    ("body", "wait_s"),
    [
        (GEMINI_BODY, 2.4),
        (
            json.dumps(
                {"error": {"message": "Provider returned error", "code": 429, "metadata": {"raw": GEMINI_BODY}}}
            ),
            2.4,
        ),
        (
            '{"error": {"code": "limit", "message": "Allocated quota exceeded, please increase your quota limit"}}',
            None,
        ),
        (
            '{"error": {"code": "insufficient_quota", "message": "Allocated quota exceeded, please increase your quota '
            'limit."}}',
            None,
        ),
        (
            '{"error": {"message": "Resource has been exhausted (e.g. check quota).", "status": "RESOURCE_EXHAUSTED"}}',
            None,
        ),
    ],
)
def test_a_quota_that_comes_back_is_waited_for(body: str, wait_s: float | None) -> None:
    failure = failure_of_status(429, {}, body)

    assert type(failure) is ProviderFailed and failure.retryable
    assert failure.retry_after_s == wait_s


def test_a_quota_that_comes_back_is_waited_for_in_a_stream_too() -> None:
    for error in ({"message": GEMINI, "code": 429}, {"message": GEMINI}):
        failure = failure_of_event(error)

        assert type(failure) is ProviderFailed and failure.retryable
        assert failure.retry_after_s == 2.4


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("API key not valid. Please pass a valid API key.", "INVALID_ARGUMENT"),
        ("API Key not found. Please pass a valid API key.", "INVALID_ARGUMENT"),
        ("API key expired. Please renew the API key.", ""),
        ("Incorrect API key provided: xa***ab. You can obtain an API key from a page.", ""),
        ("x", "API_KEY_INVALID"),
        ("x", "invalid_api_key"),
    ],
)
def test_a_bad_request_for_its_key_is_a_refused_key(words: str, code: str) -> None:
    failure = refused(400, words, code)

    assert type(failure) is KeyRefused and failure.status == 400
    assert words in str(failure) and "http://host/v1" in str(failure)


@pytest.mark.parametrize("words", ["Invalid key 'x' in tools[0].function", "Unauthorized value", "permission denied"])
def test_other_bad_requests_are_not_taken_for_a_refused_key(words: str) -> None:
    assert type(refused(400, words)) is RequestRefused


@pytest.mark.parametrize(
    ("code", "words", "kind", "retryable"),
    [
        (1004, "login fail: Please carry the API secret key", KeyRefused, False),
        (2049, "invalid api key", KeyRefused, False),
        ("1008", "insufficient balance", ProviderFailed, False),
        (1002, "rate limit", ProviderFailed, True),
        (1039, "token limit", ContextOverflow, False),
        (2013, "invalid params, context window exceeds limit (2013)", ContextOverflow, False),
        (2013, "invalid params", RequestRefused, False),
        (1000, "unknown error", ProviderFailed, True),
    ],
)
def test_the_codes_of_minimax_have_their_failures(
    code: object, words: str, kind: type[ModelFailure], retryable: bool
) -> None:
    failure = failure_of_event({"status_code": code, "status_msg": words})

    assert type(failure) is kind and failure.retryable is retryable
    assert words in str(failure)


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
