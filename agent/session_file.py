"""`Talk`: what the lines of a session file add up to."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent.messages import Message, text_of

__all__ = ["VERSION", "Talk", "now", "read_talk", "stamp", "title_of"]

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
    """What the lines of a file add up to."""

    head: dict[str, Any] = field(default_factory=dict)
    messages: list[Message] = field(default_factory=list)
    damaged: int = 0
    torn: bool = False
    # The last line has no line end

    @property
    def title(self) -> str:
        return title_of(self.messages)

    def take(self, line: dict[str, Any]) -> bool:
        kind = line.get("type")
        if kind == "session":
            self.head = self.head or line
        elif kind == "message" and isinstance(line.get("message"), dict):
            self.messages.append(line["message"])
        elif kind == "compact" and isinstance(line.get("messages"), list) and isinstance(line.get("keep"), int):
            kept = self.messages[-line["keep"] :] if line["keep"] > 0 else []
            self.messages = [*line["messages"], *kept]
        elif kind == "rewind" and isinstance(line.get("to"), int):
            del self.messages[max(0, line["to"]) :]
        else:
            return False
        return True


def read_talk(path: Path) -> Talk:
    """Add up a session file. Lines that are no events are counted, never fatal; only a newline ends a line."""
    raw = path.read_bytes()
    talk = Talk(torn=bool(raw) and not raw.endswith(b"\n"))
    for piece in raw.split(b"\n"):
        text = piece.strip(b"\0 \t\r")
        if not text:
            talk.damaged += b"\0" in piece
            continue
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            talk.damaged += 1
            continue
        talk.damaged += not (isinstance(line, dict) and talk.take(line))
    return talk


def title_of(messages: Sequence[Message]) -> str:
    """Return the first words that a user said, on one line."""
    first = next((text_of(message) for message in messages if message.get("role") == "user"), "")
    line = " ".join(first.split())
    return line if len(line) <= TITLE_CHARS else line[: TITLE_CHARS - 1] + "…"
