"""`InputHistory`: what was typed in former chats, in a file that only its owner reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from prompt_toolkit.history import FileHistory

__all__ = ["InputHistory", "history_path"]


def history_path() -> Path:
    from platformdirs import user_state_path  # not before the first prompt is on the screen

    return user_state_path("my-agent", appauthor=False) / "history"


class InputHistory(FileHistory):
    """The history of prompt_toolkit without keys. A file that cannot be used is told of once, to `warn`."""

    def __init__(self, find_path: Callable[[], Path], warn: Callable[[str], None]) -> None:
        super().__init__("")
        self._find_path = find_path
        self._warn = warn
        self._failed = False

    def load_history_strings(self) -> Iterable[str]:
        self.filename = str(self._find_path())
        try:
            return list(super().load_history_strings())
        except OSError as error:
            self._fail(error)
            return []

    def store_string(self, string: str) -> None:
        if self._failed:
            return
        from agent.redact import redact  # not before Enter

        path = self._find_path()
        self.filename = str(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.touch(mode=0o600)
            path.chmod(0o600)
            super().store_string(redact(string))
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        self._failed = True
        self._warn(f"What you type is not kept for the next chat: {error.filename or 'its file'}: {error.strerror}")
