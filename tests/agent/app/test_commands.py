"""A line finds its command, wherever its flags stand."""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from typing import Any

import pytest

from agent.app.commands import COMMANDS, Command, Group
from agent.app.exits import UsageProblem
from agent.app.options import PLAIN, RUN, Options, takes_value
from agent.app.parsing import call, parse
from agent.app.routing import help_text, route


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
    with pytest.raises(UsageProblem, match=r"'lst'; did you mean 'list'\? There are: list, show"):
        route(["memory", "lst"])


def test_a_misspelt_command_is_not_sent_to_the_model() -> None:
    with pytest.raises(UsageProblem, match="'memroy'; did you mean 'memory'"):
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
    assert all(name in text for flag in PLAIN for name in flag.names)


@pytest.mark.parametrize("name", [name for name, one in COMMANDS.items() if isinstance(one, Group)])
def test_the_help_of_a_group_names_its_commands(name: str) -> None:
    group = COMMANDS[name]
    assert isinstance(group, Group)
    assert all(f"  {inner} " in help_text([name]) for inner in group.commands)


def commands() -> list[Command]:
    groups = [one.commands.values() if isinstance(one, Group) else [one] for one in COMMANDS.values()]
    return [command for group in groups for command in group]


@pytest.mark.parametrize("command", commands(), ids=lambda command: command.place)
def test_no_flag_has_two_meanings(command: Command) -> None:
    flags = (*command.own, *command.shared)
    names = [name for flag in flags for name in flag.names]
    fields = [flag.field for flag in flags]
    assert (len(names), len(fields)) == (len(set(names)), len(set(fields)))
    assert {flag.field for flag in RUN} == set(Options._fields)


@pytest.mark.parametrize(
    ("path", "usage"),
    [
        (["run"], "my-agent run [FLAGS] [TASK]"),
        (["memory", "list"], "my-agent memory list [FLAGS] [TARGET]"),
        (["memory", "add"], "my-agent memory add [FLAGS] TEXT..."),
        (["memory", "store"], "my-agent memory store [FLAGS] KEY CONTENT"),
    ],
)
def test_the_help_says_what_may_be_left_out(path: list[str], usage: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = route(path)
    assert found.command is not None
    assert call(path, found.command, ["--help"]) == 0
    assert f"usage: {usage}\n" in capsys.readouterr().out


def options_of(*words: str) -> Options:
    command = COMMANDS["run"]
    assert isinstance(command, Command)
    return parse(("run",), command, words)[0]


def test_lists_of_tools_may_hold_commas() -> None:
    options = options_of("--allow", "shell,task", "--allow", " file_read ", "--tools", "")
    assert (options.allow, options.tools, options.deny) == (("shell", "task", "file_read"), (), ())


def test_a_flag_that_is_not_given_leaves_the_configuration_alone() -> None:
    assert options_of("hi") == Options()
    assert options_of("--max-retries", "0").max_retries == 0


@pytest.mark.parametrize("command", commands(), ids=lambda command: command.place)
def test_every_command_can_be_called(command: Command) -> None:
    module, _, name = command.place.partition(":")
    taken = signature(getattr(import_module(module), name)).parameters
    assert list(taken) == ["options", *(flag.field for flag in command.own)]


def test_the_shell_is_offered_what_the_parser_takes() -> None:
    import typer

    from agent.app.shell_completion import tree

    root: Any = typer.main.get_command(tree())
    assert set(root.commands) == set(COMMANDS)
    for name, one in COMMANDS.items():
        leaves = one.commands if isinstance(one, Group) else {name: one}
        shown = root.commands[name].commands if isinstance(one, Group) else root.commands
        for inner, command in leaves.items():
            offered = {flag for parameter in shown[inner].params for flag in parameter.opts if flag.startswith("-")}
            assert offered == {name for flag in (*command.own, *command.shared) for name in flag.names}, inner
