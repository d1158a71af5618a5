"""`EntryFile`: one file of the curated memory on the disk, read strictly and written whole."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from memory.atomic import locked, replace_text, sweep
from memory.refusal import StoreDamaged

__all__ = ["EntryFile"]

LOCK_NAME = ".lock"
STAYS = "Its bytes stay as they are; save it as UTF-8, or move it away, then try again."


class EntryFile:
    """A file that a person may edit, link or break. Nothing is kept: each read is a look at the disk."""

    def __init__(self, path: Path, *, lock_timeout_s: float) -> None:
        self.path = path
        self._lock_timeout_s = lock_timeout_s

    def read(self) -> str:
        """Return the text, "" where there is no file. Raises `StoreDamaged` for what is no text."""
        try:
            if not stat.S_ISREG(self.path.stat().st_mode):  # a pipe would block
                raise StoreDamaged(f"'{self.path}' cannot be read: it is no file. Move it away, then try again.")
            content = self.path.read_bytes()
        except FileNotFoundError:
            return ""
        except OSError as error:
            raise StoreDamaged(f"'{self.path}' cannot be read: {error.strerror}. It stays as it is.") from error
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            at = error.start
            raise StoreDamaged(f"'{self.path}' is not UTF-8 text: byte {at} cannot be read. {STAYS}") from error
        if "\x00" in text:
            raise StoreDamaged(f"'{self.path}' cannot be read: it holds NUL bytes, so it is UTF-16 or torn. {STAYS}")
        return text

    def write(self, text: str) -> None:
        """Replace the content, durably; make the folder (0700) and the file (0600) where they are missing."""
        self.make_folder()
        replace_text(self.path, text)

    def make_folder(self) -> None:
        """Make the folder, if it is not there. Raises `OSError` that says what stands in the way."""
        folder = self.path.parent
        if folder.is_dir():
            return
        try:
            folder.mkdir(parents=True, mode=0o700, exist_ok=True)
        except OSError as error:
            what = "it is a file" if folder.is_file() else error.strerror
            raise OSError(error.errno, f"cannot make the memory folder '{folder}': {what}") from error

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock of the folder, and of the folder where the file really lies if it is a link.

        Sweeps what a killed writer left. Raises `StoreBusy`.
        """
        folders = {os.path.realpath(self.path.parent)}
        if self.path.is_symlink():
            folders.add(os.path.realpath(self.path.resolve().parent))
        with contextlib.ExitStack() as held:
            for folder in sorted(folders):  # in one order, so that no two wait for each other
                held.enter_context(locked(Path(folder) / LOCK_NAME, self._lock_timeout_s))
            sweep(self.path)
            yield
