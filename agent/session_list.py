"""The sessions of a folder: `list_sessions`, `find_session`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from agent.failures import SessionUnavailable
from agent.session_file import read_talk

__all__ = ["SessionSummary", "find_session", "list_sessions"]


@dataclass(frozen=True, slots=True)
class SessionSummary:
    id: str
    path: Path
    created: str
    updated: datetime
    turns: int
    # User messages
    title: str
    parent: str


def list_sessions(folder: Path) -> list[SessionSummary]:
    """Return the sessions in `folder`, the one written last first. Files that hold none are left out."""
    return [summary for path in _files(folder) if (summary := _summary(path)) is not None]


def find_session(folder: Path, name: str) -> Path:
    """Return the file of the session with this id, or the one whose id begins so.

    Raises `SessionUnavailable` where there is none, or more than one.
    """
    files = list(_files(folder))
    found = [path for path in files if path.stem == name]
    found = found or [path for path in files if name and path.stem.startswith(name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise SessionUnavailable(
            f"{name!r} begins {len(found)} session ids: {', '.join(path.stem for path in found[:5])}"
        )
    raise SessionUnavailable(f"No session {name!r} in {str(folder)!r}; `my-agent sessions list` shows what is there")


def _files(folder: Path) -> Iterator[Path]:
    found = [path for path in folder.glob("*.jsonl") if path.is_file()] if folder.is_dir() else []
    yield from sorted(found, key=lambda path: (path.stat().st_mtime_ns, path.name), reverse=True)


def _summary(path: Path) -> SessionSummary | None:
    try:
        talk, changed = read_talk(path), path.stat().st_mtime
    except (SessionUnavailable, OSError):
        return None  # gone or unreadable: nothing to list
    if not talk.head and not talk.messages:
        return None
    turns = sum(message.get("role") == "user" for message in talk.messages)
    return SessionSummary(
        path.stem,
        path,
        talk.head.get("created", ""),
        datetime.fromtimestamp(changed, UTC),
        turns,
        talk.title,
        talk.head.get("parent", ""),
    )
