"""The talk of an agent and its file stay in step."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from healed import heal
from hypothesis import given, settings
from hypothesis import strategies as st

from agent import Session
from agent.history import History, typed_part
from agent.messages import Message, assistant_message, tool_message, user_message
from prompts import render
from tools import ToolCall

HEAD = {"type": "session", "version": 1, "id": "s"}

anything = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.floats() | st.just(10**30) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)
ids = st.sampled_from(["c", "call_1", "x", ""]) | anything
texts = st.sampled_from(["", " ", "words", "\ud800"]) | anything
function = st.fixed_dictionaries({"name": st.just("f") | anything, "arguments": st.just("{}") | anything})
calls = st.lists(st.fixed_dictionaries({"id": ids, "function": function | anything}) | anything, max_size=3)
found_messages = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "assistant", "tool", "tool", "system", "usr", 5]), "content": texts},
    optional={"tool_calls": calls | anything, "tool_call_id": ids, "reasoning_content": texts, "name": anything},
)
places = st.integers(0, 6) | anything
found_lines = st.one_of(
    st.fixed_dictionaries({"type": st.just("message"), "message": found_messages}),
    st.fixed_dictionaries({"type": st.just("message"), "message": found_messages | anything}),
    st.fixed_dictionaries({"type": st.just("rewind"), "to": places}),
    st.fixed_dictionaries(
        {"type": st.just("compact"), "messages": st.lists(found_messages, max_size=2) | anything, "keep": places}
    ),
    st.fixed_dictionaries({"type": st.just("session"), "created": anything}),
    anything,
)
found_files = st.tuples(st.lists(found_lines, max_size=8), st.sampled_from(["", "\n", '\n{"type": "mess', "\n\0\0"]))
deeds = st.lists(st.sampled_from(["turn", "turn", "crash", "undo", "compact", "reopen"]), max_size=10)


def play_turn(history: History, number: int, *, whole: bool = True) -> None:
    """One turn with two calls; one that is not `whole` ends as a killed process leaves it."""
    taken = {call["id"] for message in history.messages for call in message.get("tool_calls") or ()}
    names = [name for name in ("c", "call_1", f"c{number}", f"d{number}") if name not in taken][:2]
    history.record(user_message(f"question {number}"))
    history.record(assistant_message("", [ToolCall(name, "f", "{}") for name in names]))
    history.record(tool_message(names[0], "done"))
    if whole:
        history.record(tool_message(names[1], "done"))
        history.record(assistant_message(f"answer {number}"))


def shorten(history: History) -> None:
    """Compact as an agent does it: whole rounds go, the last ones stay."""
    starts = [place for place, message in enumerate(history.talk) if message["role"] != "tool"]
    if len(starts) > 1:
        summary = [user_message("summary"), assistant_message("yes")]
        history.shorten(summary, keep=len(history.talk) - starts[len(starts) // 2])


def as_sent(messages: list[Message]) -> list[str]:
    return [json.dumps(message, allow_nan=False) for message in messages]


@settings(max_examples=200, deadline=None)
@given(found_files, deeds)
def test_a_resumed_talk_is_what_it_was_whatever_it_began_with(found: tuple[list[Any], str], todo: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.jsonl"
        path.write_text("\n".join(map(json.dumps, [HEAD, *found[0]])) + found[1])
        history = History(Session.open(path))
        assert as_sent(heal(history.talk)) == as_sent(history.talk)
        for number, deed in enumerate([*todo, "reopen"]):
            if deed in ("turn", "crash"):
                play_turn(history, number, whole=deed == "turn")
            elif deed == "undo":
                history.undo()
            elif deed == "compact":
                shorten(history)
            if deed in ("crash", "reopen"):
                assert history.session is not None
                history.session.close()
                again = History(Session.open(path))
                assert as_sent(again.talk) == as_sent(heal(history.talk))
                history = again
        assert history.session is not None
        history.session.close()


def test_an_undone_turn_stays_undone_after_a_crash_before_it(tmp_path: Path) -> None:
    history = History(Session.create(tmp_path, cwd=tmp_path, model="m"))
    session = history.session
    assert session is not None
    history.record(user_message("read both"))
    history.record(assistant_message("", [ToolCall("c1", "f", "{}"), ToolCall("c2", "f", "{}")]))
    session.close()
    history = History(Session.open(session.path))
    history.record(user_message("my secret pin is 1234"))
    history.record(assistant_message("noted"))
    history.undo()
    assert history.session is not None
    history.session.close()
    again = Session.open(session.path)
    again.close()
    assert again.messages == history.talk
    assert [message["role"] for message in again.messages] == ["user", "assistant", "tool", "tool"]


def test_what_recall_put_before_a_message_is_not_what_was_typed() -> None:
    recalled = render("recalled", provider="archive", text="- a fact\n\nof two lines")

    assert typed_part({"role": "user", "content": f"{recalled}\n\nMy question?"}) == "My question?"


def test_a_message_without_recall_is_all_typed() -> None:
    assert typed_part({"role": "user", "content": "What is <RECALLED>?"}) == "What is <RECALLED>?"
