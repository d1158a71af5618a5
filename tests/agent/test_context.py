"""How much a request takes, and where a talk is cut."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from agent.context import TokenMeter, plan_cut, summary_messages, summary_request


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def answer(text: str | None, *ids: str) -> dict[str, Any]:
    calls = [{"id": one, "type": "function", "function": {"name": "shell", "arguments": "{}"}} for one in ids]
    return {"role": "assistant", "content": text} | ({"tool_calls": calls} if calls else {})


def result(call_id: str, text: str = "x" * 300) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def test_the_estimate_is_on_the_safe_side_in_both_languages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    meter = TokenMeter()
    assert meter.text("the quick brown fox jumps over the lazy dog") >= 9
    assert meter.text("用户偏好使用中文交流") >= 10


def test_special_tokens_are_plain_text() -> None:
    assert TokenMeter().text("<|endoftext|> <|fim_prefix|>") > 0


def test_an_empty_cache_folder_of_the_tokenizer_is_never_filled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    assert TokenMeter().text("hello") > 0
    assert list(tmp_path.iterdir()) == []


def test_the_server_corrects_the_estimate() -> None:
    meter = TokenMeter()
    before = meter.messages([user("hello " * 100)])
    meter.correct(before, before * 2)
    assert meter.messages([user("hello " * 100)]) == pytest.approx(before * 2, abs=2)
    meter.correct(10, 10_000_000)
    assert meter.messages([user("hello " * 100)]) <= before * 3 + 1


def test_a_message_is_weighed_once() -> None:
    meter = TokenMeter()
    message = user("words")
    first = meter.messages([message])
    message["content"] = "words " * 1000
    assert meter.messages([message]) == first


def test_a_cut_keeps_whole_rounds_and_the_last_one() -> None:
    talk = [user("q1"), answer(None, "a"), result("a"), answer("one"), user("q2"), answer(None, "b"), result("b")]
    cut = plan_cut(talk, TokenMeter(), 100)
    assert cut is not None
    kept = talk[len(talk) - cut.keep :]
    assert kept[0]["role"] != "tool"
    assert cut.dropped + kept == talk
    assert kept[-1] == talk[-1]


def test_the_request_in_work_is_kept_in_words_when_its_message_is_dropped() -> None:
    talk = [user("older"), answer("yes"), user("count all files")]
    for number in range(40):
        talk += [answer(None, f"c{number}"), result(f"c{number}")]
    cut = plan_cut(talk, TokenMeter(), 2_000)
    assert cut is not None
    assert cut.request == "count all files"
    (head,) = summary_messages("SUM", cut)
    assert "SUM" in head["content"]
    assert head["content"].endswith("count all files")


def test_roles_alternate_after_a_cut_before_a_user_message() -> None:
    talk = [user("one"), answer("1"), user("two"), answer("2"), user("three")]
    cut = plan_cut(talk, TokenMeter(), 20)
    assert cut is not None
    roles = [message["role"] for message in [*summary_messages("SUM", cut), *talk[len(talk) - cut.keep :]]]
    assert all(one != other for one, other in itertools.pairwise(roles))


def test_one_round_cannot_be_cut() -> None:
    assert plan_cut([user("x" * 9_000)], TokenMeter(), 100) is None
    assert plan_cut([], TokenMeter(), 100) is None


def test_a_cut_is_deep() -> None:
    talk = [message for number in range(100) for message in (user(f"q{number} " * 30), answer(f"a{number} " * 30))]
    meter = TokenMeter()
    budget = meter.messages(talk)
    cut = plan_cut(talk, meter, budget)
    assert cut is not None
    assert meter.messages(talk[len(talk) - cut.keep :]) <= budget * 0.3 + 1


def test_the_summary_request_fits_the_budget_whatever_is_dropped() -> None:
    talk = [message for number in range(500) for message in (user("部署" * 3_000), answer(f"a{number}"))]
    cut = plan_cut(talk, TokenMeter(), 10_000)
    assert cut is not None
    request = summary_request(cut, 5_000)
    assert [message["role"] for message in request] == ["system", "user"]
    assert len(json.dumps(request, ensure_ascii=False).encode()) < 5_000 * 3 + 5_000
    assert "left out" in request[1]["content"]
