"""`render` and the texts it fills."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import prompts
from prompts import render

NAMES = sorted(path.stem for path in Path(prompts.__file__).parent.glob("*.md"))
VALUES = {"memory": "M", "instructions": "I", "user": "U", "provider": "P", "text": "T"}


def test_the_texts_are_all_there() -> None:
    assert {"system", "memory_context", "memory_tool", "recalled", "subagent", "summary"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_text_renders_the_same_each_time_and_leaves_no_gap(name: str) -> None:
    text = render(name, **VALUES)
    assert text == render(name, **VALUES) == text.strip("\n")
    assert "{{" not in text


@pytest.mark.parametrize("name", NAMES)
def test_no_text_holds_what_changes_from_day_to_day(name: str) -> None:
    assert not re.search(r"20\d\d|\d\d:\d\d|/tmp|/home|%", render(name, **VALUES))


def test_values_are_put_in_once_and_as_they_are() -> None:
    value = "{{user}} {x} %s \\1\n\n\n  end"
    assert value in render("memory_context", memory=value, user="U")


def test_an_empty_block_leaves_no_blank_lines() -> None:
    bare = render("system", memory="", instructions="")
    assert "\n\n\n" not in bare
    assert render("system", memory="M", instructions="") == f"{bare}\n\nM"
    assert render("system", memory="", instructions="I") == f"{bare}\n\nI"
    assert render("system", memory="M", instructions="I") == f"{bare}\n\nM\n\nI"


def test_nothing_is_said_of_memory_where_there_is_none() -> None:
    for name in ("system", "subagent"):
        assert "memory" not in render(name, memory="", instructions="").lower()


def test_a_missing_value_and_an_unknown_name_are_named() -> None:
    with pytest.raises(ValueError, match=r"'system'.*'memory'"):
        render("system", instructions="")
    with pytest.raises(ValueError, match=r"no prompt 'sistem'.*system"):
        render("sistem")
