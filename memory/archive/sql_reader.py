"""`SqlReader`: the reads of a backend in SQL that SQLite and Postgres share."""
# ruff: noqa: S608 (statements are put together from constants and marks; every value is bound)

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

from memory.archive.access import View
from memory.archive.backend import Block, Matrix, Neighbour, Partition, Stored, Vocable
from memory.archive.entry import Entry, moment, ticks
from memory.archive.sql_tables import COLUMNS
from memory.archive.text import Terms, unpack

__all__ = ["Link", "SqlReader", "batches", "marks"]

# Values in one statement: under the limits of both (32,766 and 65,535), and few enough for a plan.
BATCH = 2_000
LAST = "\U0010ffff"
# Says to SQLite that the index of the entries that age will do.
AGING = "category IN ('daily', 'conversation')"


class Link(Protocol):
    """A connection inside a transaction. Statements bear `?` for their values, and no other `?` or `%`."""

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Any]: ...

    def run(self, statement: str, values: Sequence[Any] = ()) -> None: ...

    def insert(self, statement: str, values: Sequence[Any]) -> int:
        """Run an INSERT of one row, and return its id."""
        ...

    def run_many(self, statement: str, values: Iterable[Sequence[Any]]) -> None: ...


class SqlReader(ABC):
    """Answers from the tables; vectors are left to the backend, for each keeps them its own way."""

    def __init__(self, link: Link) -> None:
        self.link = link

    def troubles(self) -> Sequence[str]:
        return ()

    def find(self, view: View, key: str) -> list[Stored]:
        seen, values = view.sql()
        return self.stored(f"key = ? AND {seen} ORDER BY id", [key, *values])

    def fetch(self, view: View, ids: Sequence[int]) -> list[Stored]:
        seen, values = view.sql()
        return [
            row for some in batches(ids) for row in self.stored(f"id IN ({marks(some)}) AND {seen}", [*some, *values])
        ]

    def page(self, view: View, after: int, limit: int) -> list[Stored]:
        seen, values = view.sql()
        return self.stored(f"id > ? AND {seen} ORDER BY id LIMIT ?", [after, *values, limit])

    def expired(self, view: View, limit: int) -> list[int]:
        found: list[int] = []
        for category, last in view.limits().items():  # each a stretch of the index
            statement = f"SELECT id FROM entries WHERE {AGING} AND category = '{category}' AND updated <= ? LIMIT ?"
            found += [number for (number,) in self.link.rows(statement, [last, limit - len(found)])]
        return found

    def around(self, view: View, ids: Sequence[int], reach: int) -> Mapping[int, list[Neighbour]]:
        seen, values = view.sql()
        statement = f"SELECT id, created, owner, session FROM entries WHERE session <> '' AND id IN ({marks(ids)})"
        sides = [
            "SELECT id, created FROM entries WHERE owner = ? AND session = ? AND category <> 'conversation' "
            f"AND created {sign} ? AND {seen} ORDER BY created {order}, key {order} LIMIT ?"
            for sign, order in (("<", "DESC"), (">", "ASC"))
        ]
        found: dict[int, list[Neighbour]] = {}
        for number, created, *place in self.link.rows(statement, ids):
            nearby = (self.link.rows(side, [*place, created, *values, reach]) for side in sides)
            found[number] = [
                Neighbour(other, steps, abs(when - created))
                for rows in nearby
                for steps, (other, when) in enumerate(rows, start=1)
            ]
        return found

    def counts(self, view: View) -> Mapping[tuple[str, str], int]:
        seen, values = view.sql()
        statement = f"SELECT owner, category, count(*) FROM entries WHERE {seen} GROUP BY owner, category"
        return {(owner, category): number for owner, category, number in self.link.rows(statement, values)}

    def loose(self, view: View) -> list[int]:
        seen, values = view.sql()
        return [number for (number,) in self.link.rows(f"SELECT id FROM entries WHERE folded = 0 AND {seen}", values)]

    def gone(self, view: View) -> list[int]:
        mine, owner = ("1 = 1", []) if view.owner is None else ("owner = ?", [view.owner])
        found = self.link.rows(f"SELECT id FROM removed WHERE {mine}", owner)
        for category, last in view.limits().items():
            old = f"folded = 1 AND {AGING} AND category = '{category}' AND updated <= ? AND {mine}"
            found += self.link.rows(f"SELECT id FROM entries WHERE {old}", [last, *owner])
        return [number for (number,) in found]

    def terms(self, ids: Sequence[int]) -> Mapping[int, tuple[str, Terms]]:
        found: dict[int, tuple[str, Terms]] = {}
        for some in batches(ids):
            for table in ("entries", "removed"):
                statement = f"SELECT id, owner, terms FROM {table} WHERE id IN ({marks(some)})"
                found |= {number: (owner, unpack(line)) for number, owner, line in self.link.rows(statement, some)}
        return found

    def partitions(self, owner: str | None) -> list[Partition]:
        mine, values = ("", []) if owner is None else (" AND owner = ?", [owner])
        statement = f"SELECT owner, entries, length FROM partitions WHERE entries > 0{mine} ORDER BY owner"
        return [Partition(*row) for row in self.link.rows(statement, values)]

    def vocables(self, owner: str | None, terms: Sequence[str], stems: Sequence[str] = ()) -> list[Vocable]:
        mine, values = ("IN (SELECT owner FROM partitions)", []) if owner is None else ("= ?", [owner])
        statement = "SELECT id, owner, term, entries FROM vocables WHERE owner {} AND {} IN ({}) AND entries > 0"
        parts: list[str] = []
        bound: list[Any] = []
        found: dict[int, Vocable] = {}
        for column, texts in (("term", terms), ("stem", stems)):
            for some in batches(texts):
                parts.append(statement.format(mine, column, marks(some)))
                bound += [*values, *some]
                if len(bound) > BATCH:
                    found |= self.vocables_of(parts, bound)
                    parts, bound = [], []
        return list((found | self.vocables_of(parts, bound)).values())

    def vocables_of(self, statements: Sequence[str], values: Sequence[Any]) -> dict[int, Vocable]:
        rows = self.link.rows(" UNION ALL ".join(statements), values) if statements else []
        return {row[0]: Vocable(*row) for row in rows}

    def with_prefixes(self, owner: str | None, prefixes: Sequence[str], limit: int) -> list[Vocable]:
        owners = [partition.owner for partition in self.partitions(owner)] if owner is None else [owner]
        statement = (
            "SELECT id, owner, term, entries FROM vocables WHERE owner = ? AND term >= ? AND term < ? AND entries > 0 "
            "ORDER BY length(term), term LIMIT ?"
        )
        ranges = [(each, prefix, prefix + LAST, limit) for each in owners for prefix in prefixes]
        return [Vocable(*row) for values in ranges for row in self.link.rows(statement, values)]

    def blocks(self, vocables: Sequence[int]) -> list[Block]:
        statement = "SELECT vocable, first, data FROM blocks WHERE vocable IN ({}) ORDER BY vocable, first"
        return [
            Block(vocable, first, bytes(data))
            for some in batches(vocables)
            for vocable, first, data in self.link.rows(statement.format(marks(some)), some)
        ]

    def unembedded(self, view: View, model: str, limit: int) -> list[Stored]:
        seen, values = view.sql()
        found: list[Stored] = []
        for sign in ("<", ">"):  # two ranges of the index, where `<>` would walk all of it
            condition = f"model {sign} ? AND {seen} LIMIT ?"
            found += self.stored(condition, [model, *values, limit - len(found)])
        return found

    def embedded(self, view: View, model: str) -> int:
        seen, values = view.sql()
        return int(self.link.rows(f"SELECT count(*) FROM entries WHERE model = ? AND {seen}", [model, *values])[0][0])

    @abstractmethod
    def nearest(self, owner: str | None, model: str, vector: Matrix, limit: int) -> list[int]: ...

    @abstractmethod
    def vectors(self, model: str, ids: Sequence[int]) -> Mapping[int, Matrix]: ...

    def stored(self, condition: str, values: Sequence[Any]) -> list[Stored]:
        rows = self.link.rows(f"SELECT {COLUMNS} FROM entries WHERE {condition}", values)
        return [stored(row) for row in rows]


def stored(row: Sequence[Any]) -> Stored:
    number, owner, key, session, category, content, tags, metadata, created, updated = row
    entry = Entry(
        key=key,
        content=content,
        category=category,
        tags=tags_of(tags),
        metadata={} if metadata == "{}" else json.loads(metadata),
        owner=owner,
        session=session,
        created=moment(created),
        updated=moment(updated),
    )
    return Stored(number, entry)


@lru_cache(maxsize=4_096)
def tags_of(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


def columns(entry: Entry) -> list[Any]:
    """Return the entry's values in the order of `COLUMNS`, without the id."""
    tags = json.dumps(entry.tags, ensure_ascii=False)
    metadata = json.dumps(entry.metadata, ensure_ascii=False)
    times = [ticks(entry.created), ticks(entry.updated)]
    return [entry.owner, entry.key, entry.session, entry.category, entry.content, tags, metadata, *times]


def batches(values: Sequence[Any]) -> Iterable[Sequence[Any]]:
    return (values[start : start + BATCH] for start in range(0, len(values), BATCH))


def marks(values: Sequence[Any]) -> str:
    return ", ".join("?" * len(values))
