from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Callable

import pytest

from agent.app.approve import SHOWN_CHARS, SHOWN_LINES, Approver, call_text, clip
from agent.app.reader import Interrupted
from agent.app.screen import Screen
from tools import ToolCall

CALL = ToolCall("c1", "shell", '{"command": "rm -rf build"}')


class Person:
    """Gives one answer to every question."""

    def __init__(self, answer: str | type[Exception], *, interactive: bool = True) -> None:
        self.interactive = interactive
        self.answer = answer
        self.questions: list[str] = []

    async def read(self, *, shown: Callable[[], None] | None = None) -> str:
        raise EOFError

    async def ask(self, question: str) -> str:
        self.questions.append(question)
        if isinstance(self.answer, str):
            return self.answer
        raise self.answer

    def interrupt(self) -> bool:
        return False

    def print_above(self, show: Callable[[], None]) -> None:
        show()

    def close(self) -> None: ...


class Desk:
    def __init__(self, person: Person, *, yes: bool = False) -> None:
        self.person = person
        self.out = io.StringIO()
        self.stopped: list[str] = []
        screen = Screen(self.out, self.out, styled=False, terminal=True, live=False)
        self.approver = Approver(screen, person, stop=lambda: self.stopped.append("stop"), yes=yes)

    def ask(self, call: ToolCall = CALL, preview: str = "") -> bool:
        return asyncio.run(self.approver(call, preview))


@pytest.mark.parametrize("answer", ["y", "Yes", " YES ", "是", "好"])
def test_yes_is_yes(answer: str) -> None:
    assert Desk(Person(answer)).ask() is True


@pytest.mark.parametrize("answer", ["", "n", "no", "maybe", "yy", "不", EOFError])
def test_everything_else_is_no(answer: str | type[Exception]) -> None:
    assert Desk(Person(answer)).ask() is False


def test_always_holds_for_this_tool_until_it_is_forgotten() -> None:
    desk = Desk(Person("always"))
    assert desk.ask()
    desk.person.answer = "n"

    assert desk.ask()
    assert not desk.ask(ToolCall("c2", "file_write", "{}"))
    desk.approver.forget()
    assert not desk.ask()


def test_ctrl_c_is_no_and_stops_the_turn() -> None:
    desk = Desk(Person(Interrupted))

    assert desk.ask() is False
    assert desk.stopped == ["stop"]


def test_nobody_to_ask_is_no_at_once_and_says_what_to_do() -> None:
    desk = Desk(Person("y", interactive=False))

    assert desk.ask() is False
    assert desk.person.questions == []
    assert "--allow shell" in desk.out.getvalue()


def test_yes_on_the_command_line_asks_nobody() -> None:
    desk = Desk(Person("n"), yes=True)

    assert desk.ask() is True
    assert desk.person.questions == []


def test_the_person_sees_all_arguments_and_what_would_be_lost() -> None:
    desk = Desk(Person("n"))
    desk.ask(ToolCall("c", "file_write", '{"path": "a", "content": "一\\n二"}'), "replaces 3 lines")

    assert "  path: a\n  content:\n    一\n    二\nreplaces 3 lines\n" in desk.out.getvalue()
    assert desk.person.questions == ["Allow? [y]es, [n]o, [a]lways file_write in this session: "]


def test_nothing_in_a_question_can_move_the_cursor() -> None:
    desk = Desk(Person("n"))
    evil = json.dumps({"command": "ls\x1b[1A\x1b[2K", "\x1bkey": "\r\u202e"})
    desk.ask(ToolCall("c", "sh\x1b[8m", evil), "\x9b8m")

    assert not {"\x1b", "\r", "\x9b", "\u202e"} & set(desk.out.getvalue() + desk.person.questions[0])


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
