"""`COMMANDS`: the tree of commands, and the way from the words of a command line to one of them.

Typer is not imported here: the help of the program and of a group comes from this table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from agent.app.options import FLAGS, Flag, Scope, takes_value

__all__ = ["COMMANDS", "PROGRAM", "Command", "Group", "Route", "UnknownCommand", "help_text", "route"]

PROGRAM = "my-agent"


class Command(NamedTuple):
    place: str
    # module:function; the function takes `Options` first
    help: str
    scope: Scope = "all"


class Group(NamedTuple):
    help: str
    commands: Mapping[str, Command]


def _in(module: str, **commands: tuple[str, str]) -> dict[str, Command]:
    return {name: Command(f"agent.app.{module}:{place}", text) for name, (place, text) in commands.items()}


COMMANDS: dict[str, Command | Group] = {
    "chat": Command("agent.app.chat_command:chat", "Talk in the terminal.", "turn"),
    "run": Command("agent.app.oneshot:run", "Do one task, print the answer, leave.", "run"),
    "memory": Group(
        "See and change what the agent remembers.",
        {
            **_in(
                "memory_commands.entries",
                list=("list_entries", "The entries, and how full the files are."),
                show=("show", "The memory as the model gets it."),
                add=("add", "Add an entry."),
                remove=("remove", "Remove the entry that holds a text."),
                path=("path", "The folder of the memory."),
                stats=("stats", "Figures about the memory."),
            ),
            **_in(
                "memory_commands.finding",
                search=("search", "Find entries."),
                get=("get", "One entry, whole."),
            ),
            **_in(
                "memory_commands.files",
                edit=("edit", "Edit the entries in $EDITOR."),
                export=("export", "Write all entries as JSON Lines."),
            ),
            "import": Command("agent.app.memory_commands.files:import_entries", "Add entries from JSON Lines."),
            **_in("memory_commands.log", log=("log", "Who changed what, and when.")),
            **_in(
                "memory_commands.archive",
                store=("store", "Store an entry of the archive under a key."),
                forget=("forget", "Remove an entry of the archive."),
                reindex=("reindex", "Compute the missing vectors of the archive."),
            ),
        },
    ),
    "sessions": Group(
        "See and change the saved talks.",
        _in(
            "session_commands",
            list=("list_all", "The sessions, the last one first."),
            show=("show", "What was said in a session."),
            fork=("fork", "Copy a session, to go on in the copy."),
            export=("export", "A session as Markdown or JSON."),
            delete=("delete", "Delete sessions."),
            path=("path", "The folder of the sessions, or the file of one."),
        ),
    ),
    "tools": Group(
        "See what the model may do.",
        _in(
            "tool_commands",
            list=("list_all", "The tools and what the policy says of each."),
            show=("show", "One tool, as the model sees it."),
        ),
    ),
    "config": Group(
        "See and check the configuration.",
        _in(
            "config_commands",
            show=("show", "Every key, its value, and where that came from."),
            path=("path", "The files that are read."),
            check=("check", "Read everything and say what is wrong."),
            trust=("trust", "Let this project's file name servers and keys."),
        ),
    ),
    "doctor": Command("agent.app.doctor:doctor", "Look for what could be wrong with this installation."),
    "init": Command("agent.app.init:init", "Make .my_agent_core in this folder: configuration and memory."),
}


class UnknownCommand(Exception):
    """The words name no command; the text says what there is."""


class Route(NamedTuple):
    """Where a command line leads."""

    path: tuple[str, ...]
    # Of the command, or of the group (or the program: empty) whose help is wanted
    command: Command | None
    rest: tuple[str, ...]
    # The line without the words of `path`


def route(words: Sequence[str]) -> Route:
    """Find the command that a line names. Flags may stand before it.

    Raises `UnknownCommand` where a group has no such command, or where one word looks like a misspelt command.
    """
    places = _word_places(words)
    if not places:
        return Route((), None, tuple(words))
    first = words[places[0]]
    found = COMMANDS.get(first)
    if found is None:
        _refuse_misspelt(first)
        return Route((), None, tuple(words))
    if isinstance(found, Command):
        return Route((first,), found, _without(words, places[:1]))
    if len(places) == 1:
        return Route((first,), None, _without(words, places[:1]))
    second = words[places[1]]
    command = found.commands.get(second)
    if command is None:
        guess = _closest(second, found.commands) or "."
        raise UnknownCommand(f"'{first}' has no command {second!r}{guess} There are: {', '.join(found.commands)}")
    return Route((first, second), command, _without(words, places[:2]))


def _word_places(words: Sequence[str]) -> list[int]:
    """Return where the first two words stand that are neither flags nor values of flags."""
    found: list[int] = []
    place = 0
    while place < len(words) and len(found) < 2:
        word = words[place]
        if word == "--":
            break
        if word.startswith("-") and word != "-":
            place += takes_value(word)
        else:
            found.append(place)
        place += 1
    return found


def _without(words: Sequence[str], places: Sequence[int]) -> tuple[str, ...]:
    return tuple(word for place, word in enumerate(words) if place not in places)


def _refuse_misspelt(word: str) -> None:
    guess = _closest(word, COMMANDS)
    if guess and not word.count(" "):
        raise UnknownCommand(f"There is no command {word!r}{guess} To send it as a prompt: {PROGRAM} run {word}")


def _closest(word: str, names: Mapping[str, object]) -> str:
    from difflib import get_close_matches  # only on the way to an error

    close = get_close_matches(word, names, n=1, cutoff=0.8)
    return f"; did you mean {close[0]!r}?" if close else ""


def help_text(path: Sequence[str] = ()) -> str:
    """Return the help of the program, or of one group."""
    if path:
        group = COMMANDS[path[0]]
        commands = group.commands if isinstance(group, Group) else {}
        head = f"Usage: {PROGRAM} {path[0]} COMMAND [ARGUMENTS]\n\n{group.help}"
        return "\n".join([head, "", "Commands:", *_table({n: c.help for n, c in commands.items()}), "", _more(path)])
    lines = [
        f"Usage: {PROGRAM} [PROMPT]           in a terminal a chat, in a pipe one answer",
        f"       {PROGRAM} COMMAND [ARGUMENTS]",
        "",
        "A terminal agent with memory built in.",
        "",
        "Commands:",
    ]
    for name, one in COMMANDS.items():
        text = f"{one.help} ({', '.join(one.commands)})" if isinstance(one, Group) else one.help
        lines += _table({name: text})
    lines += [
        "",
        "Flags of every command:",
        *_table({_spelled(flag): flag.help for flag in FLAGS if flag.scope == "all"}),
    ]
    lines += _table({"-h, --help": "Show this, or the help of a command.", "--version": "Show the version."})
    lines += _table(
        {"--install-completion": "Set up completion for this shell.", "--show-completion": "Show its code."}
    )
    return "\n".join([*lines, "", _more(path)])


def _more(path: Sequence[str]) -> str:
    return f"{' '.join([PROGRAM, *path])} COMMAND --help says more about a command."


def _spelled(flag: Flag) -> str:
    return ", ".join(flag.names) + (f" {flag.metavar}" if flag.metavar else "")


def _table(rows: Mapping[str, str]) -> list[str]:
    from textwrap import wrap

    lines: list[str] = []
    for name, text in rows.items():
        first, *others = wrap(text, 72) or [""]
        lines.append(f"  {name:<24}  {first}")
        lines += [f"{'':28}{line}" for line in others]
    return lines
