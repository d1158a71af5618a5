"""`NearIndex`: an approximate index over the vectors of one model, worth its building where a scan takes long."""

from __future__ import annotations

import hashlib
import time
from typing import NamedTuple

from memory.archive.postgres_link import PostgresLink

__all__ = ["FROM_ROWS", "NearIndex", "NearIndexes", "missing"]

# A scan of 50,000 vectors of 384 numbers takes 30 ms, of 768 numbers 60 ms; the index 7 to 17 ms whatever there is.
FROM_ROWS = 50_000
MOST_NUMBERS = 2_000  # that the extension can index
REMEMBERED_S = 60.0


class NearIndex(NamedTuple):
    model: str
    size: int

    @property
    def name(self) -> str:
        return f"vectors_near_{hashlib.sha256(self.model.encode()).hexdigest()[:12]}_{self.size}"

    @property
    def rows(self) -> str:
        """The rows it covers, as SQL. Written out: a plan can use the index only where it sees the very values."""
        return f"model = {text_literal(self.model)} AND size = {self.size}"

    def exists(self, link: PostgresLink) -> bool:
        statement = (
            "SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(quote_ident(current_schema()) || '.' || ?) "
            "AND indisvalid"
        )
        return bool(link.rows(statement, [self.name]))

    def creation(self, schema: str, extension: str) -> list[str]:
        """Return the statements that make it beside reading and writing; the schemas are quoted."""
        return [
            f"DROP INDEX CONCURRENTLY IF EXISTS {schema}.{self.name}",  # what a build that was broken off left
            f"CREATE INDEX CONCURRENTLY {self.name} ON {schema}.vectors USING hnsw "
            f"((vector::{extension}.vector({self.size})) {extension}.vector_ip_ops) WHERE {self.rows}",
        ]


class NearIndexes:
    """Remembers for a minute which indexes there are, so that not every search asks."""

    def __init__(self) -> None:
        self._known: dict[NearIndex, tuple[float, bool]] = {}

    def has(self, link: PostgresLink, index: NearIndex) -> bool:
        when, there = self._known.get(index, (0.0, False))
        if time.monotonic() - when > REMEMBERED_S:
            there = index.exists(link)
            self._known[index] = (time.monotonic(), there)
        return there

    def forget(self) -> None:
        self._known.clear()


def missing(link: PostgresLink, from_rows: int) -> list[NearIndex]:
    """Return the indexes that would pay and that nobody is building."""
    statement = (
        "SELECT model, size FROM vectors WHERE size <= ? GROUP BY model, size HAVING count(*) >= ? ORDER BY model, size"
    )
    wanted = [NearIndex(*row) for row in link.rows(statement, [MOST_NUMBERS, from_rows])]
    building = link.rows("SELECT 1 FROM pg_stat_progress_create_index WHERE relid = to_regclass('vectors')")
    return [] if building else [index for index in wanted if not index.exists(link)]


def text_literal(text: str) -> str:
    """Return text as SQL, without `?` and `%`, which stand for values in our statements."""
    escaped = "".join(f"\\{ord(c):04X}" if c in "?%\\'" or ord(c) < 32 else c for c in text)
    return f"U&'{escaped}'"
