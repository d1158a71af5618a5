"""The tables of the archive in SQL, the same for SQLite and Postgres but for the names of three types."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["COLUMNS", "TABLE_VERSION", "Types", "tables"]

# Raise it with every change below, and say in the backends how an older store gets there.
TABLE_VERSION = 1

COLUMNS = "id, owner, key, session, category, content, tags, metadata, created, updated"


class Types(NamedTuple):
    serial: str
    # an integer primary key that never comes twice
    text: str
    # compared by code point
    data: str
    # bytes


def tables(types: Types) -> list[str]:
    """Return the statements that make all tables but the vectors'."""
    serial, text, data = types
    return [
        # scope: a conversation's own name, so that one key may stand once in each conversation and once outside
        f"CREATE TABLE entries (id {serial}, owner {text} NOT NULL, key {text} NOT NULL, session {text} NOT NULL, "
        f"category {text} NOT NULL, content {text} NOT NULL, tags {text} NOT NULL, metadata {text} NOT NULL, "
        f"created BIGINT NOT NULL, updated BIGINT NOT NULL, scope {text} NOT NULL, folded INTEGER NOT NULL DEFAULT 0, "
        f"model {text} NOT NULL DEFAULT '', terms {text} NOT NULL)",
        "CREATE UNIQUE INDEX entries_key ON entries (key, owner, scope)",
        "CREATE INDEX entries_time ON entries (owner, session, created, key) WHERE category <> 'conversation'",
        "CREATE INDEX entries_age ON entries (category, updated) WHERE category IN ('daily', 'conversation')",
        "CREATE INDEX entries_loose ON entries (owner, category, session, updated) WHERE folded = 0",
        "CREATE INDEX entries_model ON entries (model, owner)",
        f"CREATE TABLE removed (id BIGINT PRIMARY KEY, owner {text} NOT NULL, terms {text} NOT NULL)",
        f"CREATE TABLE partitions (owner {text} PRIMARY KEY, entries BIGINT NOT NULL, length BIGINT NOT NULL)",
        f"CREATE TABLE vocables (id {serial}, owner {text} NOT NULL, term {text} NOT NULL, stem {text} NOT NULL, "
        "entries BIGINT NOT NULL)",
        "CREATE UNIQUE INDEX vocables_term ON vocables (owner, term)",
        "CREATE INDEX vocables_stem ON vocables (owner, stem)",
        f"CREATE TABLE blocks (id {serial}, vocable BIGINT NOT NULL, first BIGINT NOT NULL, data {data} NOT NULL)",
        "CREATE UNIQUE INDEX blocks_first ON blocks (vocable, first)",
    ]
