"""`PostgresPool`: connections to one server, lent out for one transaction each.

Nothing is ever set for a session: what a transaction needs is set for itself alone, and no statement is kept prepared.
So a pooler such as PgBouncer may give every transaction another connection.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Lock, Semaphore
from typing import TYPE_CHECKING, Any

from memory.archive.entry import ArchiveInterrupted, ArchiveUnavailable
from memory.archive.postgres_errors import Where, is_busy, is_starting, unreachable
from memory.archive.postgres_link import PassedOn, PostgresLink

if TYPE_CHECKING:
    import psycopg
    from psycopg_pool import ConnectionPool

    Connections = ConnectionPool[psycopg.Connection[Any]]

__all__ = ["PostgresPool"]

SLICE_S = 0.1
TURN_S = 60.0
IDLE_S = 300.0
# What holds unless the URL says otherwise.
OPTIONS = {
    "application_name": "my-agent",
    "connect_timeout": "5",
    # A server that vanished is noticed after a minute and a half, not after hours.
    "keepalives_idle": "30",
    "keepalives_interval": "15",
    "keepalives_count": "4",
    "tcp_user_timeout": "90000",
}

logging.getLogger("psycopg").addHandler(logging.NullHandler())  # the person gets our sentences


class PostgresPool:
    """At most `size` connections, made when needed. Raises `ArchiveUnavailable` where none can be had."""

    def __init__(self, url: str, where: Where, size: int) -> None:
        self.where = where
        self._url, self._size = url, size
        self._lock = Lock()
        self._pool: Connections | None = None
        self._failure: tuple[float, psycopg.Error] | None = None
        # when the last attempt to connect failed, and why
        self._lost = float("-inf")
        # when a connection last broke off
        self._turns = Semaphore(size)

    @contextmanager
    def transaction(self, begin: Sequence[str]) -> Iterator[tuple[PostgresLink, tuple[Any, ...]]]:
        """Lend a connection on which `begin` ran, with the row it gave; what is not committed inside is undone."""
        pool = self._open()
        with self._turn():
            link, row = self._begun(pool, begin)
            try:
                yield link, row
            except ArchiveInterrupted:
                self._lost = time.monotonic()
                raise
            finally:
                give_back(pool, link)

    def run_alone(self, statement: str) -> None:
        """Run a statement that may not stand in a transaction."""
        pool = self._open()
        with self._turn():
            link = PostgresLink(self._take(pool), self.where)
            try:
                link.run(statement)
            finally:
                give_back(pool, link)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Wait until one of the connections is free, first come, first served. Who has one asks for no other."""
        if not self._turns.acquire(timeout=TURN_S):
            raise ArchiveUnavailable(
                f"all {self._size} connections to Postgres at {self.where.place} have been in use for {TURN_S:g} s: "
                "raise max_connections"
            )
        try:
            yield
        finally:
            self._turns.release()

    def close(self) -> None:
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close(timeout=0.5)

    def _begun(self, pool: Connections, begin: Sequence[str]) -> tuple[PostgresLink, tuple[Any, ...]]:
        """Take a connection and begin; those that died while they lay idle are passed over."""
        for _ in range(self._size + 1):
            link = PostgresLink(self._take(pool), self.where)
            try:
                return link, link.begin(begin)
            except ArchiveInterrupted as error:
                lost, self._lost = error, time.monotonic()
                give_back(pool, link)
            except BaseException:
                give_back(pool, link)
                raise
        raise lost

    def _take(self, pool: Connections) -> psycopg.Connection[Any]:
        """Wait for a connection.

        A server out of reach is reported at once; one that starts, is full, or was there a moment ago, late.
        """
        from psycopg_pool import PoolClosed, PoolTimeout  # optional, see `_make`

        began, patience_s = time.monotonic(), self.where.patience_s
        while True:
            try:
                return pool.getconn(timeout=SLICE_S)
            except PoolClosed as error:
                raise ArchiveUnavailable(f"the archive on Postgres at {self.where.place} was closed") from error
            except PoolTimeout:
                waited = time.monotonic() - began
            if self._failure is not None and self._failure[0] >= began:
                failure = self._failure[1]
                restarting = time.monotonic() - self._lost < patience_s or is_starting(failure)
                if waited > patience_s or not (restarting or is_busy(failure)):
                    raise unreachable(failure, self.where) from failure
                time.sleep(SLICE_S)  # the pool would try again and again
            elif waited > patience_s:
                raise ArchiveUnavailable(f"Postgres at {self.where.place} did not answer in time: try again later")

    def _open(self) -> Connections:
        with self._lock:
            if self._pool is None:
                self._pool = self._make()
            return self._pool

    def _make(self) -> Connections:
        try:
            # Optional, and 150 ms: only where this backend is used.
            import psycopg
            from psycopg.adapt import Dumper
            from psycopg.conninfo import conninfo_to_dict, make_conninfo
            from psycopg.pq import Format
            from psycopg_pool import ConnectionPool
        except ImportError as error:
            sentence = (
                "the Postgres client is not installed: install `my-agent-core[postgres]` or choose another backend"
            )
            raise ArchiveUnavailable(sentence) from error
        try:
            given = conninfo_to_dict(self._url)
            line = make_conninfo(self._url, **{**OPTIONS, **given, "client_encoding": "UTF8"})
        except psycopg.Error:
            sentence = "the URL of Postgres cannot be read: write postgresql://user:password@host:port/database, "
            # Without the cause, which would show the password.
            raise ArchiveUnavailable(sentence + "with %40 for @ and the like in user and password") from None
        note = self._note

        class BytesAsTheyAre(Dumper):
            format = Format.BINARY

            def dump(self, obj: PassedOn) -> bytes:
                return bytes(obj)

        class Noting(psycopg.Connection[Any]):
            """Keeps why a connection could not be made; the pool only logs it."""

            @classmethod
            def connect(cls, conninfo: str = "", **named: Any) -> Any:
                try:
                    connection = super().connect(conninfo, **named)
                except psycopg.Error as error:
                    note(error)
                    raise
                connection.adapters.register_dumper(PassedOn, BytesAsTheyAre)
                return connection

        return ConnectionPool(
            line,
            connection_class=Noting,
            kwargs={"autocommit": True, "prepare_threshold": None},
            min_size=0,
            max_size=self._size,
            open=True,
            max_idle=IDLE_S,
            reconnect_timeout=0,
            num_workers=1,
        )

    def _note(self, error: psycopg.Error) -> None:
        self._failure = (time.monotonic(), error)


def give_back(pool: Connections, link: PostgresLink) -> None:
    """Return the connection, out of its transaction; a pool that was closed in the meantime closes it."""
    from psycopg.pq import TransactionStatus  # optional, see `PostgresPool._make`

    if link.connection.pgconn.transaction_status not in (TransactionStatus.IDLE, TransactionStatus.UNKNOWN):
        link.undo()
    pool.putconn(link.connection)
