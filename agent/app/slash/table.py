"""`COMMANDS`: every command of the chat, by name and alias, in one table, and `run_line`, which runs them."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NamedTuple

import agent.app.slash.context as context
import agent.app.slash.memory as memory
import agent.app.slash.sessions as sessions
import agent.app.slash.talk as talk
import agent.app.slash.tools as tools
from agent.app.style import NOTE

if TYPE_CHECKING:
    from agent.app.repl import Chat

__all__ = ["COMMANDS", "TABLE", "parse_line", "run_line", "unknown_command"]

_LINE = re.compile(r"[/／]([\w-]*)(?:\s+(.*)|)", re.DOTALL)


class Command(NamedTuple):
    name: str
    run: Callable[[Chat, str], Awaitable[None]]
    # Gets the rest of the line
    summary: str
    usage: str = ""
    # What may follow the name
    aliases: tuple[str, ...] = ()


TABLE = (
    Command("help", talk.show_help, "what can be typed here"),
    Command("exit", talk.leave, "leave; Ctrl-D does the same", aliases=("quit",)),
    Command("new", talk.begin_anew, "an empty talk; memory is read again", aliases=("reset", "clear")),
    Command("undo", talk.undo, "take the last turn out of the talk"),
    Command("retry", talk.retry, "ask the last message again"),
    Command("compact", talk.compact, "sum up the older part of the talk"),
    Command("memory", memory.show, "what is remembered, and how full it is", "[search WORDS]"),
    Command("remember", memory.remember, "keep a fact beyond this session", "[--user] TEXT"),
    Command("forget", memory.forget, "remove the entry that holds TEXT", "TEXT"),
    Command("recall", memory.recall, "what the archive finds for WORDS", "WORDS"),
    Command("sessions", sessions.show, "saved talks, the last one first"),
    Command("resume", sessions.resume, "go on with a saved talk", "ID"),
    Command("fork", sessions.fork, "go on in a copy; this talk stays as it is"),
    Command("model", context.model, "show the model, or go on with another one", "[NAME]"),
    Command("tools", tools.show, "what the model may use; one of them in full", "[NAME]"),
    Command("policy", tools.policy, "which tools run freely, ask first, or are denied"),
    Command("cost", context.cost, "tokens used so far"),
    Command("context", context.show, "how full the model's window is, part by part"),
    Command("cache", context.cache, "how much of what was sent came from the provider's cache"),
    Command("doctor", tools.doctor, "look for what could be wrong with this installation"),
)

COMMANDS: dict[str, Command] = {name: command for command in TABLE for name in (command.name, *command.aliases)}


def parse_line(text: str) -> tuple[str, str] | None:
    """Return the name and the rest of a line that asks for a command, None where it is a message.

    A path at its beginning makes it a message. The wide slash of Chinese keyboards counts as a slash.
    """
    found = _LINE.fullmatch(text)
    return (found[1].lower(), (found[2] or "").strip()) if found is not None else None


async def run_line(chat: Chat, text: str) -> bool:
    """Do what a line asks for; return False where it is a message."""
    line = parse_line(text)
    if line is None:
        return False
    name, rest = line
    if name in COMMANDS and rest and not COMMANDS[name].usage:
        chat.say(f"/{name} takes nothing after it, and nothing was done", NOTE)
    elif name in COMMANDS:
        await COMMANDS[name].run(chat, rest)
    else:
        chat.say(unknown_command(name), NOTE)
    return True


def unknown_command(name: str) -> str:
    """Return a sentence for a name that is none, with the nearest that is."""
    from difflib import get_close_matches  # only on the way to an error

    close = get_close_matches(name, COMMANDS, n=1, cutoff=0.6)
    guess = f" Did you mean /{close[0]}?" if close else ""
    return f"There is no command /{name}, and nothing was sent.{guess} /help lists the commands"
