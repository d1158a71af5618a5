"""`Layout`: the tables of the archive on a Postgres server, made and checked under a lock."""
# ruff: noqa: S608 (names of schemas are quoted; every value is bound)

from __future__ import annotations

import hashlib
import logging
from typing import NamedTuple
from uuid import UUID

from memory.archive.entry import ArchiveInterrupted, ArchiveUnavailable
from memory.archive.postgres_errors import WRITE_S, Where
from memory.archive.postgres_link import PostgresLink
from memory.archive.postgres_pool import PostgresPool
from memory.archive.sql_tables import TABLE_VERSION, Types, tables

__all__ = ["Layout", "kept_as", "prepare", "quoted"]

OLDEST_SERVER = 130_000
TYPES = Types(
    serial="BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    text='TEXT COLLATE "C"',  # by byte, which in UTF-8 is by code point
    data="BYTEA",
)
# `size` of the vector: those of two sizes have no distance. Rows of up to 2,000 numbers stay in the table itself, where
# a scan does not have to look each of them up elsewhere; they would not get smaller by compression.
VECTOR_TABLES = [
    'CREATE TABLE vectors (entry BIGINT NOT NULL, passage INTEGER NOT NULL, owner TEXT COLLATE "C" NOT NULL, '
    'model TEXT COLLATE "C" NOT NULL, size INTEGER NOT NULL, vector VECTOR NOT NULL, PRIMARY KEY (entry, passage)) '
    "WITH (toast_tuple_target = 8160)",
    "ALTER TABLE vectors ALTER COLUMN vector SET STORAGE EXTERNAL",
    "CREATE INDEX vectors_owner ON vectors (model, owner)",
]
# By what an unanswered COMMIT is told from one that never came; transaction numbers come twice after a crash.
COMMITS = "CREATE TABLE commits (at TIMESTAMPTZ NOT NULL DEFAULT now(), token UUID NOT NULL, PRIMARY KEY (at, token))"
VERSION = "CREATE TABLE my_agent_archive (version INTEGER NOT NULL)"
BLOCK_STORAGE = [
    "ALTER TABLE blocks ALTER COLUMN data SET STORAGE EXTERNAL",
    "ALTER TABLE blocks SET (toast_tuple_target = 8160)",
]
# One lock for all schemas of a database: they share the extension.
MIGRATION_LOCK = int.from_bytes(hashlib.sha256(b"my-agent archive: migration").digest()[:8], "big", signed=True)


log = logging.getLogger(__name__)


class Layout(NamedTuple):
    """How the archive lies on this server."""

    version: int
    # 0: there is none yet
    has_vectors: bool
    schema: str
    # ours, quoted
    extension: str
    # the schema of the vector extension, quoted; "" without it
    read_only: bool

    @property
    def path(self) -> str:
        return ", ".join(dict.fromkeys(name for name in (self.schema, self.extension) if name))


def prepare(pool: PostgresPool) -> Layout:
    """Return the layout, made or brought up to date before if need be. Raises `ArchiveUnavailable`."""
    settings = [f"SET LOCAL statement_timeout = '{WRITE_S}s'", pool.where.lock_timeout]
    with pool.transaction(["BEGIN", *settings]) as (link, _):
        layout = _look(link, pool.where)
        link.commit()
    if layout.version == TABLE_VERSION and (layout.has_vectors or layout.read_only):
        return layout
    if layout.read_only:
        raise ArchiveUnavailable(
            f"Postgres at {pool.where.place} is read-only and holds no archive in schema {pool.where.schema!r}: "
            "use it on the primary server first"
        )
    with pool.transaction(["BEGIN", *settings, f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})"]) as (link, _):
        layout = _migrated(link, _look(link, pool.where), pool.where)
        link.commit()
    return layout


def _look(link: PostgresLink, where: Where) -> Layout:
    """Tell what is there. Raises `ArchiveUnavailable` for what cannot be used."""
    number, encoding, read_only, extension = link.rows(
        "SELECT current_setting('server_version_num')::int, current_setting('server_encoding'), "
        "current_setting('transaction_read_only') = 'on', (SELECT nspname::text FROM pg_extension "
        "JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'vector')"
    )[0]
    if number < OLDEST_SERVER:
        raise ArchiveUnavailable(f"Postgres at {where.place} is version {number // 10000}: 13 or later is needed")
    if encoding != "UTF8":
        raise ArchiveUnavailable(f"the database at {where.place} keeps text as {encoding}: make one with encoding UTF8")
    whole = f"schema {where.schema!r} at {where.place}"
    present = link.rows("SELECT tablename::text FROM pg_tables WHERE schemaname = ?", [where.schema])
    names = {name for (name,) in present}
    if "my_agent_archive" not in names and names & {"entries", "blocks", "vocables"}:
        raise ArchiveUnavailable(f"{whole} holds tables of another program: nothing was changed, name another")
    version = 0
    if "my_agent_archive" in names:
        version = link.rows(f"SELECT max(version) FROM {quoted(where.schema)}.my_agent_archive")[0][0] or 0
    if version > TABLE_VERSION:
        raise ArchiveUnavailable(
            f"{whole} was written by a newer version of my-agent (format {version}, this one knows {TABLE_VERSION}): "
            "nothing was changed; upgrade, or name another schema"
        )
    has_vectors = extension is not None and "vectors" in names
    return Layout(version, has_vectors, quoted(where.schema), quoted(extension) if extension else "", read_only)


def _migrated(link: PostgresLink, layout: Layout, where: Where) -> Layout:
    """Make what is missing; another process may have made it while this one waited for the lock."""
    if not link.rows("SELECT 1 FROM pg_namespace WHERE nspname = ?", [where.schema]):
        link.run(f"CREATE SCHEMA {quoted(where.schema)}")
    link.run(f"SET LOCAL search_path TO {layout.schema}")
    if layout.version == 0:
        for statement in [*tables(TYPES), *BLOCK_STORAGE, COMMITS, VERSION]:
            link.run(statement)
        link.run("INSERT INTO my_agent_archive (version) VALUES (?)", [TABLE_VERSION])
    # The archive works without vectors, by words alone: on a server that has no pgvector, or does not let us.
    _try(link, _extension_missing(link, where))
    layout = _look(link, where)
    if layout.extension and not layout.has_vectors:
        _try(link, [f"SET LOCAL search_path TO {layout.path}", *VECTOR_TABLES])
    return _look(link, where)


def _extension_missing(link: PostgresLink, where: Where) -> list[str]:
    """Return the statement that installs pgvector, if the server has it and it is not installed.

    Not in our own schema: who dropped that would take the vectors of all others away.
    """
    found = link.rows(
        "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'vector'), "
        "EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector'), "
        "EXISTS (SELECT FROM pg_namespace WHERE nspname = 'public')"
    )[0]
    installed, available, public = found
    if installed or not available:
        return []
    return [f"CREATE EXTENSION vector SCHEMA {'public' if public else quoted(where.schema)}"]


def _try(link: PostgresLink, statements: list[str]) -> None:
    """Run the statements, or none of them."""
    link.run("SAVEPOINT attempt")
    try:
        for statement in statements:
            link.run(statement)
    except ArchiveInterrupted:
        raise
    except ArchiveUnavailable as error:
        log.info("the archive goes on without vectors: %s", error)
        link.run("ROLLBACK TO SAVEPOINT attempt")


def kept_as(token: UUID) -> list[str]:
    """Return the statements that leave a trace of a transaction, for an hour."""
    return [
        f"INSERT INTO commits (token) VALUES ('{token}')",
        "DELETE FROM commits WHERE at < now() - interval '1 hour'",
    ]


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
