"""`SqliteWriter`: what SQLite has beside the shared tables: the vectors, in a table and in files to be searched."""
# ruff: noqa: S608 (table names are constants; every value is bound)

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memory.archive.backend import Matrix
from memory.archive.sql_reader import marks
from memory.archive.sql_tables import TABLE_VERSION, Types, tables
from memory.archive.sql_writer import SqlWriter

if TYPE_CHECKING:
    from memory.archive.vector_file import VectorFiles

__all__ = ["APPLICATION", "SqliteLink", "SqliteWriter", "empty", "make_tables"]

APPLICATION = 0x6D792D61  # "my-a": tells our files from those of other programs
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


class SqliteLink:
    """A connection as `SqlReader` wants it."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        return self.connection.execute(statement, values).fetchall()

    def run(self, statement: str, values: Sequence[Any] = ()) -> None:
        self.connection.execute(statement, values)

    def insert(self, statement: str, values: Sequence[Any]) -> int:
        # Not RETURNING, which SQLite knows from 3.35 on: some systems still have an older one.
        return int(self.connection.execute(statement, values).lastrowid or 0)

    def run_many(self, statement: str, values: Iterable[Sequence[Any]]) -> None:
        self.connection.executemany(statement, values)


class SqliteWriter(SqlWriter):
    """Adds the vectors: in the table for ever, and in a file to be searched."""

    def __init__(self, link: SqliteLink, files: Callable[[str], VectorFiles]) -> None:
        super().__init__(link)
        self.files = files
        self._troubles: Sequence[str] = ()

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
        files = self.files(store)
        found = files.nearest(self.link.rows, model, owners, vector, limit)
        self._troubles = files.troubles(model, owners)
        return found

    def troubles(self) -> Sequence[str]:
        return self._troubles

    def embedded_owners(self, model: str) -> list[str]:
        """Return who has vectors of this model, by leaps through the index."""
        statement = (
            "WITH RECURSIVE leap (owner) AS (SELECT min(owner) FROM vectors WHERE model = ?1 UNION ALL SELECT "
            "(SELECT min(owner) FROM vectors WHERE model = ?1 AND owner > leap.owner) FROM leap "
            "WHERE leap.owner IS NOT NULL) SELECT owner FROM leap WHERE owner IS NOT NULL"
        )
        return [owner for (owner,) in self.link.rows(statement, [model])]


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
