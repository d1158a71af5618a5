from __future__ import annotations

import pytest

from agent.app.slash.table import COMMANDS, TABLE, parse_line, unknown_command


@pytest.mark.parametrize("text", ["/memory", "/MEMORY", "／memory", "/memory  "])
def test_a_command_is_found_by_its_name(text: str) -> None:
    assert parse_line(text) == ("memory", "")


def test_the_rest_of_the_line_goes_with_it_line_ends_too() -> None:
    assert parse_line("/remember 一行\nand another ") == ("remember", "一行\nand another")


@pytest.mark.parametrize(
    "text", ["/etc/hosts is odd", "/usr/bin", "//", "/* a comment */", "/tmp/x.py", "hello /help", ""]
)
def test_what_begins_like_a_path_is_a_message(text: str) -> None:
    assert parse_line(text) is None


@pytest.mark.parametrize("text", ["/memry", "/", "/what now", "/历史"])
def test_a_name_that_is_none_is_a_command_that_is_not_there(text: str) -> None:
    line = parse_line(text)

    assert line is not None
    assert line[0] not in COMMANDS


def test_the_nearest_name_is_offered() -> None:
    assert "Did you mean /memory?" in unknown_command("memry")
    assert "Did you mean" not in unknown_command("zzz")
    assert "nothing was sent" in unknown_command("zzz")


def test_every_command_is_there_once() -> None:
    wanted = """help exit quit new reset clear memory remember forget recall undo retry compact sessions resume fork
    model tools policy cost context cache doctor"""

    assert set(COMMANDS) == set(wanted.split())
    assert len(COMMANDS) == sum(1 + len(command.aliases) for command in TABLE)
