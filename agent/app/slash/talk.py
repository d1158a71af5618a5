"""Commands about the talk itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.app.plain import cell_width, one_line, shorten
from agent.app.style import DIM, NOTE

if TYPE_CHECKING:
    from agent.app.repl import Chat

__all__ = ["begin_anew", "compact", "leave", "retry", "show_help", "undo"]

KEYS = """\
Enter sends; Alt+Enter or Ctrl-J begins a new line; pasted lines stay one message
Ctrl-C stops the turn, clears the line, and twice on an empty line leaves; Ctrl-D leaves
Up and Ctrl-R find what was typed before; Tab completes; Ctrl-X Ctrl-E opens $EDITOR
@path attaches a file of this folder; !command runs a command; !!command shows its output to the model too"""
SHOWN = 60


async def show_help(chat: Chat, rest: str) -> None:
    from agent.app.slash.table import TABLE

    rows = [(" ".join(["/" + "|".join((one.name, *one.aliases)), one.usage]).strip(), one.summary) for one in TABLE]
    width = max(cell_width(left) for left, _ in rows)
    chat.screen.show("\n".join(f"{left:<{width}}  {right}" for left, right in rows) + f"\n\n{KEYS}")


async def leave(chat: Chat, rest: str) -> None:
    chat.leaving = True


async def begin_anew(chat: Chat, rest: str) -> None:
    from agent import Session

    old, session = chat.agent.session, None
    if old is not None:
        session = Session.create(old.path.parent, cwd=chat.parts.cwd, model=chat.agent.model.name)
    await chat.enter(session)
    chat.say("A new talk. Memory was read again." if chat.agent.memory_store is not None else "A new talk.", DIM)


async def undo(chat: Chat, rest: str) -> None:
    text = chat.agent.undo()
    if text is None:
        chat.say("There is no turn to take back", NOTE)
        return
    chat.say(f"Taken back from the talk: {_short(text)} (files and memory stay as they are)", DIM)


async def retry(chat: Chat, rest: str) -> None:
    text = chat.agent.undo()
    if text is None:
        chat.say("There is no message to send again", NOTE)
        return
    chat.say(f"Once more: {_short(text)}", DIM)
    await chat.turn(text)


async def compact(chat: Chat, rest: str) -> None:
    try:
        await chat.interrupts.run(chat.agent.compact(on_event=chat.renderer))
    finally:
        chat.renderer.end()


def _short(text: str) -> str:
    return shorten(one_line(text), SHOWN)
