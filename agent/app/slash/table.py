"""`COMMANDS`: every command of the chat, by name and alias, in one table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import agent.app.slash.context as context
import agent.app.slash.memory as memory
import agent.app.slash.sessions as sessions
import agent.app.slash.talk as talk
import agent.app.slash.tools as tools
from agent.app.slash.command import Command

if TYPE_CHECKING:
    from agent.app.chat import Chat

__all__ = ["COMMANDS", "TABLE", "choices", "unknown_command"]

TABLE = (
    Command("help", talk.show_help, "what can be typed here", aliases=("?",)),
    Command("exit", talk.leave, "leave; Ctrl-D does the same", aliases=("quit",)),
    Command("new", talk.begin_anew, "an empty talk; memory is read again", aliases=("reset", "clear")),
    Command("undo", talk.undo, "take the last turn out of the talk"),
    Command("retry", talk.retry, "ask the last message again"),
    Command("edit", talk.edit, "write the message in $EDITOR", "[TEXT]"),
    Command("compact", talk.compact, "sum up the older part of the talk"),
    Command("memory", memory.show, "what is remembered, and how full it is", "[search WORDS]", words=memory.words),
    Command("remember", memory.remember, "keep a fact beyond this session", "[--user] TEXT", words=memory.targets),
    Command("forget", memory.forget, "remove the entry that holds TEXT", "TEXT"),
    Command("recall", memory.recall, "what the archive finds for WORDS", "WORDS"),
    Command("sessions", sessions.show, "saved talks, the last one first"),
    Command("resume", sessions.resume, "go on with a saved talk", "ID", words=sessions.ids),
    Command("fork", sessions.fork, "go on in a copy; this talk stays as it is"),
    Command("model", context.model, "show the model, or go on with another one", "[NAME]"),
    Command("tools", tools.show, "what the model may use; one of them in full", "[NAME]", words=tools.names),
    Command("policy", tools.policy, "which tools run freely, ask first, or are denied"),
    Command("cost", context.cost, "tokens used so far"),
    Command("context", context.show, "how full the model's window is, part by part"),
    Command("cache", context.cache, "how much of what was sent came from the provider's cache"),
    Command("doctor", tools.doctor, "look for what could be wrong with this installation"),
)

COMMANDS: dict[str, Command] = {name: command for command in TABLE for name in (command.name, *command.aliases)}


def choices(chat: Chat, before: str) -> Iterator[tuple[str, str]]:
    """Yield what may be typed next on a line of which `before` is there already."""
    words = before.split()
    if not words:
        for command in TABLE:
            yield f"/{command.name}", command.summary
    elif len(words) == 1 and (found := COMMANDS.get(words[0][1:].lower())) is not None:
        yield from found.words(chat)


def unknown_command(name: str) -> str:
    """Return a sentence for a name that is none, with the nearest that is."""
    from difflib import get_close_matches  # only on the way to an error

    close = get_close_matches(name, COMMANDS, n=1, cutoff=0.6)
    guess = f" Did you mean /{close[0]}?" if close else ""
    return f"There is no command /{name}, and nothing was sent.{guess} /help lists the commands"
