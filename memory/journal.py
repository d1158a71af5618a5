"""`Journal`: the append-only record of every change of the curated memory, one JSON object a line."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, get_args

__all__ = ["Action", "Change", "Journal", "Origin", "utc_now"]

Action = Literal["add", "replace", "remove", "revert", "edit", "import"]


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Origin:
    """Who changes memory, and in which call."""

    author: str = ""
    # "user" or "agent"
    agent: str = ""
    session: str = ""
    turn: int = 0
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """One change, with all that taking it back needs."""

    id: str
    at: str
    # ISO 8601, UTC
    action: Action
    target: str
    before: str | None = None
    # The entry that is gone; of an edit or import: all entries, as the file had them
    after: str | None = None
    # The entry that came
    place: int = 0
    # The index of the entry
    author: str = ""
    agent: str = ""
    session: str = ""
    turn: int = 0
    call_id: str = ""


NAMES = [field.name for field in fields(Change)]
ENCODER = json.JSONEncoder(ensure_ascii=False)


class Journal:
    """The file `journal.jsonl` of a memory folder.

    A line is appended with one write, so a reader sees it whole or, after a crash, torn at the end of the file. A torn
    line is skipped when reading and closed by the next append.
    """

    def __init__(self, mem_dir: Path | str, *, clock: Callable[[], datetime] = utc_now) -> None:
        self.path = Path(mem_dir) / "journal.jsonl"
        self._clock = clock

    def append(
        self,
        action: Action,
        target: str,
        *,
        before: str | None,
        after: str | None,
        place: int = 0,
        origin: Origin | None = None,
    ) -> Change:
        """Record a change. Call it under the lock of the store; raises `OSError`, and leaves no half line then."""
        who = origin or Origin()
        change = Change(
            os.urandom(6).hex(), self._now(), action, target, before, after, place,
            who.author, who.agent, who.session, who.turn, who.call_id,
        )  # fmt: skip
        values = {name: getattr(change, name) for name in NAMES}
        line = ENCODER.encode(values).encode("utf-8", "replace") + b"\n"
        descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        try:
            end = os.lseek(descriptor, 0, os.SEEK_END)
            if end and _last_byte(descriptor) != b"\n":
                line = b"\n" + line
            written = os.write(descriptor, line)
            if written < len(line):
                os.ftruncate(descriptor, end)
                raise OSError(f"only {written} of {len(line)} bytes could be written")
        finally:
            os.close(descriptor)
        return change

    def _now(self) -> str:
        now = self._clock().astimezone(UTC)
        return now.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"

    def read(self) -> list[Change]:
        """Return all changes, oldest first; lines that are torn or not ours are skipped."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return []
        return [change for line in content.split(b"\n") if (change := _change(line)) is not None]


OPTIONAL_TEXTS = ("before", "after")
NUMBERS = ("place", "turn")


def _last_byte(descriptor: int) -> bytes:
    os.lseek(descriptor, -1, os.SEEK_END)
    return os.read(descriptor, 1)


def _change(line: bytes) -> Change | None:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(values, dict) or values.get("action") not in get_args(Action) or "id" not in values:
        return None
    known = {name: values[name] for name in NAMES if name in values}
    for name, value in known.items():
        kind: type = int if name in NUMBERS else str
        if not isinstance(value, kind) and not (value is None and name in OPTIONAL_TEXTS):
            return None
    return Change(**{"at": "", "target": "", **known})
