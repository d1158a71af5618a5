"""`speaking`: turns what SQLite raises into a sentence that names the file and says what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memory.archive.entry import ArchiveUnavailable

__all__ = ["speaking"]

SENTENCES = {
    sqlite3.SQLITE_NOTADB: "is not an archive: nothing was changed; move the file away, or choose another path",
    sqlite3.SQLITE_CORRUPT: "is damaged: nothing was changed; keep a copy of it and restore a backup",
    sqlite3.SQLITE_BUSY: "is locked by another process that keeps writing: nothing was changed; try again",
    sqlite3.SQLITE_LOCKED: "is locked by another process that keeps writing: nothing was changed; try again",
    sqlite3.SQLITE_READONLY: "cannot be written, only read: nothing was changed; check the rights of file and folder",
    sqlite3.SQLITE_PERM: "may not be opened: check the rights of file and folder",
    sqlite3.SQLITE_AUTH: "may not be opened: check the rights of file and folder",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened: check that the folder is there and may be written",
    sqlite3.SQLITE_FULL: "cannot grow, the disk is full: nothing was changed; make room and try again",
    sqlite3.SQLITE_IOERR: "cannot be read or written, the disk is full or failing: nothing was changed; check the disk",
    sqlite3.SQLITE_TOOBIG: "cannot take an entry of this size: split it",
    sqlite3.SQLITE_NOMEM: "needs more memory than there is",
}


@contextmanager
def speaking(path: Path) -> Iterator[None]:
    """Raise `ArchiveUnavailable` for whatever SQLite or the file system says inside."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        sentence = SENTENCES.get(code, "cannot be used: nothing was changed; check the file, or choose another path")
        raise ArchiveUnavailable(f"the archive {str(path)!r} {sentence}") from error
    except ArchiveUnavailable:
        raise
    except OSError as error:
        reason = error.strerror or "it cannot be made"
        raise ArchiveUnavailable(f"the archive {str(path)!r} cannot be used: {reason}") from error
