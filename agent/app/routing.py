"""`route`: the way from the words of a command line to a command, and the help of what is not one command alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from agent.app.commands import COMMANDS, PROGRAM, Command, Group
from agent.app.exits import UsageProblem, guess
from agent.app.options import PLAIN, takes_value

__all__ = ["Route", "help_text", "route"]


class Route(NamedTuple):
    """Where a command line leads."""

    path: tuple[str, ...]
    # Of the command, or of the group (or the program: empty) whose help is wanted
    command: Command | None
    rest: tuple[str, ...]
    # The line without the words of `path`


def route(words: Sequence[str]) -> Route:
    """Find the command that a line names. Flags may stand before it.

    Raises `UsageProblem` where a group has no such command, or where one word looks like a misspelt command.
    """
    commands: Mapping[str, Command | Group] = COMMANDS
    path: list[str] = []
    place = 0
    while place < len(words) and words[place] != "--":
        word = words[place]
        if word.startswith("-") and word != "-":
            place += 1 + takes_value(word)
            continue
        found = commands.get(word)
        if found is None and path:
            raise UsageProblem(
                f"{path[0]!r} has no command {word!r}{guess(word, commands)} There are: {', '.join(commands)}"
            )
        if found is None:
            if len(guess(word, commands)) > 1 and " " not in word:
                raise UsageProblem(
                    f"There is no command {word!r}{guess(word, commands)} To send it as a prompt: {PROGRAM} run {word}"
                )
            break
        path.append(word)
        words = (*words[:place], *words[place + 1 :])
        if isinstance(found, Command):
            return Route(tuple(path), found, tuple(words))
        commands = found.commands
    return Route(tuple(path), None, tuple(words))


def help_text(path: Sequence[str] = ()) -> str:
    """Return the help of the program, or of one group."""
    group = COMMANDS[path[0]] if path else None
    if isinstance(group, Group):
        head = [f"Usage: {PROGRAM} {path[0]} COMMAND [ARGUMENTS]", "", group.help, "", "Commands:"]
        lines = [*head, *(_row(name, command.help) for name, command in group.commands.items())]
    else:
        lines = [
            f"Usage: {PROGRAM} [PROMPT]           in a terminal a chat, in a pipe one answer",
            *(f"       {PROGRAM} COMMAND [ARGUMENTS]", "", "A terminal agent with memory built in.", "", "Commands:"),
        ]
        for name, one in COMMANDS.items():
            lines.append(_row(name, one.help))
            if isinstance(one, Group):
                lines.append(_row("", ", ".join(one.commands)))
        lines += ["", "Flags of every command:"]
        lines += [_row(f"{', '.join(flag.names)} {flag.metavar}", flag.help) for flag in PLAIN]
        lines += [_row("-h, --help", "Show this, or the help of a command."), _row("--version", "Show the version.")]
        lines.append(_row("--install-completion", "Set up completion for this shell (--show-completion: its code)."))
    return "\n".join([*lines, "", f"{' '.join([PROGRAM, *path])} COMMAND --help says more about a command."])


def _row(name: str, text: str) -> str:
    return f"  {name:<24}  {text}"
