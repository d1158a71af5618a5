"""`Session`: a talk kept in a file, one JSON line an event, only ever appended to."""

from __future__ import annotations

import json
import os
import secrets as entropy
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from agent.failures import SessionUnavailable
from agent.messages import Message
from agent.redact import redact
from agent.session_file import VERSION, now, open_talk, stamp

__all__ = ["Session"]


class Session:
    """One talk and its file.

    The file is made at the first append, mode 0600, and locked while the session is open. What is appended is on
    disk when the call returns (no fsync: a power cut may cost the last lines, a crash of the program does not).
    Known keys are taken out of what is written.
    """

    def __init__(self, path: Path, head: dict[str, Any], messages: list[Message], notices: list[str]) -> None:
        self.path = path
        self.messages = messages
        # Without the system prompt, healed; the owner of the session appends through `append` only
        self.notices = notices
        self._head = head
        self._file: Any = None
        self._lock: Any = None
        self._torn = False
        self._unwritten = b""
        # What a full disk did not take; it goes first when there is room again
        self._written = path.exists()

    @classmethod
    def create(cls, folder: Path, *, cwd: Path | str, model: str, parent: str = "") -> Session:
        """Begin a new talk; nothing is written yet."""
        made = now()
        name = f"{made.strftime('%Y%m%d-%H%M%S')}-{entropy.token_hex(3)}"
        head = {"type": "session", "version": VERSION, "id": name, "created": stamp(), "cwd": str(cwd), "model": model}
        return cls(folder / f"{name}.jsonl", head | ({"parent": parent} if parent else {}), [], [])

    @classmethod
    def open(cls, path: Path) -> Session:
        """Take up the talk in `path`, locked against others.

        Raises `SessionUnavailable` when another process has it open, or when it cannot be read or gone on with.
        """
        session = cls(path, {}, [], [])
        session._acquire()
        try:
            talk = open_talk(path)
        except BaseException:
            session.close()
            raise
        session._head = talk.head
        session.messages = talk.messages
        session._torn = talk.torn
        if talk.damaged:
            session.notices.append(f"{talk.damaged} damaged line(s) in {path.name} were skipped; the rest was kept")
        return session

    @classmethod
    def delete(cls, path: Path) -> None:
        """Remove the file of a session. Raises `SessionUnavailable` when another process has it open."""
        session = cls(path, {}, [], [])
        session._acquire()
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise SessionUnavailable(f"Session file {str(path)!r} cannot be deleted: {error.strerror}") from error
        finally:
            session.close()

    @property
    def id(self) -> str:
        return self.path.stem

    @property
    def created(self) -> str:
        return str(self._head.get("created", ""))

    @property
    def model(self) -> str:
        return str(self._head.get("model", ""))

    @property
    def parent(self) -> str:
        """The id of the session this one was forked from, or empty."""
        return str(self._head.get("parent", ""))

    def append(self, message: Message) -> None:
        """Add one message, in memory and on disk."""
        self.messages.append(message)
        self._write({"type": "message", "at": stamp(), "message": message})

    def compact(self, messages: Sequence[Message], *, keep: int) -> None:
        """Put `messages` in place of all but the last `keep`."""
        self.messages = [*messages, *(self.messages[-keep:] if keep else [])]
        self._write({"type": "compact", "at": stamp(), "messages": list(messages), "keep": keep})

    def rewind(self, to: int) -> None:
        """Keep the first `to` messages only."""
        del self.messages[to:]
        self._write({"type": "rewind", "at": stamp(), "to": to})

    def fork(self, folder: Path | None = None) -> Session:
        """Begin a new talk with all that was said in this one; this one's file stays as it is."""
        cwd = str(self._head.get("cwd", ""))
        copy = Session.create(folder or self.path.parent, cwd=cwd, model=self.model, parent=self.id)
        for message in self.messages:
            copy.append(message)
        return copy

    def close(self) -> None:
        """Close the file and let others have it. What could not be written before is tried once more."""
        if self._file is not None:
            with suppress(OSError):  # who wrote it has been told already
                self._flush()
            self._file.close()
        if self._lock is not None:
            self._lock.release()
        self._file = self._lock = None

    def _acquire(self) -> None:
        from filelock import FileLock, Timeout  # not for `--help`

        folder = self.path.parent / ".locks"
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            lock = FileLock(folder / f"{self.path.stem}.lock", timeout=0, mode=0o600)
            lock.acquire()
        except Timeout as error:
            raise SessionUnavailable(
                f"Session {self.id} is in use by another process; wait for it, or take it over in a copy with --fork"
            ) from error
        except OSError as error:
            raise SessionUnavailable(
                f"Session folder {str(folder)!r} cannot be used: {error.strerror}; --no-session needs none"
            ) from error
        self._lock = lock

    def _write(self, line: dict[str, Any]) -> None:
        lines = [] if self._written else [self._head]
        # ASCII on disk: no line separator of Unicode and no surrogate can ever end or break a line
        text = "".join(f"{redact(json.dumps(one, separators=(', ', ': ')))}\n" for one in [*lines, line])
        self._unwritten += (b"\n" if self._torn else b"") + text.encode("ascii")
        self._torn = False
        self._written = True
        if self._lock is None:
            self._acquire()
        try:
            if self._file is None:
                descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
                self._file = os.fdopen(descriptor, "ab", buffering=0)
            self._flush()
        except OSError as error:
            raise SessionUnavailable(f"Session file {str(self.path)!r} cannot be written: {error.strerror}") from error

    def _flush(self) -> None:
        while self._file is not None and self._unwritten:
            self._unwritten = self._unwritten[self._file.write(self._unwritten) :]
