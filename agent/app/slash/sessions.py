"""Commands about saved talks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agent.app.plain import one_line, shorten
from agent.app.style import DIM, NOTE

if TYPE_CHECKING:
    from agent.app.repl import Chat

__all__ = ["fork", "resume", "show"]

SHOWN = 20
NOT_SAVED = "This talk is not saved (--no-session), so there are no sessions here"


async def show(chat: Chat, rest: str) -> None:
    from agent import list_sessions

    folder, current = _place(chat)
    if folder is None:
        chat.say(NOT_SAVED, NOTE)
        return
    found = list_sessions(folder)
    lines = []
    for one in found[:SHOWN]:
        mark = "*" if one.id == current else " "
        head = f"{mark} {one.id}  {one.updated.astimezone():%Y-%m-%d %H:%M}  {one.turns:>3} turns  "
        lines.append(head + shorten(one_line(one.title), max(20, chat.screen.columns - len(head))))
    if len(found) > SHOWN:
        lines.append(f"  and {len(found) - SHOWN} older ones: `my-agent sessions list`")
    chat.screen.show("\n".join(lines) or f"No sessions yet in {folder}")
    if found:
        chat.say("/resume ID goes on with one; the beginning of an id will do", DIM)


async def resume(chat: Chat, rest: str) -> None:
    from agent import Session, find_session, list_sessions

    folder, current = _place(chat)
    if folder is None:
        chat.say(NOT_SAVED, NOTE)
        return
    wanted = rest or next((one.id for one in list_sessions(folder) if one.id != current), "")
    if not wanted:
        chat.say("There is no other session to go on with", NOTE)
        return
    path = find_session(folder, wanted)
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
        await chat.enter(session.fork())
        chat.say(f"You are in a copy now; {session.id} stays as it was", DIM)


def _place(chat: Chat) -> tuple[Path | None, str]:
    """Return the folder of the sessions and the id of this one."""
    session = chat.agent.session
    return (chat.parts.sessions_dir, "") if session is None else (session.path.parent, session.id)
