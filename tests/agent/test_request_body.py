"""The bytes of requests, and how little they cost the second time."""

from __future__ import annotations

import json
import re

import pytest

from agent.messages import Message
from agent.request_body import CACHE_LIMIT_BYTES, RequestBody

SYSTEM: Message = {"role": "system", "content": "Be brief."}


class Counted(dict[str, object]):
    """A message that counts how often it is walked."""

    walks = 0

    def items(self):  # type: ignore[no-untyped-def]
        self.walks += 1
        return super().items()


def test_a_message_is_encoded_once_however_often_it_is_sent() -> None:
    body, message = RequestBody("m"), Counted(role="user", content="hi")

    bodies = [body.encode([SYSTEM, message], (), "auto").data for _ in range(3)]

    assert message.walks == 1
    assert bodies[0] == bodies[1] == bodies[2]


def test_each_request_extends_the_one_before_it_byte_for_byte() -> None:
    body, history = RequestBody("m", cache_key="c"), [SYSTEM, {"role": "user", "content": "世界"}]
    tools = [{"type": "function", "function": {"name": "a"}}]

    first = body.encode(history, tools, "auto").data
    history.append({"role": "assistant", "content": "x", "reasoning_content": "y"})
    second = body.encode(history, list(tools), "auto").data

    assert second.startswith(first.removesuffix(b"]}") + b",")
    assert json.loads(second)["tools"] == tools


def test_an_equal_message_that_is_another_object_is_encoded_too() -> None:
    body = RequestBody("m")
    for content in ("a", "b"):
        message = {"role": "user", "content": content}  # perhaps at the address of the one before it
        assert json.loads(body.encode([message], (), "auto").data)["messages"] == [message]
        del message


def test_what_is_kept_is_bounded() -> None:
    body, size = RequestBody("m"), 2**20
    for number in range(3 * CACHE_LIMIT_BYTES // size):
        body.encode([SYSTEM, {"role": "user", "content": f"{number}" + "x" * size}], (), "auto")

    assert sum(len(encoded) for _, encoded in body._cache.values()) <= CACHE_LIMIT_BYTES + size


def test_without_tools_no_choice_of_them_is_sent() -> None:
    assert set(json.loads(RequestBody("m").encode([SYSTEM], (), "none").data)) == {
        "model",
        "stream",
        "stream_options",
        "messages",
    }


@pytest.mark.parametrize(
    ("model", "base_url", "replays"),
    [
        ("deepseek-chat", "", True),
        ("x", "https://api.deepseek.com", True),
        ("moonshotai/kimi-k2", "", True),
        ("qwen-plus-thinking", "", True),
        ("qwen-plus", "", False),
        ("glm-4.6", "", True),
        ("gpt-5", "https://api.openai.com/v1", False),
    ],
)
def test_reasoning_is_replayed_to_those_known_to_want_it(model: str, base_url: str, replays: bool) -> None:
    assert RequestBody(model, base_url=base_url).replay_reasoning is replays


def test_a_named_field_is_left_out_once_and_for_all() -> None:
    body = RequestBody("m", cache_key="c")
    refused = body.encode([SYSTEM], (), "auto")

    assert body.mend(refused, "Unknown parameter: 'prompt_cache_key'")
    again = body.encode([SYSTEM], (), "auto")
    assert b"prompt_cache_key" in refused.data and b"prompt_cache_key" not in again.data
    assert not body.mend(again, "Unknown parameter: 'prompt_cache_key'")


def test_a_name_in_the_request_that_a_server_repeats_is_not_refused() -> None:
    body = RequestBody("m", cache_key="c")
    echo = {"detail": [{"loc": ["body", "messages"], "msg": "odd", "input": {"prompt_cache_key": "c"}}]}

    assert not body.mend(body.encode([SYSTEM], (), "auto"), json.dumps(echo))
    assert body.mend(body.encode([SYSTEM], (), "auto"), json.dumps(echo | {"param": "prompt_cache_key"}))


@pytest.mark.parametrize("words", ["messages.1 is odd", "my_stream_options", "stream must be a boolean", ""])
def test_other_words_change_nothing(words: str) -> None:
    body = RequestBody("m")
    before = body.encode([SYSTEM], (), "auto")

    assert not body.mend(before, words)
    assert body.encode([SYSTEM], (), "auto") == before


def test_reasoning_given_by_the_user_is_never_turned() -> None:
    body = RequestBody("m", replay_reasoning=True)

    assert not body.mend(body.encode([SYSTEM], (), "auto"), "reasoning_content is not known")
    assert body.replay_reasoning


def test_no_line_of_the_body_ends_before_it_does() -> None:
    odd = {"role": "user", "content": "a\nb\rc\u2028d\x85e"}

    data = RequestBody("m").encode([odd], (), "auto").data

    assert re.search(rb"[\r\n]", data) is None and json.loads(data)["messages"] == [odd]
