"""`EntryFile`: one file of the curated memory on the disk, read strictly and written whole."""
# Paths are text here: pathlib would take a third of the time of a small write.
# ruff: noqa: PTH103, PTH112, PTH113, PTH114, PTH118, PTH120

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from memory.atomic import locked, replace_text, sweep
from memory.refusal import StoreDamaged

__all__ = ["EntryFile"]

READ_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # a pipe would block
STAYS = "Its bytes stay as they are; save it as UTF-8, or move it away, then try again."


class EntryFile:
    """A file that a person may edit, link or break. Nothing is kept: each read is a look at the disk."""

    def __init__(self, path: Path, *, lock_timeout_s: float) -> None:
        self.path = os.fspath(path)
        self.folder = os.path.dirname(self.path) or "."
        self._lock_timeout_s = lock_timeout_s

    def read(self) -> str:
        """Return the text, "" where there is no file. Raises `StoreDamaged` for what is no text."""
        try:
            text = self._content().decode("utf-8")
        except FileNotFoundError:
            return ""
        except OSError as error:
            raise StoreDamaged(f"'{self.path}' cannot be read: {error.strerror}. It stays as it is.") from error
        except UnicodeDecodeError as error:
            raise StoreDamaged(
                f"'{self.path}' is not UTF-8 text: byte {error.start} cannot be read. {STAYS}"
            ) from error
        if "\x00" in text:
            raise StoreDamaged(f"'{self.path}' cannot be read: it holds NUL bytes, so it is UTF-16 or torn. {STAYS}")
        return text

    def write(self, text: str) -> None:
        """Replace the content, durably; make the folder (0700) and the file (0600) where they are missing."""
        self.make_folder()
        replace_text(self.path, text)

    def make_folder(self) -> None:
        """Make the folder, if it is not there. Raises `OSError` that says what stands in the way."""
        if os.path.isdir(self.folder):
            return
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
        except OSError as error:
            what = "it is a file" if os.path.isfile(self.folder) else error.strerror
            raise OSError(error.errno, f"cannot make the memory folder '{self.folder}': {what}") from error

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock of the folder, and of the folder where the file really lies if it is a link.

        Sweeps what a killed writer left. Raises `StoreBusy`.
        """
        folders = [self.folder]
        if os.path.islink(self.path):  # in one order, so that no two wait for each other
            folders = sorted({os.path.realpath(self.folder), os.path.dirname(os.path.realpath(self.path))})
        with contextlib.ExitStack() as held:
            for folder in folders:
                held.enter_context(locked(os.path.join(folder, ".lock"), self._lock_timeout_s))
            sweep(self.path)
            yield

    def _content(self) -> bytes:
        with open(os.open(self.path, READ_FLAGS), "rb", buffering=0) as file:  # noqa: PTH123
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise StoreDamaged(f"'{self.path}' cannot be read: it is no file. Move it away, then try again.")
            return file.read()
