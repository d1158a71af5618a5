"""`SqliteBackend`: the archive in one SQLite file."""
# ruff: noqa: S608 (table names are constants; every value is bound)

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory.archive.backend import Matrix, Reader, Writer
from memory.archive.entry import ArchiveUnavailable
from memory.archive.sql_reader import marks
from memory.archive.sql_tables import TABLE_VERSION, Types, tables
from memory.archive.sql_writer import SqlWriter
from memory.archive.sqlite_errors import speaking

if TYPE_CHECKING:
    from memory.archive.vector_file import VectorFiles

__all__ = ["SqliteBackend"]

BUSY_S = 10.0
CACHE_KIB = 16_384
APPLICATION = 0x6D792D61  # "my-a": tells our files from those of other programs
IDLE_CONNECTIONS = 4
FileId = tuple[int, int]
TYPES = Types(serial="INTEGER PRIMARY KEY AUTOINCREMENT", text="TEXT", data="BLOB")
OWN_TABLES = [
    # its name tells the vector files of this database from those of another that lay here before
    "CREATE TABLE store (id TEXT NOT NULL)",
    "INSERT INTO store (id) VALUES (lower(hex(randomblob(16))))",
    "CREATE TABLE vectors (seq INTEGER PRIMARY KEY AUTOINCREMENT, entry INTEGER NOT NULL, owner TEXT NOT NULL, "
    "model TEXT NOT NULL, vector BLOB NOT NULL)",
    "CREATE INDEX vectors_entry ON vectors (entry)",
    "CREATE INDEX vectors_owner ON vectors (model, owner, seq)",
]


class SqliteBackend:
    """Keeps everything in `path`; a folder `.embeddings` beside it holds what can be made again from it.

    The file is made at the first write. Readers go on while one writer writes.
    """

    name = "sqlite"

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path).expanduser()
        self.place = str(self.path)
        self.folders: Sequence[Path] = [self.path.parent]
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
            connection, file_id = self._connect(writing)
            try:
                connection.execute(begin)
                yield SqliteWriter(SqliteLink(connection), self._vector_files)
                connection.execute("COMMIT" if writing else "ROLLBACK")
            except BaseException:
                # A failed write may have ended the transaction itself; closing undoes it in any case.
                connection.close()
                raise
            self._give_back(connection, file_id)

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
        there = file_id(self.path)
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
            return self._open(f"{address}?mode=rw"), file_id(self.path)
        except sqlite3.OperationalError:
            if writing:
                raise
            # Nothing can be written beside it, so nobody writes: the file as it stands is all there is.
            return self._open(f"{address}?mode=ro&immutable=1"), None

    def _make_file(self) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path.touch(mode=0o600)

    def _open(self, address: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            address, uri=True, timeout=BUSY_S, isolation_level=None, check_same_thread=False, cached_statements=256
        )
        try:
            connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
            connection.execute("PRAGMA synchronous = FULL")
            self._check(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _check(self, connection: sqlite3.Connection) -> None:
        version = number(connection, "user_version")
        foreign = number(connection, "application_id") != APPLICATION
        if foreign and (version or number(connection, "schema_version")):
            raise ArchiveUnavailable(
                f"{self.place!r} is a database of another program: nothing was changed; choose another path"
            )
        if version > TABLE_VERSION:
            raise ArchiveUnavailable(
                f"{self.place!r} was written by a newer version of my-agent (format {version}, this one knows "
                f"{TABLE_VERSION}): nothing was changed; upgrade, or choose another path"
            )
        if version == TABLE_VERSION:
            return
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN IMMEDIATE")
        if number(connection, "user_version") == 0:  # else another process was faster
            make_tables(connection)
        connection.execute("COMMIT")

    def _give_back(self, connection: sqlite3.Connection, opened: FileId | None) -> None:
        with self._lock:
            if opened is not None and len(self._idle) < IDLE_CONNECTIONS:
                self._idle.append((connection, opened))
                return
        connection.close()


class SqliteLink:
    """A connection as `SqlReader` wants it."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        return self.connection.execute(statement, values).fetchall()

    def run(self, statement: str, values: Sequence[Any] = ()) -> None:
        self.connection.execute(statement, values)

    def run_many(self, statement: str, values: Iterable[Sequence[Any]]) -> None:
        self.connection.executemany(statement, values)


class SqliteWriter(SqlWriter):
    """Adds the vectors: in the table for ever, and in a file to be searched."""

    def __init__(self, link: SqliteLink, files: Callable[[str], VectorFiles]) -> None:
        super().__init__(link)
        self.files = files

    def put_vectors(self, model: str, rows: Mapping[int, Matrix]) -> None:
        ids = list(rows)
        self.drop_vectors(ids)
        owners = dict(self.link.rows(f"SELECT id, owner FROM entries WHERE id IN ({marks(ids)})", ids))
        self.link.run_many(
            "INSERT INTO vectors (entry, owner, model, vector) VALUES (?, ?, ?, ?)",
            [(entry, owner, model, row.tobytes()) for entry, owner in owners.items() for row in rows[entry]],
        )
        self.link.run_many("UPDATE entries SET model = ? WHERE id = ?", [(model, entry) for entry in owners])

    def drop_vectors(self, ids: Sequence[int]) -> None:
        self.link.run(f"DELETE FROM vectors WHERE entry IN ({marks(ids)})", ids)

    def vectors(self, model: str, ids: Sequence[int]) -> Mapping[int, Matrix]:
        import numpy as np  # 90 ms, and only where vectors are used

        # Which model is looked at here: in the statement it would tempt SQLite to walk all vectors of the model.
        statement = f"SELECT entry, model, vector FROM vectors WHERE entry IN ({marks(ids)})"
        found: dict[int, list[bytes]] = {}
        for entry, made_by, vector in self.link.rows(statement, ids):
            if made_by == model:
                found.setdefault(entry, []).append(vector)
        return {
            entry: np.frombuffer(b"".join(rows), dtype=np.float32).reshape(len(rows), -1)
            for entry, rows in found.items()
        }

    def nearest(self, owner: str | None, model: str, vector: Matrix, limit: int) -> list[int]:
        owners = self.embedded_owners(model) if owner is None else [owner]
        ((store,),) = self.link.rows("SELECT id FROM store")
        return self.files(store).nearest(self.link.rows, model, owners, vector, limit)

    def embedded_owners(self, model: str) -> list[str]:
        """Return who has vectors of this model, by leaps through the index."""
        statement = (
            "WITH RECURSIVE leap (owner) AS (SELECT min(owner) FROM vectors WHERE model = ?1 UNION ALL SELECT "
            "(SELECT min(owner) FROM vectors WHERE model = ?1 AND owner > leap.owner) FROM leap "
            "WHERE leap.owner IS NOT NULL) SELECT owner FROM leap WHERE owner IS NOT NULL"
        )
        return [owner for (owner,) in self.link.rows(statement, [model])]


def file_id(path: Path) -> FileId | None:
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    return stat.st_dev, stat.st_ino


def number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])


def make_tables(connection: sqlite3.Connection) -> None:
    for statement in [*tables(TYPES), *OWN_TABLES]:
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {TABLE_VERSION}")


def empty() -> sqlite3.Connection:
    """Return what a store that was never written reads like."""
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    for statement in [*tables(TYPES), *OWN_TABLES]:
        connection.execute(statement)
    return connection
