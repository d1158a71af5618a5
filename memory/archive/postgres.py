"""`PostgresBackend`: the archive on a Postgres server, for many agents on many machines."""

from __future__ import annotations

import hashlib
import logging
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import Lock
from uuid import UUID, uuid4

from memory.archive.backend import Reader, Writer
from memory.archive.entry import ArchiveInterrupted, ArchiveUnavailable
from memory.archive.postgres_errors import READ_S, WRITE_S, Where, server_name
from memory.archive.postgres_near import FROM_ROWS, NearIndexes, missing
from memory.archive.postgres_pool import PostgresPool
from memory.archive.postgres_schema import Layout, kept_as, prepare
from memory.archive.postgres_tables import PostgresReader, PostgresWriter

__all__ = ["PostgresBackend"]

SCHEMA = re.compile(r"(?!pg_)[^\W\d][\w-]*")
# A program that went silent in a transaction (a laptop put to sleep) does not keep others out for longer.
SILENCE_S = 60


log = logging.getLogger(__name__)


class PostgresBackend:
    """Keeps everything in `schema` of the database at `url`, which is made at the first use.

    `patience_s`: how long to wait for other writers, for a connection to get free and for a server that starts.
    `index_from_rows`: how many vectors of a model are worth an approximate index.
    Raises ValueError for a schema name or a number that cannot be.
    """

    name = "postgres"

    def __init__(
        self,
        url: str,
        *,
        schema: str = "memory",
        max_connections: int = 5,
        patience_s: float = 10.0,
        index_from_rows: int = FROM_ROWS,
    ) -> None:
        if not SCHEMA.fullmatch(schema) or len(schema.encode()) > 63:
            raise ValueError(
                f"schema {schema!r} cannot be: write letters, digits, _ and -, a letter first, no pg_, at most 63 bytes"
            )
        if max_connections < 1:
            raise ValueError(f"max_connections is {max_connections}: write 1 or more")
        if not patience_s > 0:
            raise ValueError(f"patience_s is {patience_s:g}: write seconds above 0")
        self.place = server_name(url)
        self.folders: Sequence[Path] = []
        self.schema, self.index_from_rows = schema, index_from_rows
        self._pool = PostgresPool(url, Where(self.place, schema, patience_s), max_connections)
        self._layout: Layout | None = None
        self._indexes = NearIndexes()
        self._lock = Lock()
        digest = hashlib.sha256(f"my-agent archive: writer of {schema}".encode()).digest()
        self._writer_lock = int.from_bytes(digest[:8], "big", signed=True)

    def reading(self) -> AbstractContextManager[Reader]:
        return self._reading()

    def writing(self) -> AbstractContextManager[Writer]:
        return self._writing()

    def close(self) -> None:
        self._pool.close()

    def tune(self) -> None:
        """Build an approximate index for each model that has many vectors; others go on reading and writing.

        It takes minutes for 100,000 vectors. Searches over all owners use it from then on. A writer that cleared all
        terms does this afterwards.
        """
        layout = self._prepared()
        if not layout.has_vectors or layout.read_only:
            return
        with self._reading() as reader:
            wanted = missing(reader.link, self.index_from_rows)
        for index in wanted:
            for statement in index.creation(layout.schema, layout.extension):
                self._pool.run_alone(statement)
        self._indexes.forget()

    @contextmanager
    def _reading(self) -> Iterator[PostgresReader]:
        layout = self._prepared()
        begin = ["BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", *self._settings(layout, READ_S)]
        with self._pool.transaction(begin) as (link, _):
            yield PostgresReader(link, layout.has_vectors, self._indexes)

    @contextmanager
    def _writing(self) -> Iterator[PostgresWriter]:
        layout = self._prepared()
        begin = [
            "BEGIN",
            *self._settings(layout, WRITE_S),
            *self._alone(),  # what is committed is seen from here on: each statement looks anew
            "SELECT current_setting('transaction_read_only') = 'on'",
        ]
        token, committing = uuid4(), False
        try:
            with self._pool.transaction(begin) as (link, (read_only,)):
                if read_only:
                    raise ArchiveUnavailable(
                        f"Postgres at {self.place} is read-only: give the address of the primary server, or free its "
                        "disk"
                    )
                writer = PostgresWriter(link, layout.has_vectors, self._indexes)
                yield writer
                committing = True
                link.commit(*kept_as(token))
        except ArchiveInterrupted:
            if not committing:
                raise
            self._learn_outcome(token)
        if writer.rebuilt:  # who builds everything anew has the time for this, too
            try:
                self.tune()
            except ArchiveUnavailable as error:
                log.warning("the archive goes on without an index of vectors: %s", error)

    def _learn_outcome(self, token: UUID) -> None:
        """Look what became of a transaction whose COMMIT was not answered. Raises unless it was kept."""
        deadline = time.monotonic() + self._pool.where.patience_s
        kept = None
        while kept is None:
            try:
                kept = self._was_kept(token)
            except ArchiveUnavailable as error:  # the server may be starting again
                if time.monotonic() > deadline:
                    raise ArchiveUnavailable(
                        f"Postgres at {self.place} broke off while it kept the change, and whether it did cannot be "
                        "asked: look before you store again"
                    ) from error
                time.sleep(0.1)
        if not kept:
            raise ArchiveInterrupted(f"Postgres at {self.place} broke off before anything was kept: try again")

    def _was_kept(self, token: UUID) -> bool:
        """Once this has the writers' lock, the transaction in question has ended, one way or the other."""
        begin = ["BEGIN", *self._settings(self._prepared(), READ_S), *self._alone()]
        with self._pool.transaction(begin) as (link, _):
            return bool(link.rows("SELECT 1 FROM commits WHERE token = ?", [token]))

    def _alone(self) -> list[str]:
        """Return the statements that wait until nobody else writes."""
        return [self._pool.where.lock_timeout, f"SELECT pg_advisory_xact_lock({self._writer_lock})"]

    def _prepared(self) -> Layout:
        with self._lock:
            if self._layout is None:
                self._layout = prepare(self._pool)
            return self._layout

    def _settings(self, layout: Layout, statement_s: int) -> list[str]:
        """Return what each transaction sets for itself. Compiling a plan (jit) takes longer than any of ours runs."""
        return [
            f"SET LOCAL search_path TO {layout.path}",
            f"SET LOCAL statement_timeout = '{statement_s}s'",
            f"SET LOCAL idle_in_transaction_session_timeout = '{SILENCE_S}s'",
            "SET LOCAL jit = off",
        ]
