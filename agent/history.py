"""`History`: the talk of one agent, system prompt first, in step with its session file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from agent.context import is_summary
from agent.messages import Message, scrub, text_of
from agent.session import Session

__all__ = ["History", "typed_part"]

_RECALLED = re.compile(r"\A<RECALLED>\n.*?\n</RECALLED>\s*", re.DOTALL)


class History:
    """What is sent, in order; `messages` is the live list. With a session every change is written to its file too."""

    def __init__(self, session: Session | None) -> None:
        self.session = session
        self.messages: list[Message] = [{"role": "system", "content": ""}]
        self.messages += session.messages if session is not None else []

    def freeze(self, prompt: str) -> None:
        """Set the system prompt; done when an agent is built or reset, never in between."""
        self.messages[0] = {"role": "system", "content": scrub(prompt)}

    @property
    def talk(self) -> list[Message]:
        """A copy without the system prompt."""
        return self.messages[1:]

    @property
    def session_id(self) -> str:
        return "" if self.session is None else self.session.id

    def record(self, message: Message) -> None:
        self.messages.append(message)
        if self.session is not None:
            self.session.append(message)

    def shorten(self, messages: Sequence[Message], *, keep: int) -> None:
        """Put `messages` in place of all but the last `keep` of the talk."""
        self.messages[1:] = [*messages, *self.messages[len(self.messages) - keep :]]
        if self.session is not None:
            self.session.compact(messages, keep=keep)

    def undo(self) -> str | None:
        """Take the last turn out. Returns what the user had typed; None where there is no turn, or only a summary."""
        places = [place for place, message in enumerate(self.messages) if message.get("role") == "user"]
        if not places or is_summary(self.messages[places[-1]]):
            return None
        place = places[-1]
        asked = typed_part(self.messages[place])
        del self.messages[place:]
        if self.session is not None:
            self.session.rewind(place - 1)
        return asked

    def restart(self, *, cwd: Path, model: str) -> None:
        """Empty the talk; with a session, close its file and begin a new one in the same folder."""
        del self.messages[1:]
        if self.session is not None:
            folder = self.session.path.parent
            self.session.close()
            self.session = Session.create(folder, cwd=cwd, model=model)


def typed_part(message: Message) -> str:
    """Return what the user typed, without the block that recall put before it."""
    return _RECALLED.sub("", text_of(message))
