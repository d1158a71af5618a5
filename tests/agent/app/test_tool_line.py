from __future__ import annotations

import json
import re

import pytest

from agent.app.plain import cell_width
from agent.app.tool_line import short_call, tool_line
from tools import ToolCall, ToolResult


def line(call: ToolCall, result: ToolResult, *, columns: int = 80, styled: bool = False) -> str:
    return tool_line(call, result, 0.84, columns=columns, styled=styled)


def call(name: str, **arguments: object) -> ToolCall:
    return ToolCall("c1", name, json.dumps(arguments))


def test_a_call_shows_its_name_arguments_outcome_and_time() -> None:
    shown = line(call("shell", command="pytest -q"), ToolResult(True, data="5 passed"))

    assert shown == "* shell pytest -q -> 5 passed (0.8 s)"


def test_an_error_is_marked_and_on_a_terminal_red() -> None:
    failed = ToolResult(False, error="no such file: a.txt")

    assert line(call("file_read", path="a.txt"), failed).startswith("! file_read a.txt -> Error: no such file")
    assert "\x1b[31m" in line(call("file_read", path="a.txt"), failed, styled=True)


def test_a_long_result_shows_its_first_words_and_its_size() -> None:
    assert "first [3 lines]" in line(call("file_read", path="a"), ToolResult(True, data="\nfirst\nsecond\nthird\n"))
    assert "[500 characters]" in line(call("x"), ToolResult(True, data="y" * 500))
    assert line(call("x"), ToolResult(True, data="")) == "* x -> nothing (0.8 s)"


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_a_line_never_is_wider_than_the_window(columns: int) -> None:
    wide = call("memory_store", key="名字" * 50, content="很长" * 100)
    shown = line(wide, ToolResult(True, data="结果" * 100), columns=columns, styled=True)

    assert cell_width(re.sub(r"\x1b\[[\d;]*m", "", shown)) <= columns
    assert "\n" not in shown


def test_foreign_text_in_a_line_is_defused() -> None:
    shown = line(ToolCall("c", "x\x1b[2J", '{"a": "b\\u001b]52;c;d\\nnew"}'), ToolResult(True, data="\x9b5n\rz"))

    assert not re.search(r"[\x00-\x1f\x80-\x9f]", shown)


def test_a_memory_write_says_what_it_writes_and_where() -> None:
    assert short_call(call("memory", action="add", target="user", content="喜欢茶")) == "add user: 喜欢茶"
    changed = call("memory", action="replace", target="memory", old_text="a", new_content="b", content=None)
    assert short_call(changed) == "replace memory: a → b"


@pytest.mark.parametrize("arguments", ['{"broken', "[1, 2]", '"text"'])
def test_arguments_that_are_no_object_are_shown_as_they_came(arguments: str) -> None:
    assert short_call(ToolCall("c", "x", arguments)) == arguments


def test_later_arguments_have_their_names_and_null_is_left_out() -> None:
    assert short_call(call("file_edit", path="a", old_text="x", new_text=None, count=2)) == "a, old_text=x, count=2"
