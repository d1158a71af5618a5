"""`parameters_of`: what a command takes, read from the signature of its function.

def show(options: Options, name: Annotated[str, Arg("Name of the tool.")], json: Annotated[bool, Opt("--json")])
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from agent.app.options import Flag, Kind

__all__ = ["Arg", "AsJson", "Opt", "parameters_of"]

_KINDS: dict[Any, Kind] = {str: "text", int: "whole", float: "number", bool: "switch", list: "many"}


class Arg(NamedTuple):
    """An argument by its place. Without a default it must be there; a list takes all that stand there."""

    help: str
    metavar: str = ""


class Opt:
    """A flag by its names."""

    def __init__(self, *names: str, help: str, metavar: str = "", low: float | None = None) -> None:  # noqa: A002
        self.names = names
        self.help = help
        self.metavar = metavar
        self.low = low


AsJson = Annotated[bool, Opt("--json", help="Print JSON.")]


def parameters_of(function: Callable[..., Any]) -> list[Flag]:
    """Return the parameters of a command's function, but its first, which is `Options`."""
    _, *own = inspect.signature(function, eval_str=True).parameters.values()
    return [_flag(one) for one in own]


def _flag(parameter: inspect.Parameter) -> Flag:
    hint, said = get_args(parameter.annotation)
    if get_origin(hint) in (Union, types.UnionType):
        hint = next(one for one in get_args(hint) if one is not type(None))
    choices = tuple(get_args(hint)) if get_origin(hint) is Literal else ()
    kind = "text" if choices else _KINDS[get_origin(hint) or hint]
    optional = parameter.default is not inspect.Parameter.empty
    if isinstance(said, Arg):
        return Flag(
            parameter.name,
            (),
            kind,
            said.help,
            said.metavar or parameter.name.upper(),
            choices=choices,
            optional=optional,
            default=parameter.default if optional else None,
        )
    return Flag(
        parameter.name,
        said.names,
        kind,
        said.help,
        said.metavar,
        choices=choices,
        low=said.low,
        default=parameter.default,
    )
