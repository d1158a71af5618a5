"""`SqlWriter`: the writes of a backend in SQL that SQLite and Postgres share."""
# ruff: noqa: S608 (statements are put together from constants and marks; every value is bound)

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence

from memory.archive.backend import Block, Matrix, Vocable
from memory.archive.entry import CONVERSATION, Entry
from memory.archive.sql_reader import SqlReader, batches, columns, marks
from memory.archive.sql_tables import COLUMNS
from memory.archive.text import Terms, pack

__all__ = ["SqlWriter"]


class SqlWriter(SqlReader):
    """Reads, and changes the tables; begin and end of the transaction are the backend's."""

    def insert(self, entry: Entry, terms: Terms) -> int:
        names = COLUMNS.removeprefix("id, ")
        values = [*columns(entry), scope(entry), pack(terms)]
        statement = f"INSERT INTO entries ({names}, scope, terms) VALUES ({marks(values)})"
        return self.link.insert(statement, values)

    def remove(self, ids: Sequence[int]) -> None:
        for some in batches(ids):
            chosen = f"id IN ({marks(some)})"
            self.link.run(
                "INSERT INTO removed (id, owner, terms) SELECT id, owner, terms FROM entries "
                f"WHERE folded = 1 AND {chosen}",
                some,
            )
            self.link.run(f"DELETE FROM entries WHERE {chosen}", some)
            self.drop_vectors(some)

    def unfolded(self, limit: int) -> list[int]:
        # `id + 0`, or SQLite walks all entries in order of id rather than the few in the index of loose ones.
        statement = f"SELECT id FROM entries WHERE folded = 0 AND category <> '{CONVERSATION}' ORDER BY id + 0 LIMIT ?"
        return [number for (number,) in self.link.rows(statement, [limit])]

    def removed(self, limit: int) -> list[int]:
        return [number for (number,) in self.link.rows("SELECT id FROM removed ORDER BY id LIMIT ?", [limit])]

    def blocks_at(self, places: Sequence[tuple[int, int]]) -> list[Block]:
        statement = (
            "SELECT vocable, first, data FROM blocks WHERE vocable = ? AND first <= ? ORDER BY first DESC LIMIT 1"
        )
        found = (row for place in places for row in self.link.rows(statement, place))
        return [Block(vocable, first, bytes(data)) for vocable, first, data in found]

    def put_vocables(self, owner: str, counts: Mapping[str, tuple[str, int]]) -> list[Vocable]:
        self.link.run_many(
            "INSERT INTO vocables (owner, term, stem, entries) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (owner, term) DO UPDATE SET entries = vocables.entries + excluded.entries",
            # Sorted: writers that ever met here would take their locks in one order.
            [(owner, term, stem, difference) for term, (stem, difference) in sorted(counts.items())],
        )
        statement = "SELECT id, owner, term, entries FROM vocables WHERE owner = ? AND term IN ({})"
        return [
            Vocable(*row)
            for some in batches(list(counts))
            for row in self.link.rows(statement.format(marks(some)), [owner, *some])
        ]

    def put_blocks(self, blocks: Iterable[Block]) -> None:
        self.link.run_many(
            "INSERT INTO blocks (vocable, first, data) VALUES (?, ?, ?) "
            "ON CONFLICT (vocable, first) DO UPDATE SET data = excluded.data",
            blocks,
        )

    def drop_blocks(self, blocks: Iterable[tuple[int, int]]) -> None:
        self.link.run_many("DELETE FROM blocks WHERE vocable = ? AND first = ?", blocks)

    def put_partition(self, owner: str, entries: int, length: int) -> None:
        self.link.run(
            "INSERT INTO partitions (owner, entries, length) VALUES (?, ?, ?) ON CONFLICT (owner) DO UPDATE SET "
            "entries = partitions.entries + excluded.entries, length = partitions.length + excluded.length",
            [owner, entries, length],
        )

    def mark_folded(self, ids: Sequence[int]) -> None:
        for some in batches(ids):
            self.link.run(f"UPDATE entries SET folded = 1 WHERE id IN ({marks(some)})", some)

    def forget_removed(self, ids: Sequence[int]) -> None:
        for some in batches(ids):
            self.link.run(f"DELETE FROM removed WHERE id IN ({marks(some)})", some)

    def clear(self) -> None:
        for table in ("removed", "partitions", "vocables", "blocks"):
            self.link.run(f"DELETE FROM {table}")
        self.link.run("UPDATE entries SET folded = 0 WHERE folded = 1")

    @abstractmethod
    def put_vectors(self, model: str, rows: Mapping[int, Matrix]) -> None:
        """As in `Writer`; sets `model` of the entries too, by which `unembedded` finds those that have none."""

    @abstractmethod
    def drop_vectors(self, ids: Sequence[int]) -> None: ...


def scope(entry: Entry) -> str:
    return f"session {entry.session}" if entry.category == CONVERSATION else ""
