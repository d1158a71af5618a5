"""`call`: one command, its line parsed and its function called.

argparse and not typer: with the pydantic it brings, typer takes 150 ms to parse one flag, more than a chat may take to
its prompt. typer completes lines in the shell (`shell_completion.py`), from the same table.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from agent.app.commands import PROGRAM, Command
from agent.app.exits import UsageProblem, guess
from agent.app.logs import set_up_logs
from agent.app.options import Flag, Options

__all__ = ["call", "parse"]


def call(path: Sequence[str], command: Command, words: Sequence[str]) -> int:
    """Parse `words` for this command and run it; return its exit code. Raises `UsageProblem` for a wrong line."""
    flags = words[: words.index("--")] if "--" in words else words
    if "-h" in flags or "--help" in flags:
        print(_parser(path, command).format_help(), end="")  # noqa: T201
        return 0
    options, own = parse(path, command, words)
    set_up_logs(options.verbose)
    module, _, name = command.place.partition(":")
    code: int = getattr(importlib.import_module(module), name)(options, **own)
    return code


def parse(path: Sequence[str], command: Command, words: Sequence[str]) -> tuple[Options, dict[str, Any]]:
    """Return what the shared flags say, and the command's own parameters."""
    parser = _parser(path, command)
    # argparse loses what stands behind `--` where flags and arguments may mix
    read = parser.parse_known_args if "--" in words else parser.parse_known_intermixed_args
    known, rest = read(list(words))
    if rest and not rest[0].startswith("-"):
        parser.error(f"{rest[0]!r} is one word too many: a text with blanks needs quotes")
    if rest:
        names = [name for one in (*command.own, *command.shared) for name in one.names]
        parser.error(f"there is no flag {rest[0]}{guess(rest[0].partition('=')[0], names)}")
    found: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in vars(known).items()
        if name != "help"
    }
    own = {one.field: found.pop(one.field) for one in command.own}
    return Options(**{name: value for name, value in found.items() if value is not None}), own


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        end = "" if message.endswith(("?", ".")) else "."
        raise UsageProblem(f"{message}{end} `{self.prog} --help` shows what it takes")


def _parser(path: Sequence[str], command: Command) -> argparse.ArgumentParser:
    parser = _Parser(prog=" ".join([PROGRAM, *path]), description=command.help, add_help=False, allow_abbrev=False)
    parser.usage = " ".join(["%(prog)s [FLAGS]", *(_place(one) for one in command.own if not one.names)])
    for one in command.own:
        _add(parser, one)
    group = parser.add_argument_group("flags")
    for one in command.shared:
        _add(group, one)
    group.add_argument("-h", "--help", action="store_true", help="Show this.")
    return parser


def _place(argument: Flag) -> str:
    if argument.kind == "many":
        return f"{argument.metavar}..."
    return argument.metavar if argument.needed else f"[{argument.metavar}]"


def _add(parser: argparse.ArgumentParser | argparse._ArgumentGroup, flag: Flag) -> None:
    """Tell argparse of one parameter."""
    if flag.kind in ("switch", "count"):
        action, default = ("store_true", False) if flag.kind == "switch" else ("count", 0)
        parser.add_argument(*flag.names, dest=flag.field, action=action, default=default, help=flag.help)
        return
    more: dict[str, Any] = {"type": _reader(flag), "metavar": flag.metavar, "help": flag.help, "default": flag.default}
    if not flag.names:
        count = "+" if flag.kind == "many" else None if flag.needed else "?"
        parser.add_argument(flag.field, nargs=count, **(more | {"type": str if flag.kind == "many" else more["type"]}))
    else:
        parser.add_argument(*flag.names, dest=flag.field, action="extend" if flag.kind == "many" else "store", **more)


def _reader(flag: Flag) -> Callable[[str], Any]:
    """Return what makes a value of a word; lists may hold commas."""

    def read(text: str) -> Any:
        if flag.kind == "many":
            return [part.strip() for part in text.split(",") if part.strip()]
        if flag.choices and text not in flag.choices:
            raise argparse.ArgumentTypeError(f"{text!r} is unknown; choose {', '.join(flag.choices)}")
        if flag.kind == "text":
            return text
        try:
            number = int(text) if flag.kind == "whole" else float(text)
        except ValueError:
            wanted = "a whole number" if flag.kind == "whole" else "a number"
            raise argparse.ArgumentTypeError(f"{text!r} is not {wanted}") from None
        if flag.low and number < flag.low:
            raise argparse.ArgumentTypeError(f"{text} must be at least {flag.low}")
        return number

    return read
