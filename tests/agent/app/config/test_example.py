"""The configuration that `init` writes: every key stands in it, with its built-in value."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from command_line import Place

from agent.app.config.checking import dotted, flatten, known_leaves
from agent.app.config.settings import Settings
from agent.app.init import GITIGNORE, example_config

ROOT = Path(__file__).resolve().parents[4]


def uncommented() -> str:
    """The example with every commented key in force."""
    return re.sub(r"^# (?=\[|\w+ = )", "", example_config(), flags=re.MULTILINE)


def test_every_key_is_shown_with_its_built_in_value() -> None:
    found, unknown = flatten(Settings, tomllib.loads(uncommented()), "example")
    assert unknown == []
    for path, leaf in known_leaves(Settings):
        assert path in found, f"{dotted(path)} is not in the example"
        default = list(leaf.default) if isinstance(leaf.default, tuple) else leaf.default
        assert found[path].value == default, dotted(path)


def test_it_loads_without_a_warning(place: Place) -> None:
    place.project_config(example_config())
    done = place.run("config", "check", "--json")
    assert (done.code, done.json["warnings"]) == (0, [])


@pytest.mark.parametrize(("name", "text"), [("config.toml", example_config()), (".gitignore", GITIGNORE)])
def test_the_agent_home_of_this_repository_is_what_init_writes(name: str, text: str) -> None:
    assert (ROOT / ".my_agent_core" / name).read_text(encoding="utf-8") == text


def test_init_makes_a_home_in_which_memory_is_on(place: Place) -> None:
    done = place.run("init")
    assert done.code == 0
    assert (place.memory_dir / ".gitkeep").exists()
    tools = place.run("config", "show", "security.tool_policy.tools", "--json").json
    assert {row["value"] for row in tools.values()} == {"supervised"}
    assert len(tools) == 3


def test_init_overwrites_nothing(place: Place) -> None:
    mine = place.project_config("[agent]\nmax_steps = 3\n")
    done = place.run("init", "--json")
    assert mine.read_text() == "[agent]\nmax_steps = 3\n"
    assert done.json["kept"] == [".my_agent_core/config.toml"]
    assert place.run("init", "--json").json["made"] == []
