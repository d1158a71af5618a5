"""`PostgresReader` and `PostgresWriter`: what differs from the shared SQL, vectors and reads in many round trips."""
# ruff: noqa: S608 (statements are put together from constants and marks; every value is bound)

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memory.archive.access import View
from memory.archive.backend import Block, Matrix, Neighbour, Stored, Vocable
from memory.archive.embedder import EmbeddingUnavailable
from memory.archive.postgres_link import PassedOn, PostgresLink
from memory.archive.postgres_near import NearIndex, NearIndexes
from memory.archive.sql_reader import AGING, LAST, batches, stored
from memory.archive.sql_tables import COLUMNS
from memory.archive.sql_writer import SqlWriter

__all__ = ["PostgresReader", "PostgresWriter"]

PASSAGES_A_STATEMENT = 100
HEADER_BYTES = 4  # of a vector as pgvector sends it; then come its numbers, big end first
NEAR_LIMIT = 250  # the index looks at 1,000 rows at most; who wants more entries gets them from a scan


class PostgresWriter(SqlWriter):
    """Without the vector extension (`has_vectors` is False) it finds by words alone, and says so."""

    link: PostgresLink

    def __init__(self, link: PostgresLink, has_vectors: bool, indexes: NearIndexes) -> None:
        super().__init__(link)
        self.has_vectors, self.indexes = has_vectors, indexes
        self._troubles: list[str] = []
        self.rebuilt = False
        # all was cleared, to be built anew

    def troubles(self) -> Sequence[str]:
        return self._troubles

    def around(self, view: View, ids: Sequence[int], reach: int) -> Mapping[int, list[Neighbour]]:
        seen, values = view.sql()
        sides = " UNION ALL ".join(
            f"(SELECT id, created, row_number() OVER (ORDER BY created {order}, key {order}) AS steps FROM "
            "(SELECT id, created, key FROM entries WHERE owner = place.owner AND session = place.session "
            f"AND created {sign} place.created AND category <> 'conversation' AND {seen} "
            f"ORDER BY created {order}, key {order} LIMIT ?) AS side)"
            for sign, order in (("<", "DESC"), (">", "ASC"))
        )
        statement = (
            "SELECT place.id, near.id, near.steps, abs(near.created - place.created) "
            "FROM (SELECT id, owner, session, created FROM entries WHERE session <> '' AND id = ANY(?)) AS place "
            f"CROSS JOIN LATERAL ({sides}) AS near ORDER BY 1, 3, 2"
        )
        found: dict[int, list[Neighbour]] = {number: [] for number in ids}
        for number, *neighbour in self.link.rows(statement, [list(ids), *values, reach, *values, reach]):
            found[number].append(Neighbour(*neighbour))
        return found

    def gone(self, view: View) -> list[int]:
        mine, owner = ("1 = 1", []) if view.owner is None else ("owner = ?", [view.owner])
        parts, values = [f"SELECT id FROM removed WHERE {mine}"], list[str | int](owner)
        for category, last in view.limits().items():
            old = f"folded = 1 AND {AGING} AND category = '{category}' AND updated <= ? AND {mine}"
            parts.append(f"SELECT id FROM entries WHERE {old}")
            values += [last, *owner]
        return [number for (number,) in self.link.rows(" UNION ALL ".join(parts), values)]

    def with_prefixes(self, owner: str | None, prefixes: Sequence[str], limit: int) -> list[Vocable]:
        mine, values = ("", []) if owner is None else (" AND partitions.owner = ?", [owner])
        statement = (
            "SELECT near.* FROM partitions CROSS JOIN unnest(?::text[]) AS prefix CROSS JOIN LATERAL "
            "(SELECT id, owner, term, entries FROM vocables WHERE owner = partitions.owner AND term >= prefix "
            "AND term < prefix || ? AND entries > 0 ORDER BY length(term), term LIMIT ?) AS near "
            f"WHERE partitions.entries > 0{mine}"
        )
        rows = self.link.rows(statement, [list(prefixes), LAST, limit, *values])
        return [Vocable(*row) for row in rows]

    def blocks_at(self, places: Sequence[tuple[int, int]]) -> list[Block]:
        statement = (
            "SELECT block.* FROM unnest(?::bigint[], ?::bigint[]) AS place (vocable, entry) CROSS JOIN LATERAL "
            "(SELECT vocable, first, data FROM blocks WHERE blocks.vocable = place.vocable AND first <= place.entry "
            "ORDER BY first DESC LIMIT 1) AS block"
        )
        found = (
            row
            for some in batches(places)
            for row in self.link.rows(statement, [[vocable for vocable, _ in some], [entry for _, entry in some]])
        )
        return [Block(vocable, first, bytes(data)) for vocable, first, data in found]

    def clear(self) -> None:
        super().clear()
        self.rebuilt = True

    # Vectors

    def unembedded(self, view: View, model: str, limit: int) -> list[Stored]:
        if not self.has_vectors:
            return []
        seen, values = view.sql()
        ranges = " UNION ALL ".join(
            f"(SELECT {COLUMNS} FROM entries WHERE model {sign} ? AND {seen} LIMIT ?)" for sign in ("<", ">")
        )
        rows = self.link.rows(ranges, [model, *values, limit, model, *values, limit])
        return [stored(row) for row in rows[:limit]]

    def put_vectors(self, model: str, rows: Mapping[int, Matrix]) -> None:
        if not self.has_vectors:
            raise EmbeddingUnavailable(self._without_vectors())
        there = self.link.rows("SELECT id FROM entries WHERE id = ANY(?)", [list(rows)])
        ids = [number for (number,) in there]
        self.drop_vectors(ids)
        passages = [(number, place, row) for number in ids for place, row in enumerate(rows[number])]
        for start in range(0, len(passages), PASSAGES_A_STATEMENT):
            some = passages[start : start + PASSAGES_A_STATEMENT]
            lines = ", ".join(["(?::bigint, ?::integer, ?::vector)"] * len(some))
            values = [value for number, place, row in some for value in (number, place, sent(row))]
            self.link.run(
                "INSERT INTO vectors (entry, passage, owner, model, size, vector) "
                "SELECT entry, passage, owner, ?, vector_dims(vector), vector "
                f"FROM (VALUES {lines}) AS fresh (entry, passage, vector) JOIN entries ON id = entry",
                [model, *values],
            )
        self.link.run("UPDATE entries SET model = ? WHERE id = ANY(?)", [model, ids])

    def drop_vectors(self, ids: Sequence[int]) -> None:
        if self.has_vectors and ids:
            self.link.run("DELETE FROM vectors WHERE entry = ANY(?)", [list(ids)])

    def vectors(self, model: str, ids: Sequence[int]) -> Mapping[int, Matrix]:
        import numpy as np  # 90 ms, and only where vectors are used

        if not self.has_vectors or not ids:
            return {}
        statement = "SELECT entry, vector FROM vectors WHERE entry = ANY(?) AND model = ? ORDER BY entry, passage"
        passages: dict[int, list[bytes]] = {}
        for number, data in self.link.rows(statement, [list(ids), model]):
            passages.setdefault(number, []).append(data[HEADER_BYTES:])
        # All at once: an array for each row takes 20 us.
        numbers = np.frombuffer(b"".join(b"".join(rows) for rows in passages.values()), ">f4").astype(np.float32)
        found, start = {}, 0
        for number, rows in passages.items():
            end = start + sum(map(len, rows)) // 4
            found[number] = numbers[start:end].reshape(len(rows), -1)
            start = end
        return found

    def nearest(self, owner: str | None, model: str, vector: Matrix, limit: int) -> list[int]:
        if not self.has_vectors:
            self._troubles = [self._without_vectors()]
            return []
        index = NearIndex(model, len(vector))
        if owner is None and limit <= NEAR_LIMIT and self.indexes.has(self.link, index):
            return self._approximately(index, vector, limit)
        mine, owners = ("", []) if owner is None else (" AND owner = ?", [owner])
        # An entry may have many passages: look at more of them until there are enough entries.
        wanted = limit
        while True:
            rows = self.link.rows(
                "SELECT entry FROM (SELECT entry, vector <#> ?::vector AS far FROM vectors WHERE model = ?"
                f"{mine} AND size = ? ORDER BY far, entry LIMIT ?) AS near WHERE far < 0",
                [sent(vector), model, *owners, len(vector), wanted],
            )
            found = list(dict.fromkeys(number for (number,) in rows))
            if len(found) >= limit or len(rows) < wanted:
                return found[:limit]
            wanted *= 4

    def _approximately(self, index: NearIndex, vector: Matrix, limit: int) -> list[int]:
        """Walk the index, over all owners; it looks at four times what is wanted."""
        self.link.run(f"SET LOCAL hnsw.ef_search = {max(100, 4 * limit)}")
        rows = self.link.rows(
            f"SELECT entry, (vector::vector({index.size})) <#> ?::vector({index.size}) AS far FROM vectors "
            f"WHERE {index.rows} ORDER BY far LIMIT ?",
            [sent(vector), 4 * limit],
        )
        ranked = sorted((far, number) for number, far in rows if far < 0)
        return list(dict.fromkeys(number for _, number in ranked))[:limit]

    def _without_vectors(self) -> str:
        place = self.link.where.place
        return (
            f"Postgres at {place} has no pgvector, so entries are found by words alone: install the extension `vector`"
        )


class PostgresReader(PostgresWriter):
    """Remembers what is asked for more than once: it sees one moment, and each question is a round trip."""

    def __init__(self, link: PostgresLink, has_vectors: bool, indexes: NearIndexes) -> None:
        super().__init__(link, has_vectors, indexes)
        self._loose: dict[View, list[int]] = {}
        self._gone: dict[View, list[int]] = {}

    def loose(self, view: View) -> list[int]:
        if view not in self._loose:
            self._loose[view] = super().loose(view)
        return self._loose[view]

    def gone(self, view: View) -> list[int]:
        if view not in self._gone:
            self._gone[view] = super().gone(view)
        return self._gone[view]


def sent(vector: Matrix) -> Any:
    """Return a vector as a value to bind: in pgvector's own binary form, bit for bit."""
    from pgvector import Vector  # optional, like the rest of this backend

    return PassedOn(Vector(vector).to_binary())
