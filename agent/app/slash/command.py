"""`Command`: one command of the chat, and `parse_line`, which finds it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.app.chat import Chat

__all__ = ["Command", "Line", "parse_line"]

_LINE = re.compile(r"[/／](\S*)\s*(.*)", re.DOTALL)
_NAME = re.compile(r"[\w?-]*")


def _no_words(chat: Chat) -> Iterable[tuple[str, str]]:
    return ()


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    run: Callable[[Chat, str], Awaitable[None]]
    # Gets the rest of the line
    summary: str
    usage: str = ""
    # What may follow the name
    aliases: tuple[str, ...] = ()
    words: Callable[[Chat], Iterable[tuple[str, str]]] = _no_words
    # What may be completed after the name, each with its meaning


@dataclass(frozen=True, slots=True)
class Line:
    """A line that asks for a command; `command` is None where there is none of that name."""

    name: str
    command: Command | None
    rest: str


def parse_line(text: str, commands: Mapping[str, Command]) -> Line | None:
    """Return what a line asks for, None where it is a message: one that begins with a path, for example.

    The wide slash of Chinese keyboards counts as a slash.
    """
    found = _LINE.fullmatch(text)
    if found is None:
        return None
    name = found[1].lower()
    if name not in commands and not _NAME.fullmatch(name):
        return None
    return Line(name, commands.get(name), found[2].strip())
