"""`call`: one command, its line parsed and its function called.

argparse and not typer: with the pydantic it brings, typer takes 150 ms to parse one flag, more than a chat may take to
its prompt. typer completes lines in the shell (`shell_completion.py`), from the same parameters.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from agent.app.commands import PROGRAM, Command
from agent.app.exits import UsageProblem
from agent.app.logs import set_up_logs
from agent.app.options import Flag, Options, flags_for
from agent.app.parameters import parameters_of

__all__ = ["call", "function_of"]

HELP_FLAGS = ("-h", "--help")
SHARED = "shared "  # before the fields of shared flags: a command may have a parameter of the same name


def call(path: Sequence[str], command: Command, words: Sequence[str]) -> int:
    """Parse `words` for this command and run it; return its exit code. Raises `UsageProblem` for a wrong line."""
    function = function_of(command)
    own, shared = parameters_of(function), flags_for(command.scope)
    parser = _Parser(prog=" ".join([PROGRAM, *path]), description=command.help, add_help=False, allow_abbrev=False)
    parser.usage = " ".join(["%(prog)s [FLAGS]", *(_place(one) for one in own if not one.names)])
    for one in own:
        _add(parser, one, one.field)
    group = parser.add_argument_group("flags of every command" if command.scope == "all" else "flags")
    for one in shared:
        _add(group, one, SHARED + one.field)
    group.add_argument(*HELP_FLAGS, action="store_true", default=False, help="Show this.")
    flags = words[: words.index("--")] if "--" in words else words
    if any(word in HELP_FLAGS for word in flags):
        print(parser.format_help(), end="")  # noqa: T201
        return 0
    known, rest = parser.parse_known_intermixed_args(list(words))
    if rest:
        parser.error(_strange(rest[0], [name for one in [*own, *shared] for name in one.names]))
    found = vars(known)
    options = Options.of({one.field: found[SHARED + one.field] for one in shared})
    set_up_logs(options.verbose)
    code = function(options, **{one.field: found[one.field] for one in own})
    return code if isinstance(code, int) else 0


def function_of(command: Command) -> Callable[..., Any]:
    """Import a command's function."""
    module, _, name = command.place.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        end = "" if message.endswith("?") else "."
        raise UsageProblem(f"{message}{end} `{self.prog} --help` shows what it takes")


def _place(flag: Flag) -> str:
    text = f"{flag.metavar}..." if flag.kind == "many" else flag.metavar
    return f"[{text}]" if flag.optional else text


def _strange(word: str, names: Sequence[str]) -> str:
    """Say what is wrong with a word that no parameter takes."""
    if not word.startswith("-"):
        return f"{word!r} is one word too many: a text with blanks needs quotes"
    from difflib import get_close_matches  # only on the way to an error

    close = get_close_matches(word.partition("=")[0], names, n=1)
    return f"there is no flag {word}" + (f"; did you mean {close[0]}?" if close else "")


def _add(parser: argparse.ArgumentParser | argparse._ArgumentGroup, flag: Flag, name: str) -> None:
    """Tell argparse of one parameter."""
    more: dict[str, Any] = {"help": flag.help.replace("%", "%%"), "default": flag.default}
    if flag.kind in ("switch", "count"):
        more |= (
            {"action": "store_true", "default": False} if flag.kind == "switch" else {"action": "count", "default": 0}
        )
    else:
        if flag.choices:
            more |= {"choices": flag.choices}
        if flag.metavar or not flag.names:
            more |= {"metavar": flag.metavar}
        if flag.kind in ("whole", "number"):
            more |= {"type": _number(int if flag.kind == "whole" else float, flag.low)}
        if flag.kind == "many" and flag.names:
            more |= {"action": "append"}
    if flag.names:
        parser.add_argument(*flag.names, dest=name, **more)
        return
    count = ("*" if flag.optional else "+") if flag.kind == "many" else ("?" if flag.optional else None)
    parser.add_argument(name, nargs=count, **more)


def _number(kind: type[int] | type[float], low: float | None) -> Callable[[str], float]:
    def read(text: str) -> float:
        try:
            found = kind(text)
        except ValueError:
            wanted = "a whole number" if kind is int else "a number"
            raise argparse.ArgumentTypeError(f"{text!r} is not {wanted}") from None
        if low is not None and not found >= low:
            raise argparse.ArgumentTypeError(f"{text} must be at least {low:g}")
        return found

    return read
