"""`Trust`: which project files the user has read and lets name servers and keys. Kept by digest: a change ends it."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

from agent.app.exits import ConfigProblem

__all__ = ["Trust", "user_data_dir"]


def user_data_dir() -> Path:
    """Return the folder of the user's data; `$XDG_DATA_HOME` goes first on every platform."""
    if base := os.environ.get("XDG_DATA_HOME"):
        return Path(base) / "my-agent"
    from platformdirs import user_data_path

    return user_data_path("my-agent", appauthor=False)


class Trust:
    """The file `trusted.json` in the user's data folder: path of a project's file -> digest of its bytes."""

    def __init__(self, folder: Path | None = None) -> None:
        self.path = (folder or user_data_dir()) / "trusted.json"

    def holds(self, file: Path, content: bytes) -> bool:
        return self._read().get(str(file)) == _digest(content)

    def add(self, file: Path, content: bytes) -> None:
        self._write(self._read() | {str(file): _digest(content)})

    def remove(self, file: Path) -> bool:
        """Forget a file; say whether it was known."""
        known = self._read()
        if known.pop(str(file), None) is None:
            return False
        self._write(known)
        return True

    def _read(self) -> dict[str, str]:
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError):
            # An unreadable list trusts nobody; `add` writes a new one
            return {}
        return {str(key): str(value) for key, value in found.items()} if isinstance(found, dict) else {}

    def _write(self, known: dict[str, str]) -> None:
        fresh = self.path.with_name(f".{self.path.name}.{os.getpid()}.tmp")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            fresh.write_text(json.dumps(known, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
            fresh.replace(self.path)
        except OSError as error:
            raise ConfigProblem(f"{str(self.path)!r} cannot be written: {error.strerror}") from error


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
