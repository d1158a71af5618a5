"""`InputHistory`: what was typed in former chats, in a file that only its owner reads."""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from prompt_toolkit.history import History

__all__ = ["InputHistory", "history_path"]

READ_BYTES = 512 * 1024  # of the end of the file; older lines are not offered
KEPT_BYTES = 4 * READ_BYTES  # a longer file is cut to READ_BYTES


def history_path() -> Path:
    from platformdirs import user_state_path  # not before the first prompt is on the screen

    return user_state_path("my-agent", appauthor=False) / "history"


class InputHistory(History):
    """One JSON text a line, newest last; keys are taken out. A file that cannot be used is told of once, to `warn`."""

    def __init__(self, find_path: Callable[[], Path], warn: Callable[[str], None]) -> None:
        super().__init__()
        self._find_path = find_path
        self._warn = warn
        self._failed = False

    def load_history_strings(self) -> Iterable[str]:
        try:
            raw = _tail(self._find_path())
        except FileNotFoundError:
            return
        except OSError as error:
            self._fail(error)
            return
        yield from _texts(raw)

    def store_string(self, string: str) -> None:
        if self._failed:
            return
        from agent.redact import redact  # not before Enter

        line = json.dumps(redact(string)).encode("ascii") + b"\n"
        try:
            path = self._find_path()
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            # One write to the end, so that chats side by side do not mix their lines
            target = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                if stat.S_IMODE(os.fstat(target).st_mode) & 0o077:
                    os.fchmod(target, 0o600)
                os.write(target, line)
            finally:
                os.close(target)
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        self._failed = True
        self._warn(f"What you type is not kept for the next chat: {error.filename or 'its file'}: {error.strerror}")


def _tail(path: Path) -> bytes:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - READ_BYTES))
        raw = file.read()
    if size > READ_BYTES:
        raw = raw.partition(b"\n")[2]
    if size > KEPT_BYTES:
        _shorten(path, raw)
    return raw


def _shorten(path: Path, raw: bytes) -> None:
    short = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with contextlib.suppress(OSError):  # it is tried again at the next start
        target = os.open(short, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(target, "wb") as file:
            file.write(raw)
        short.replace(path)


def _texts(raw: bytes) -> Iterator[str]:
    """Newest first. A line that was torn is passed over."""
    for line in reversed(raw.split(b"\n")):
        with contextlib.suppress(ValueError):
            text = json.loads(line)
            if isinstance(text, str) and text:
                yield text
