"""docs/configuration.md is true: its keys, their values, its files and its exit codes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from command_line import Place

from agent.app.config.checking import dotted, known_leaves
from agent.app.config.settings import Settings
from agent.app.exits import Exit

PAGE = (Path(__file__).resolve().parents[4] / "docs" / "configuration.md").read_text(encoding="utf-8")


def plain(value: object) -> object:
    """As TOML and JSON have it."""
    return list(value) if isinstance(value, tuple) else dict(value) if isinstance(value, Mapping) else value


BLOCKS = re.findall(r"^```toml\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)


def test_every_key_is_there_with_its_built_in_value() -> None:
    shown = dict(re.findall(r"^\| `([a-z_.]+)` \| `(.+?)` \|", PAGE, flags=re.MULTILINE))
    leaves = {dotted(path): plain(leaf.default) for path, leaf in known_leaves(Settings)}
    assert set(shown) == set(leaves)
    assert {key: json.loads(text) for key, text in shown.items()} == leaves


@pytest.mark.parametrize("text", BLOCKS)
def test_every_example_loads_without_a_warning(place: Place, text: str) -> None:
    place.user_config(text)
    done = place.run("config", "check", "--json")
    assert (done.code, done.json["warnings"]) == (0, [])


def test_every_exit_code_is_explained() -> None:
    table = PAGE.partition("## Exit codes")[2]
    assert {
        int(code) for row in re.findall(r"^\| ([\d, ]+) \|", table, flags=re.MULTILINE) for code in row.split(",")
    } == {int(code) for code in Exit}
