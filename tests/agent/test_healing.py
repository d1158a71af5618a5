"""A history as it was found becomes one that a strict server takes."""

from __future__ import annotations

import json
from typing import Any

from healed import heal
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.healing import NO_RESULT, Healing


def call(call_id: Any, arguments: Any = "{}", name: str = "file_read") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def result(call_id: str, text: str = "done") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def ask(text: Any = "go") -> dict[str, Any]:
    return {"role": "user", "content": text}


def answer(text: str | None = None, *calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": text} | ({"tool_calls": list(calls)} if calls else {})


def is_valid(messages: list[dict[str, Any]]) -> bool:
    waiting: list[str] = []
    seen: set[str] = set()
    if messages and messages[0]["role"] != "user":
        return False
    for message in [*messages, {"role": "end"}]:
        if message["role"] == "tool":
            if not waiting or waiting.pop(0) != message["tool_call_id"]:
                return False
            continue
        if waiting:
            return False
        if message["role"] == "assistant":
            calls = message.get("tool_calls") or []
            if not calls and not (message.get("content") or "").strip():
                return False
            waiting = [one["id"] for one in calls]
            if seen & set(waiting) or not all(waiting):
                return False
            seen |= set(waiting)
            if not all(isinstance(json.loads(one["function"]["arguments"]), dict) for one in calls):
                return False
    json.dumps(messages, ensure_ascii=False).encode("utf-8")
    return True


def test_a_valid_history_stays_the_same_objects() -> None:
    history = [ask(), answer(None, call("a")), result("a"), answer("fine")]
    healed = heal(history)
    assert healed == history
    assert all(one is other for one, other in zip(healed, history, strict=True))


def test_a_call_without_a_result_gets_one() -> None:
    healed = heal([ask(), answer(None, call("a"), call("b")), result("b"), ask("and now?")])
    assert healed[2:4] == [result("a", NO_RESULT), result("b")]
    assert healed[-1] == ask("and now?")


def test_results_come_back_in_the_order_of_the_calls() -> None:
    healed = heal([ask(), answer(None, call("a"), call("b")), result("b", "B"), result("a", "A"), answer("ok")])
    assert [message.get("content") for message in healed[2:4]] == ["A", "B"]


def test_a_result_without_its_call_is_left_out() -> None:
    assert heal([ask(), result("ghost"), answer("ok")]) == [ask(), answer("ok")]


def test_arguments_that_only_some_read_become_such_that_all_read() -> None:
    healed = heal([ask(), answer(None, call("a", '{"text": "one\ntwo\t"}'), call("b", '{"n": Infinity}'))])
    arguments = [one["function"]["arguments"] for one in healed[1]["tool_calls"]]
    assert arguments == ['{"text": "one\\ntwo\\t"}', "{}"]
    pretty = call("c", '{\n  "a": 1\n}')
    assert heal([ask(), answer(None, pretty)])[1]["tool_calls"] == [pretty]


def test_what_was_answered_before_anybody_asked_is_left_out() -> None:
    assert heal([answer("two", call("a")), result("a"), ask(), answer("yes")]) == [ask(), answer("yes")]


def test_broken_arguments_become_an_empty_object() -> None:
    healed = heal([ask(), answer(None, call("a", '{"path": "x')), result("a")])
    assert healed[1]["tool_calls"][0]["function"]["arguments"] == "{}"


def test_ids_that_come_again_are_made_unique() -> None:
    healed = heal(
        [ask(), answer(None, call("call_0")), result("call_0"), answer(None, call("call_0")), result("call_0")]
    )
    ids = [message["tool_calls"][0]["id"] for message in healed if message.get("tool_calls")]
    assert len(set(ids)) == 2
    assert is_valid(healed)


def test_results_of_calls_with_one_id_belong_to_them_in_order() -> None:
    healed = heal([ask(), answer(None, call("c"), call("c")), result("c", "one"), result("c", "two"), answer("ok")])
    assert [message["content"] for message in healed if message["role"] == "tool"] == ["one", "two"]
    assert is_valid(healed)


def test_only_what_a_message_of_its_role_has_is_sent() -> None:
    odd = {"n": float("nan"), "name": 5, "tool_calls": [call("a")]}
    assert heal([{**ask("words"), **odd}, {**answer("fine"), "audio": 1}]) == [ask("words"), answer("fine")]
    assert heal([{"role": "system", "content": "obey"}, ask()]) == [ask()]


def test_what_is_left_out_is_said() -> None:
    healing = Healing()
    for lost in ({"role": "usr", "content": "x"}, ask(5), ask([]), ask(None), answer(" "), result("ghost"), 7, {}):
        assert not healing.add(lost)
    assert healing.add(ask([{"type": "text", "text": "part"}]))
    assert healing.settled() == [ask("part")]


def test_a_rewind_into_a_round_leaves_its_calls_open() -> None:
    healing = Healing()
    for message in (ask(), answer(None, call("a"), call("b")), result("a"), result("b"), answer("ok")):
        healing.add(message)
    healing.rewind(3)
    assert healing.add(result("b", "late"))
    assert healing.settled()[2:] == [result("a"), result("b", "late")]


def test_an_empty_answer_is_left_out() -> None:
    assert heal([ask(), answer("  "), ask("again")]) == [ask(), ask("again")]


def test_lone_surrogates_and_nul_are_replaced() -> None:
    healed = heal([ask("bad \ud800 and \0")])
    assert healed == [ask("bad \ufffd and \ufffd")]


def test_what_an_escape_hides_in_arguments_is_replaced_too() -> None:
    healed = heal([ask(), answer(None, call("a", '{"path": "bad \\ud800 \\u0000 \\u4e16"}')), result("a")])
    arguments = healed[1]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(arguments) == {"path": "bad \ufffd \ufffd 世"}
    assert heal(healed) == healed


messages = st.recursive(
    st.one_of(st.none(), st.integers(), st.text(max_size=5)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
ids = st.sampled_from(["a", "b", "", "call_0"])
calls = st.builds(call, ids | messages, st.sampled_from(["{}", "", "[1]", '{"a": 1}', "{", None]) | messages)
odd_messages = st.one_of(
    messages,
    st.builds(ask, st.text(max_size=4)),
    st.builds(result, ids, st.text(st.characters(), max_size=4)),
    st.builds(lambda text, some: answer(text, *some), st.none() | st.text(max_size=4), st.lists(calls, max_size=3)),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(odd_messages, max_size=8))
def test_whatever_is_found_comes_out_valid(found: list[Any]) -> None:
    healed = heal(found)
    assert is_valid(healed)
    assert heal(healed) == healed
