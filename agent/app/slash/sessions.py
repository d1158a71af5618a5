"""Commands about saved talks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from agent.app.plain import one_line, shorten
from agent.app.style import DIM, NOTE

if TYPE_CHECKING:
    from agent.app.chat import Chat

__all__ = ["fork", "ids", "resume", "show"]

SHOWN = 20
NOT_SAVED = "This talk is not saved (--no-session), so there are no sessions here"


def ids(chat: Chat) -> Iterator[tuple[str, str]]:
    from agent import list_sessions

    folder = _folder(chat)
    for one in list_sessions(folder)[:SHOWN] if folder is not None else ():
        yield one.id, one.title


async def show(chat: Chat, rest: str) -> None:
    from agent import list_sessions

    folder = _folder(chat)
    if folder is None:
        chat.say(NOT_SAVED, NOTE)
        return
    found = list_sessions(folder)
    current = chat.agent.session.id if chat.agent.session is not None else ""
    lines = []
    for one in found[:SHOWN]:
        mark = "*" if one.id == current else " "
        head = f"{mark} {one.id}  {one.updated.astimezone():%Y-%m-%d %H:%M}  {one.turns:>3} turns  "
        lines.append(head + shorten(one_line(one.title), max(20, chat.screen.columns - len(head))))
    if len(found) > SHOWN:
        lines.append(f"  and {len(found) - SHOWN} older ones: `my-agent sessions list`")
    chat.show("\n".join(lines) or f"No sessions yet in {folder}")
    if found:
        chat.say("/resume ID goes on with one; the beginning of an id will do", DIM)


async def resume(chat: Chat, rest: str) -> None:
    from agent import Session, find_session, list_sessions

    folder = _folder(chat)
    if folder is None:
        chat.say(NOT_SAVED, NOTE)
        return
    current = chat.agent.session.id if chat.agent.session is not None else ""
    if not rest:
        older = [one.id for one in list_sessions(folder) if one.id != current]
        if not older:
            chat.say("There is no other session to go on with", NOTE)
            return
        rest = older[0]
    path = find_session(folder, rest)
    if path.stem == current:
        chat.say("That is the talk you are in", NOTE)
        return
    await chat.enter(Session.open(path))


async def fork(chat: Chat, rest: str) -> None:
    session = chat.agent.session
    if session is None:
        chat.say(NOT_SAVED, NOTE)
    elif not session.messages:
        chat.say("Nothing has been said yet that could be copied", NOTE)
    else:
        parent = session.id
        await chat.enter(session.fork())
        chat.say(f"You are in a copy now; {parent} stays as it was", DIM)


def _folder(chat: Chat) -> Path | None:
    session = chat.agent.session
    return session.path.parent if session is not None else chat.parts.sessions_dir
