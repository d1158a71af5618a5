"""`PostgresLink`: a connection inside a transaction, as the shared SQL wants it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

from memory.archive.entry import ArchiveUnavailable
from memory.archive.postgres_errors import Where, unavailable

if TYPE_CHECKING:
    import psycopg

__all__ = ["PassedOn", "PostgresLink"]

ROWS_A_STATEMENT = 500
ONE_ROW = re.compile(r"VALUES (\([?, ]+\))")


class PassedOn(bytes):
    """Bytes that the server reads as the binary form of whatever type is cast to."""


class PostgresLink:
    """Statements bear `?` for their values. Raises `ArchiveUnavailable` for whatever the server says."""

    def __init__(self, connection: psycopg.Connection[Any], where: Where) -> None:
        self.connection, self.where = connection, where

    def begin(self, statements: Sequence[str]) -> tuple[Any, ...]:
        """Run the statements in one go, the first of which begins the transaction; return the last one's row."""
        with self._speaking():
            cursor = self.connection.execute("; ".join(statements).encode())
            while cursor.nextset():
                continue
            row = cursor.fetchone() if cursor.description else None
        return tuple(row or ())

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return the rows; bytes and vectors come as bytes."""
        with self._speaking():
            cursor = self.connection.cursor(binary=True)
            return cursor.execute(_marked(statement), values or None).fetchall()

    def run(self, statement: str, values: Sequence[Any] = ()) -> None:
        with self._speaking():
            self.connection.execute(_marked(statement), values or None)

    def insert(self, statement: str, values: Sequence[Any]) -> int:
        return int(self.rows(f"{statement} RETURNING id", values)[0][0])

    def run_many(self, statement: str, values: Iterable[Sequence[Any]]) -> None:
        """Run the statement for each row of values: an INSERT takes many rows at once, a round trip for 500 of them."""
        rows, one = iter(values), ONE_ROW.search(statement)
        if one is None:
            with self._speaking(), self.connection.cursor() as cursor:
                cursor.executemany(_marked(statement), rows)
            return
        while some := list(islice(rows, ROWS_A_STATEMENT)):
            many = ", ".join([one[1]] * len(some))
            text = statement[: one.start(1)] + many + statement[one.end(1) :]
            self.run(text, [value for row in some for value in row])

    def commit(self, *last: str) -> None:
        """Run `last` and commit, in one go.

        Raises `ArchiveInterrupted` where the connection is lost, and then it is not known what became of it.
        """
        with self._speaking():
            cursor = self.connection.execute("; ".join([*last, "COMMIT"]).encode())
            while cursor.nextset():
                continue
        if cursor.statusmessage != "COMMIT":  # after a failed statement the server takes it for ROLLBACK
            raise ArchiveUnavailable(f"Postgres at {self.where.place} undid what was to be kept: try again")

    def undo(self) -> None:
        import psycopg  # optional, see `PostgresPool`

        with suppress(psycopg.Error):  # a lost connection has undone its transaction by itself
            self.connection.execute(b"ROLLBACK")

    @contextmanager
    def _speaking(self) -> Iterator[None]:
        import psycopg  # optional, see `PostgresPool`

        try:
            yield
        except psycopg.Error as error:
            raise unavailable(error, self.where) from error


def _marked(statement: str) -> bytes:
    return statement.replace("?", "%s").encode()
