"""`call`: one command, its flags parsed by typer. Only the command that was asked for is built."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer
from typer.exceptions import TyperException

from agent.app.commands import COMMANDS, PROGRAM, Command, Group
from agent.app.exits import UsageProblem
from agent.app.options import Flag, Options, flags_for

__all__ = ["call", "complete"]

_TYPES: dict[str, Any] = {
    "text": str | None,
    "many": list[str] | None,
    "whole": int | None,
    "number": float | None,
    "switch": bool,
    "count": int,
}
_HELP = {"help_option_names": ["-h", "--help"]}


def call(path: Sequence[str], command: Command, words: Sequence[str]) -> int:
    """Parse `words` for this command and run it; return its exit code. Raises `UsageProblem` for a wrong line.

    typer only parses: what the command raises is none of its business.
    """
    parsed: list[Callable[[], Any]] = []
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command(name=path[-1], help=command.help, context_settings=_HELP)(_function(command, parsed.append))
    name = " ".join([PROGRAM, *path])
    try:
        typer.main.get_command(app).main(args=list(words), prog_name=name, standalone_mode=False)
    except TyperException as error:
        raise UsageProblem(f"{error.format_message().rstrip('.')}. '{name} --help' shows the flags") from error
    code = parsed[0]() if parsed else 0  # else the help was shown
    return code if isinstance(code, int) else 0


def complete(words: Sequence[str]) -> int:
    """Answer the shell that wants a completion, or install it: the whole tree is built for this."""
    app = _app()
    for name, one in COMMANDS.items():
        if isinstance(one, Group):
            group = _app()
            for inner, command in one.commands.items():
                group.command(name=inner, help=command.help, context_settings=_HELP)(_function(command, _nothing))
            app.add_typer(group, name=name, help=one.help)
        else:
            app.command(name=name, help=one.help, context_settings=_HELP)(_function(one, _nothing))
    code = typer.main.get_command(app).main(args=list(words), prog_name=PROGRAM, standalone_mode=False)
    return code if isinstance(code, int) else 0


def _app() -> typer.Typer:
    return typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, context_settings=_HELP)


def _nothing(call: Callable[[], Any]) -> None:
    """A tree that is built for a completion runs no command."""


def _function(command: Command, parsed: Callable[[Callable[[], Any]], None]) -> Callable[..., Any]:
    """Return the command as typer wants it: its own parameters, then the shared flags. It hands over what to call."""
    module, _, name = command.place.partition(":")
    function = getattr(importlib.import_module(module), name)
    own = [one for one in inspect.signature(function, eval_str=True).parameters.values() if one.name != "options"]
    shared = flags_for(command.scope)

    def perform(**values: Any) -> None:
        options = Options.of({flag.field: values.pop(f"shared_{flag.field}") for flag in shared})
        parsed(lambda: function(options, **values))

    parameters = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own]
    signature = inspect.Signature([*parameters, *map(_parameter, shared)])
    perform.__signature__ = signature  # type: ignore[attr-defined]  # what typer reads instead of **values
    perform.__annotations__ = {}
    return perform


def _parameter(flag: Flag) -> inspect.Parameter:
    count = flag.kind == "count"
    low = {"whole": 0, "number": 0}.get(flag.kind)
    option = typer.Option(
        *flag.names, help=flag.help, metavar=flag.metavar or None, count=count, min=low, show_default=False
    )
    default: Any = {"switch": False, "count": 0}.get(flag.kind)
    return inspect.Parameter(
        f"shared_{flag.field}",
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[_TYPES[flag.kind], option],
    )
