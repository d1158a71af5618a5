"""A line finds its command, wherever its flags stand."""

from __future__ import annotations

from typing import Any

import pytest

from agent.app.commands import COMMANDS, Command, Group, UnknownCommand, help_text, route
from agent.app.options import FLAGS, Options, flags_for, takes_value


@pytest.mark.parametrize(
    ("line", "path", "rest"),
    [
        (["run", "hi"], ("run",), ["hi"]),
        (["--model", "gpt", "run", "hi"], ("run",), ["--model", "gpt", "hi"]),
        (["-m", "run", "run", "hi"], ("run",), ["-m", "run", "hi"]),
        (["-qm", "gpt", "run", "hi"], ("run",), ["-qm", "gpt", "hi"]),
        (["-mgpt", "run", "hi"], ("run",), ["-mgpt", "hi"]),
        (["--model=gpt", "memory", "list"], ("memory", "list"), ["--model=gpt"]),
        (["memory", "--memory-dir", "mem", "list", "--json"], ("memory", "list"), ["--memory-dir", "mem", "--json"]),
        (["memory", "list", "list"], ("memory", "list"), ["list"]),
        (["run", "-"], ("run",), ["-"]),
        (["run", "--", "--memory"], ("run",), ["--", "--memory"]),
    ],
)
def test_a_line_finds_its_command(line: list[str], path: tuple[str, ...], rest: list[str]) -> None:
    found = route(line)
    assert found.command is not None
    assert (found.path, list(found.rest)) == (path, rest)


@pytest.mark.parametrize("line", [[], ["what is this?"], ["--json", "fix it"], ["--", "run"], ["-q"], ["运行测试"]])
def test_a_line_without_a_command_is_a_prompt(line: list[str]) -> None:
    assert (route(line).path, route(line).command, list(route(line).rest)) == ((), None, line)


def test_a_group_alone_asks_for_its_help() -> None:
    assert route(["memory"]).path == ("memory",)
    assert route(["memory"]).command is None


def test_an_unknown_command_of_a_group_names_what_there_is() -> None:
    with pytest.raises(UnknownCommand, match=r"'lst'; did you mean 'list'\? There are: list, show"):
        route(["memory", "lst"])


def test_a_misspelt_command_is_not_sent_to_the_model() -> None:
    with pytest.raises(UnknownCommand, match="'memroy'; did you mean 'memory'"):
        route(["memroy", "list"])


def test_a_flag_knows_whether_a_value_follows() -> None:
    assert takes_value("--model")
    assert takes_value("-C")
    assert not takes_value("--model=x")
    assert not takes_value("-q")
    assert not takes_value("--no-such-flag")


def test_the_help_names_every_command_and_every_shared_flag() -> None:
    text = help_text()
    assert all(name in text for name in COMMANDS)
    assert all(name in text for flag in FLAGS if flag.scope == "all" for name in flag.names)


@pytest.mark.parametrize("name", [name for name, one in COMMANDS.items() if isinstance(one, Group)])
def test_the_help_of_a_group_names_its_commands(name: str) -> None:
    group = COMMANDS[name]
    assert isinstance(group, Group)
    assert all(f"  {inner} " in help_text([name]) for inner in group.commands)


def test_no_flag_has_two_meanings() -> None:
    names = [name for flag in FLAGS for name in flag.names]
    assert len(names) == len(set(names))


def test_lists_of_tools_may_hold_commas() -> None:
    options = Options.of({"allow": ["shell,task", " file_read "], "tools": [""], "deny": None})
    assert (options.allow, options.tools, options.deny) == (("shell", "task", "file_read"), (), ())


def test_a_flag_that_is_not_given_leaves_the_configuration_alone() -> None:
    assert Options.of({"max_steps": None, "yes": False, "verbose": 0}) == Options()
    assert Options.of({"max_retries": 0}).max_retries == 0


def commands() -> list[Command]:
    groups = [one.commands.values() if isinstance(one, Group) else [one] for one in COMMANDS.values()]
    return [command for group in groups for command in group]


@pytest.mark.parametrize("command", commands(), ids=lambda command: command.place)
def test_every_command_can_be_called(command: Command) -> None:
    from importlib import import_module

    module, _, name = command.place.partition(":")
    assert callable(getattr(import_module(module), name))


def test_the_shell_is_offered_what_the_parser_takes() -> None:
    import typer

    from agent.app.parameters import parameters_of
    from agent.app.parsing import function_of
    from agent.app.shell_completion import tree

    root: Any = typer.main.get_command(tree())
    assert set(root.commands) == set(COMMANDS)
    for name, one in COMMANDS.items():
        leaves = one.commands if isinstance(one, Group) else {name: one}
        shown = root.commands[name].commands if isinstance(one, Group) else root.commands
        for inner, command in leaves.items():
            taken = [*parameters_of(function_of(command)), *flags_for(command.scope)]
            offered = {flag for parameter in shown[inner].params for flag in parameter.opts if flag.startswith("-")}
            assert offered == {flag for parameter in taken for flag in parameter.names}, inner
