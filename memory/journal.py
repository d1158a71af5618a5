"""`Journal`: the append-only record of every change of the curated memory, one JSON object a line."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args

__all__ = ["Action", "Change", "Journal", "Origin", "utc_now"]

Action = Literal["add", "replace", "remove", "revert", "edit", "import"]


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Origin:
    """Who changes memory, and in which call. `author` is "user" or "agent"."""

    author: str = ""
    agent: str = ""
    session: str = ""
    turn: int = 0
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """One change: `before` is the entry that is gone, `after` the one that came, `place` its index.

    Of an edit or import they are all entries, as the file had them. `at` is ISO 8601, UTC.
    """

    id: str
    at: str
    action: Action
    target: str
    before: str | None = None
    after: str | None = None
    place: int = 0
    author: str = ""
    agent: str = ""
    session: str = ""
    turn: int = 0
    call_id: str = ""


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
        now = self._clock().astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
        who = _values(origin or Origin())
        change = Change(os.urandom(6).hex(), now, action, target, before, after, place, **who)
        line = json.dumps(_values(change), ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        with open(self.path, "a+b", buffering=0, opener=_private) as file:
            end = file.seek(0, os.SEEK_END)
            if end:
                file.seek(-1, os.SEEK_END)
                line = line if file.read(1) == b"\n" else b"\n" + line
            written = file.write(line)
            if written < len(line):
                file.truncate(end)
                raise OSError(f"only {written} of {len(line)} bytes could be written")
        return change

    def read(self) -> list[Change]:
        """Return all changes, oldest first; lines that are torn or not ours are skipped."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return []
        return [change for line in content.split(b"\n") if (change := _change(line)) is not None]


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _values(record: Change | Origin) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__slots__}  # `asdict` costs as much as the write


def _change(line: bytes) -> Change | None:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(values, dict) or values.get("action") not in get_args(Action) or "id" not in values:
        return None
    known = {field.name: values[field.name] for field in fields(Change) if field.name in values}
    for name, value in known.items():
        kind: type = int if name in ("place", "turn") else str
        if not isinstance(value, kind) and not (value is None and name in ("before", "after")):
            return None
    return Change(**{"at": "", "target": "", **known})
