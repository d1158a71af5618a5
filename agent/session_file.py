"""`Talk`: what the lines of a session file add up to."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent.failures import SessionUnavailable
from agent.healing import Healing
from agent.messages import Message, scrub, text_of

__all__ = ["VERSION", "Talk", "now", "open_talk", "read_talk", "stamp"]

VERSION = 1
TITLE_CHARS = 80


def now() -> datetime:
    """Return the time in UTC; `MY_AGENT_NOW` (ISO 8601) fixes it."""
    fixed = os.environ.get("MY_AGENT_NOW")
    if fixed:
        moment = datetime.fromisoformat(fixed)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    return datetime.now(UTC)


def stamp() -> str:
    return now().isoformat(timespec="seconds").replace("+00:00", "Z")


@dataclass(slots=True)
class Talk:
    """What the lines of a file add up to, valid to send.

    The places that `rewind` and `compact` lines name are those of the mended history: that is what the session had in
    which they were written.
    """

    head: dict[str, Any] = field(default_factory=dict)
    # The texts of the header, and its version as it was found
    damaged: int = 0
    # Lines that were left out
    torn: bool = False
    # The last line has no line end
    _history: Healing = field(default_factory=Healing)
    _title: str = ""
    # Of what was summed up

    @property
    def messages(self) -> list[Message]:
        return self._history.settled()

    @property
    def title(self) -> str:
        return self._title or _title_of(self.messages)

    def take(self, line: Any) -> bool:
        """Take the next line; False says that it is damaged and changed nothing."""
        kind = line.get("type") if isinstance(line, dict) else None
        if kind == "message":
            return self._history.add(line.get("message"))
        if kind == "session":
            texts = {key: scrub(value) for key, value in line.items() if isinstance(value, str)}
            self.head = self.head or texts | {"version": line.get("version")}
        elif kind == "rewind" and _is_count(line.get("to")):
            self._history.rewind(line["to"])
        elif kind == "compact" and isinstance(line.get("messages"), list) and _is_count(line.get("keep")):
            return self._compact(line["messages"], line["keep"])
        else:
            return False
        return True

    def _compact(self, messages: Sequence[Any], keep: int) -> bool:
        history = Healing()
        if not all(history.add(message) for message in messages):
            return False
        for message in self.messages[-keep:] if keep else ():
            history.add(message)
        self._title = self.title
        self._history = history
        return True


def read_talk(path: Path) -> Talk:
    """Add up a session file. Damaged lines are counted, never fatal; only a newline ends a line.

    Raises `SessionUnavailable` where the file cannot be read.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise SessionUnavailable(f"Session file {str(path)!r} cannot be read: {error.strerror}") from error
    talk = Talk(torn=bool(raw) and not raw.endswith(b"\n"))
    for piece in raw.split(b"\n"):
        text = piece.strip(b"\0 \t\r")
        if not text:
            talk.damaged += b"\0" in piece
            continue
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            line = None
        talk.damaged += not talk.take(line)
    return talk


def open_talk(path: Path) -> Talk:
    """Add up a session file that is to be gone on with.

    Raises `SessionUnavailable` where it cannot be read, holds no session, or is of another version.
    """
    talk = read_talk(path)
    if not talk.head and not talk.messages:
        raise SessionUnavailable(f"{str(path)!r} holds no session: no line of it could be read")
    version = talk.head.get("version")
    if version is None:
        return talk
    if not _is_count(version):
        raise SessionUnavailable(
            f"{str(path)!r} is damaged: the version in its header is {version!r:.60}, which is none; "
            f"put {VERSION} there to open it all the same"
        )
    if version > VERSION:
        raise SessionUnavailable(f"{str(path)!r} was written by a newer version of my-agent; update to open it")
    return talk


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _title_of(messages: Sequence[Message]) -> str:
    """Return the first words that a user said, on one line."""
    first = next((text_of(message) for message in messages if message.get("role") == "user"), "")
    line = " ".join(first.split())
    return line if len(line) <= TITLE_CHARS else line[: TITLE_CHARS - 1] + "…"
