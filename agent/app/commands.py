"""`COMMANDS`: the tree of commands, each with its place in the code and its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from agent.app.options import DATA, PLAIN, RUN, TURN, Flag

__all__ = ["COMMANDS", "PROGRAM", "Command", "Group"]

PROGRAM = "my-agent"


class Command(NamedTuple):
    place: str
    # module:function; the function takes `Options`, and what `own` names as keywords
    help: str
    own: tuple[Flag, ...]
    shared: tuple[Flag, ...]


class Group(NamedTuple):
    help: str
    commands: Mapping[str, Command]


def _command(place: str, text: str, *own: Flag, shared: tuple[Flag, ...] = DATA) -> Command:
    return Command(f"agent.app.{place}", text, own, shared)


def _argument(field: str, text: str, *, metavar: str = "", needed: bool = True) -> Flag:
    return Flag(field, (), "text", text, metavar or field.upper(), needed=needed)


def _words(field: str, text: str) -> Flag:
    return Flag(field, (), "many", text, field.upper())


def _option(name: str, text: str, *, choices: tuple[str, ...] = (), default: str | None = None) -> Flag:
    return Flag(name, (f"--{name}",), "text", text, name.upper(), choices, default)


def _limit(default: int, text: str) -> Flag:
    return Flag("limit", ("--limit", "-n"), "whole", text, "N", default=default, low=1)


_TARGETS = ("memory", "user")
_TARGET = Flag("target", (), "text", "memory or user.", "TARGET", _TARGETS)
_IN = Flag("target", ("--target", "-t"), "text", "memory (agent notes) or user (profile).", "TARGET", _TARGETS)
_LAYER = _option(
    "layer", "curated (MEMORY.md, USER.md) or archive; else all that are on.", choices=("curated", "archive")
)
_CATEGORY = _option("category", "Of the archive: only this category.")
_OWN_CATEGORY = _option("category", "core, daily, or a name of your own.", default="core")
_BEFORE = "memory or user may stand before it, if it is one word or quoted."
_HELD = _words("text", f"A text that only this entry holds; {_BEFORE}")
_KEY_OR_HELD = _words("text", f"The key in the archive, or a text that only this entry holds; {_BEFORE}")
_QUERY = _words("query", "Words. Curated entries hold all of them; in the archive the best come first.")
_NEW = _words("text", f"The entry, - reads it from standard input; {_BEFORE}")
_KEY, _CONTENT = (
    _argument("key", "Name of the entry."),
    _argument("content", "The fact; - reads it from standard input."),
)
_TAG, _METADATA = Flag("tag", ("--tag",), "many", "A tag (repeatable).", "TAG"), _option("metadata", "A JSON object.")
_TO = _argument("to", "A new file; else standard output.", metavar="FILE", needed=False)
_SOURCE = _argument("source", "JSON Lines; - reads standard input.", metavar="FILE")
_ID = _argument("session", "Id of the session, or the beginning of it.", metavar="ID")
_FORMAT = _option("format", "markdown or json.", choices=("markdown", "json"), default="markdown")
_REMOVE = Flag("remove", ("--remove",), "switch", "Take the trust back.")
_PROMPT = _argument("prompt", "The first message.", needed=False)
_TASK = _argument("task", "What is to be done; - reads it from standard input.", needed=False)
_SECTION = _argument("section", "Only keys that begin so, such as memory.", needed=False)
_CURATED, _ARCHIVED, _BOTH = (f"memory_commands.{name}" for name in ("curated", "archived", "entries"))

COMMANDS: dict[str, Command | Group] = {
    "chat": _command("chat_command:chat", "Talk in the terminal.", _PROMPT, shared=TURN),
    "run": _command("oneshot:run", "Do one task, print the answer, leave.", _TASK, shared=RUN),
    "memory": Group(
        "See and change what the agent remembers.",
        {
            "list": _command(
                f"{_BOTH}:list_entries", "The entries, and how full the files are.", _TARGET, _LAYER, _CATEGORY
            ),
            "show": _command(f"{_CURATED}:show", "The memory as the model gets it.", _TARGET),
            "search": _command(
                f"{_BOTH}:search", "Find entries.", _QUERY, _LAYER, _CATEGORY, _limit(10, "Hits at most.")
            ),
            "get": _command(f"{_BOTH}:get", "One entry, whole.", _KEY_OR_HELD, _LAYER, _IN),
            "add": _command(f"{_CURATED}:add", "Add an entry.", _NEW, _IN),
            "edit": _command(
                "memory_commands.editing:edit",
                "Edit the entries in $EDITOR; a line with only § divides them.",
                _TARGET._replace(default="memory"),
                shared=PLAIN,
            ),
            "remove": _command(f"{_CURATED}:remove", "Remove the entry that holds a text.", _HELD, _IN),
            "log": _command(f"{_CURATED}:log", "Who changed what, and when.", _IN, _limit(50, "Changes at most.")),
            "export": _command(f"{_BOTH}:export", "Write all entries as JSON Lines.", _TO, _LAYER, shared=PLAIN),
            "import": _command(
                "memory_commands.importing:import_entries", "Add entries; doubles are left out.", _SOURCE, _LAYER
            ),
            "stats": _command(f"{_BOTH}:stats", "Figures about the memory.", _LAYER),
            "path": _command(f"{_CURATED}:path", "The folder of the memory, or the file of a target.", _TARGET),
            "store": _command(
                f"{_ARCHIVED}:store",
                "Store an entry of the archive under a key; one of the same key is replaced.",
                *(_KEY, _CONTENT, _OWN_CATEGORY, _TAG, _METADATA),
            ),
            "forget": _command(f"{_ARCHIVED}:forget", "Remove an entry of the archive.", _KEY),
            "reindex": _command(f"{_ARCHIVED}:reindex", "Compute the missing vectors of the archive."),
        },
    ),
    "sessions": Group(
        "See and change the saved talks.",
        {
            "list": _command(
                "session_commands:list_all", "The sessions, newest first.", _limit(20, "Sessions at most.")
            ),
            "show": _command("session_commands:show", "What was said in a session.", _ID),
            "fork": _command("session_commands:fork", "Copy a session, to go on in the copy.", _ID),
            "export": _command(
                "session_commands:export",
                "A session as Markdown or JSON, without the keys that it may name.",
                *(_ID, _FORMAT, _option("to", "Write to this new file.")),
                shared=PLAIN,
            ),
            "delete": _command(
                "session_commands:delete",
                "Delete sessions; one that is in use is refused.",
                _words("sessions", "Ids of the sessions."),
                shared=PLAIN,
            ),
            "path": _command(
                "session_commands:path",
                "The folder of the sessions, or the file of one.",
                _ID._replace(needed=False),
                shared=PLAIN,
            ),
        },
    ),
    "tools": Group(
        "See what the model may do.",
        {
            "list": _command("tool_commands:list_all", "The tools and what the policy says of each."),
            "show": _command(
                "tool_commands:show", "One tool, as the model sees it.", _argument("name", "Of the tool.")
            ),
        },
    ),
    "config": Group(
        "See and check the configuration.",
        {
            "show": _command("config_commands:show", "Every key, its value, and where that came from.", _SECTION),
            "path": _command("config_commands:path", "The files that are read, the one that wins first."),
            "check": _command("config_commands:check", "Read everything and say what is wrong."),
            "trust": _command("config_commands:trust", "Let this project's file name servers.", _REMOVE, shared=PLAIN),
        },
    ),
    "doctor": _command("doctor:doctor", "Look for what could be wrong with this installation."),
    "init": _command("init:init", "Make .my_agent_core in this folder: configuration and memory."),
}
