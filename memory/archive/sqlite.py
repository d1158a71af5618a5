"""`SqliteBackend`: the archive in one SQLite file."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import TYPE_CHECKING

from memory.archive.backend import Reader, Writer
from memory.archive.entry import ArchiveUnavailable
from memory.archive.sql_tables import TABLE_VERSION
from memory.archive.sqlite_errors import speaking
from memory.archive.sqlite_tables import APPLICATION, SqliteLink, SqliteWriter, empty, make_tables

if TYPE_CHECKING:
    from memory.archive.vector_file import VectorFiles

__all__ = ["SqliteBackend"]

BUSY_S = 10.0
CACHE_KIB = 16_384
IDLE_CONNECTIONS = 4
LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
FileId = tuple[int, int]


class SqliteBackend:
    """Keeps everything in `path`; a folder `.embeddings` beside it holds what can be made again from it.

    The file is made at the first write. Readers go on while one writer writes.
    """

    name = "sqlite"

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path).expanduser()
        self.place = str(self.path)
        self.folders: Sequence[Path] = own_places(self.path)
        self._files: VectorFiles | None = None
        self._idle: list[tuple[sqlite3.Connection, FileId]] = []
        self._lock = threading.Lock()

    def reading(self) -> AbstractContextManager[Reader]:
        return self._transaction("BEGIN")

    def writing(self) -> AbstractContextManager[Writer]:
        return self._transaction("BEGIN IMMEDIATE")

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[SqliteWriter]:
        with speaking(self.path):
            writing = begin != "BEGIN"
            connection, opened = self._connect(writing)
            try:
                connection.execute(begin)
                yield SqliteWriter(SqliteLink(connection), self._vector_files)
                connection.execute("COMMIT" if writing else "ROLLBACK")
            except BaseException:
                # A failed write may have ended the transaction itself; closing undoes it in any case.
                connection.close()
                raise
            self._give_back(connection, opened)

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
            self._files = None
        for connection, _ in idle:
            connection.close()

    def _vector_files(self, store: str) -> VectorFiles:
        from memory.archive.vector_file import VectorFiles  # numpy takes 90 ms

        with self._lock:
            if self._files is None or self._files.store != store:
                self._files = VectorFiles(self.path.parent / ".embeddings", self.path.stem, store)
            return self._files

    def _connect(self, writing: bool) -> tuple[sqlite3.Connection, FileId | None]:
        """Return a connection, and the file that it may be kept open for."""
        there = self._file_id()
        with self._lock:
            while self._idle:
                connection, opened = self._idle.pop()
                if opened == there:
                    return connection, there
                connection.close()  # the file was deleted or replaced: this one still writes to the old
        if there is None:
            if not writing:
                return empty(), None
            self._make_file()
        address = self.path.absolute().as_uri()
        try:
            if fresh := self._open(f"{address}?mode=rw", writing):
                return fresh, self._file_id()
        except sqlite3.OperationalError as error:
            if writing or error.sqlite_errorcode & 0xFF in LOCKED:
                raise
            self._refuse_unread(self.path.with_name(self.path.name + "-wal"), error)
            # Nothing can be written beside it, so nobody writes: the file as it stands is all there is.
            fresh = self._open(f"{address}?mode=ro&immutable=1", writing)
        return fresh or empty(), None

    def _refuse_unread(self, wal: Path, error: sqlite3.Error) -> None:
        if wal.exists() and wal.stat().st_size:
            raise ArchiveUnavailable(
                f"the archive {self.place!r} cannot be read: its newest entries lie in {wal.name!r}, and the file that "
                "it takes to read them cannot be made: make room on the disk, or let the folder be written"
            ) from error

    def _file_id(self) -> FileId | None:
        try:
            stat = self.path.stat()
        except FileNotFoundError:
            return None
        if not S_ISREG(stat.st_mode):
            kind = "a folder" if S_ISDIR(stat.st_mode) else "no file"
            raise ArchiveUnavailable(f"the archive {self.place!r} is {kind}: name a file")
        return stat.st_dev, stat.st_ino

    def _make_file(self) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path.touch(mode=0o600)

    def _open(self, address: str, writing: bool) -> sqlite3.Connection | None:
        """Return a connection, or None where nothing was ever written and nothing shall be."""
        connection = sqlite3.connect(
            address, uri=True, timeout=BUSY_S, isolation_level=None, check_same_thread=False, cached_statements=256
        )
        try:
            connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
            connection.execute("PRAGMA synchronous = FULL")
            if not self._has_tables(connection):
                if not writing:
                    connection.close()
                    return None
                start(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _has_tables(self, connection: sqlite3.Connection) -> bool:
        # At one moment: another process may just be making the tables.
        connection.execute("BEGIN")
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        version, owner = number(connection, "user_version"), number(connection, "application_id")
        connection.execute("COMMIT")
        if owner != APPLICATION and (version or tables):
            raise ArchiveUnavailable(
                f"{self.place!r} is a database of another program: nothing was changed; choose another path"
            )
        if version > TABLE_VERSION:
            raise ArchiveUnavailable(
                f"{self.place!r} was written by a newer version of my-agent (format {version}, this one knows "
                f"{TABLE_VERSION}): nothing was changed; upgrade, or choose another path"
            )
        return version == TABLE_VERSION

    def _give_back(self, connection: sqlite3.Connection, opened: FileId | None) -> None:
        with self._lock:
            if opened is not None and len(self._idle) < IDLE_CONNECTIONS:
                self._idle.append((connection, opened))
                return
        connection.close()


def own_places(path: Path) -> list[Path]:
    """Return the folder of the file; where people work in that, only what is the archive's."""
    if not Path.cwd().is_relative_to(path.absolute().parent):
        return [path.parent]
    return [path, *(path.with_name(path.name + end) for end in ("-wal", "-shm")), path.parent / ".embeddings"]


def start(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    if number(connection, "user_version") == 0:  # else another process was faster
        make_tables(connection)
    connection.execute("COMMIT")


def number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])
