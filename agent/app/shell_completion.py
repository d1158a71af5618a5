"""`complete`: answers the shell that completes a line, and sets completion up. The whole tree is built for this."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

import typer
from typer.exceptions import TyperException

from agent.app.commands import COMMANDS, PROGRAM, Command
from agent.app.exits import UsageProblem
from agent.app.options import Flag

__all__ = ["complete", "tree"]

_TYPES: dict[str, Any] = {"text": str, "many": list[str], "whole": int, "number": float, "switch": bool, "count": int}


def complete(words: Sequence[str]) -> int:
    """Do what the shell or `--install-completion` asks. Raises `UsageProblem`."""
    try:
        code = typer.main.get_command(tree()).main(args=list(words), prog_name=PROGRAM, standalone_mode=False)
    except TyperException as error:
        raise UsageProblem(error.format_message()) from error
    except SystemExit as end:  # typer's way to say that the shell was answered
        return end.code if isinstance(end.code, int) else 0
    return code if isinstance(code, int) else 0


def tree() -> typer.Typer:
    """Return all commands and flags as typer sees them; they do nothing."""
    app = typer.Typer(rich_markup_mode=None)
    for name, one in COMMANDS.items():
        if isinstance(one, Command):
            app.command(name=name, help=one.help)(_shape(one))
            continue
        group = typer.Typer(rich_markup_mode=None)
        for inner, command in one.commands.items():
            group.command(name=inner, help=command.help)(_shape(command))
        app.add_typer(group, name=name, help=one.help)
    return app


def _shape(command: Command) -> Callable[..., None]:
    """Return a function with the parameters of a command."""

    def nothing(**values: Any) -> None:
        pass

    parameters = [_parameter(flag) for flag in (*command.own, *command.shared)]
    nothing.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what typer reads
    nothing.__annotations__ = {}
    return nothing


def _parameter(flag: Flag) -> inspect.Parameter:
    hint = Literal[flag.choices] if flag.choices else _TYPES[flag.kind]
    counts = flag.kind == "count"
    said = typer.Option(*flag.names, help=flag.help, count=counts) if flag.names else typer.Argument(help=flag.help)
    default = {"switch": False, "count": 0}.get(flag.kind)
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(flag.field, kind, default=default, annotation=Annotated[hint | None, said])
