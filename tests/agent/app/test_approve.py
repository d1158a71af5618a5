from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Callable

import pytest

from agent.app.approve import SHOWN_CHARS, SHOWN_LINES, Approver, call_text, clip
from agent.app.persons import ChatPerson
from agent.app.reader import Interrupted
from agent.app.screen import Screen
from memory import MemoryStore, make_memory_tool
from tools import ToolCall, ToolPolicy, ToolRegistry

CALL = ToolCall("c1", "shell", '{"command": "rm -rf build"}')


class Person:
    """Gives its answers one after the other, the last one for ever."""

    interactive = True

    def __init__(self, *answers: str | type[Exception]) -> None:
        self.answers = list(answers)
        self.questions: list[str] = []

    async def read(self, *, shown: Callable[[], None] | None = None) -> str:
        raise EOFError

    async def ask(self, question: str) -> str:
        self.questions.append(question)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, str):
            return answer
        raise answer

    def interrupt(self) -> bool:
        return False

    def print_above(self, show: Callable[[], None]) -> None:
        show()

    def close(self) -> None: ...


class Desk:
    def __init__(self, person: Person | None, *, yes: bool = False) -> None:
        self.out = io.StringIO()
        self.stopped: list[str] = []
        screen = Screen(self.out, self.out, styled=False, terminal=True, live=False)
        asked = person and ChatPerson(screen, person, lambda: self.stopped.append("stop"))
        self.approver = Approver(lambda: asked, yes=yes)

    def ask(self, call: ToolCall = CALL, preview: str = "") -> bool:
        return asyncio.run(self.approver(call, preview))


@pytest.mark.parametrize("answer", ["y", "Yes", " YES ", "ok", "ｙ", "是", "好"])
def test_yes_is_yes(answer: str) -> None:
    assert Desk(Person(answer)).ask() is True


@pytest.mark.parametrize("answer", ["", "n", "no", "不", EOFError])
def test_no_is_no(answer: str | type[Exception]) -> None:
    assert Desk(Person(answer)).ask() is False


@pytest.mark.parametrize("answer", ["maybe", "yy", "yes please"])
def test_what_is_neither_is_asked_again(answer: str) -> None:
    person = Person(answer, answer, "y")
    assert Desk(person).ask() is True
    assert len(person.questions) == 3


def test_always_holds_for_this_tool_until_it_is_forgotten() -> None:
    desk = Desk(Person("always", "n"))
    assert desk.ask()

    assert desk.ask()
    assert not desk.ask(ToolCall("c2", "file_write", "{}"))
    desk.approver.always.clear()
    assert not desk.ask()


def test_ctrl_c_is_no_and_stops_the_turn() -> None:
    desk = Desk(Person(Interrupted))

    assert desk.ask() is False
    assert desk.stopped == ["stop"]


def test_nobody_to_ask_is_no_at_once_and_says_what_to_do() -> None:
    desk = Desk(None)
    memory = make_memory_tool(MemoryStore("nowhere"))
    registry = ToolRegistry([memory], policy=ToolPolicy({"memory_forget": "supervised"}))
    removal = ToolCall("c", "memory", '{"target": "user", "action": "remove", "old_text": "x"}')

    assert desk.ask(removal) is False
    said = desk.approver.take_unanswered(registry)
    assert "memory needed an approval" in said
    assert "--allow memory_forget gives" in said
    assert desk.approver.take_unanswered(registry) == ""


def test_yes_on_the_command_line_asks_nobody() -> None:
    person = Person("n")

    assert Desk(person, yes=True).ask() is True
    assert person.questions == []


def test_the_person_sees_all_arguments_and_what_would_be_lost() -> None:
    person = Person("n")
    desk = Desk(person)
    desk.ask(ToolCall("c", "file_write", '{"path": "a", "content": "一\\n二"}'), "replaces 3 lines")

    assert "  path: a\n  content:\n    一\n    二\nreplaces 3 lines\n" in desk.out.getvalue()
    assert person.questions == ["Allow? [y]es, [n]o, [a]lways file_write in this session: "]


def test_nothing_in_a_question_can_move_the_cursor() -> None:
    person = Person("n")
    desk = Desk(person)
    evil = json.dumps({"command": "ls\x1b[1A\x1b[2K", "\x1bkey": "\r\u202e"})
    desk.ask(ToolCall("c", "sh\x1b[8m", evil), "\x9b8m")

    assert not {"\x1b", "\r", "\x9b", "\u202e"} & set(desk.out.getvalue() + person.questions[0])


def test_a_call_that_is_too_long_to_be_shown_can_be_viewed_whole() -> None:
    person = Person("v", "n")
    desk = Desk(person)
    lines = [f"echo {number}" for number in range(400)]
    desk.ask(ToolCall("c", "shell", json.dumps({"command": "\n".join(lines)})))

    shown = desk.out.getvalue()
    first, _, second = shown.partition("all of it")
    assert "[v]iew" in person.questions[0]
    assert "echo 200\n" not in first
    assert "echo 200\n" in second


def test_arguments_that_are_no_json_are_shown_as_they_came() -> None:
    assert call_text(ToolCall("c", "x", '{"a')) == '  {"a'
    assert call_text(ToolCall("c", "x", "")) == "  (no arguments)"


def test_what_stands_at_the_end_of_a_long_text_is_shown_too() -> None:
    hidden = clip("\n" * 500 + "rm -rf /")
    wide = clip("x" * 50_000 + "rm -rf /")

    assert hidden.endswith("rm -rf /")
    assert "more lines" in hidden
    assert hidden.count("\n") <= SHOWN_LINES + 1
    assert wide.endswith("rm -rf /")
    assert len(wide) < SHOWN_CHARS + 100
