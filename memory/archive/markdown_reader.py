"""`MarkdownReader`: the reads of the archive over Markdown files. All entries are loose: a search looks at each."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from memory.archive.access import View
from memory.archive.backend import Block, Matrix, Neighbour, Partition, Stored, Vocable
from memory.archive.entry import ticks
from memory.archive.markdown_state import Record, State
from memory.archive.markdown_vectors import MarkdownVectors
from memory.archive.text import Terms

__all__ = ["MarkdownReader"]


class MarkdownReader:
    def __init__(self, state: State, vectors: MarkdownVectors) -> None:
        self._state, self._records, self._vectors = state, state.records, vectors
        self._asked: View | None = None
        # the view of the last look at all entries: of what is odd in them only its owner is told

    def troubles(self) -> list[str]:
        return self._state.troubles + (self._state.odd(self._asked.owner) if self._asked else [])

    def find(self, view: View, key: str) -> list[Stored]:
        return [
            Stored(record.id, record.entry)
            for record in self._records.values()
            if record.entry.key == key and view.sees(record.entry)
        ]

    def fetch(self, view: View, ids: Sequence[int]) -> list[Stored]:
        found = (self._records[number] for number in ids if number in self._records)
        return [Stored(record.id, record.entry) for record in found if view.sees(record.entry)]

    def page(self, view: View, after: int, limit: int) -> list[Stored]:
        ids = sorted(record.id for record in self._visible(view) if record.id > after)
        return [Stored(number, self._records[number].entry) for number in ids[:limit]]

    def expired(self, view: View, limit: int) -> list[int]:
        return [record.id for record in self._records.values() if view.expired(record.entry)][:limit]

    def around(self, view: View, ids: Sequence[int], reach: int) -> Mapping[int, list[Neighbour]]:
        found: dict[int, list[Neighbour]] = {}
        for number in ids:
            if (record := self._records.get(number)) is None:
                continue
            created = ticks(record.entry.created)
            places = self._state.times.get((record.entry.owner, record.entry.session), [])
            before = reversed(range(bisect_left(places, (created,))))
            after = range(bisect_left(places, (created + 1,)), len(places))
            found[number] = [
                Neighbour(other, steps, abs(when - created))
                for side in (before, after)
                for steps, (when, _, other) in enumerate(self._first(view, (places[i] for i in side), reach), start=1)
            ]
        return found

    def _first(self, view: View, places: Iterator[tuple[int, str, int]], most: int) -> Iterator[tuple[int, str, int]]:
        seen = (place for place in places if view.sees(self._records[place[2]].entry))
        return islice(seen, most)

    def counts(self, view: View) -> Mapping[tuple[str, str], int]:
        return Counter((record.entry.owner, record.entry.category) for record in self._visible(view))

    def loose(self, view: View) -> list[int]:
        return [record.id for record in self._visible(view)]

    def terms(self, ids: Sequence[int]) -> Mapping[int, tuple[str, Terms]]:
        found = (self._records[number] for number in ids if number in self._records)
        return {record.id: (record.entry.owner, record.terms) for record in found}

    def _visible(self, view: View) -> Iterator[Record]:
        self._asked = view
        return (record for record in self._records.values() if view.sees(record.entry))

    # There are no blocks, so nothing can be gone from them.

    def gone(self, view: View) -> list[int]:
        return []

    def partitions(self, owner: str | None) -> list[Partition]:
        return []

    def vocables(self, owner: str | None, terms: Sequence[str], stems: Sequence[str] = ()) -> list[Vocable]:
        return []

    def with_prefixes(self, owner: str | None, prefixes: Sequence[str], limit: int) -> list[Vocable]:
        return []

    def blocks(self, vocables: Sequence[int]) -> list[Block]:
        return []

    def unembedded(self, view: View, model: str, limit: int) -> list[Stored]:
        kept = self._vectors.kept(model)
        missing = (record for record in self._visible(view) if self._vectors.digest(record.entry) not in kept)
        return [Stored(record.id, record.entry) for record, _ in zip(missing, range(limit), strict=False)]

    def embedded(self, view: View, model: str) -> int:
        kept = self._vectors.kept(model)
        return sum(self._vectors.digest(record.entry) in kept for record in self._visible(view))

    def vectors(self, model: str, ids: Sequence[int]) -> Mapping[int, Matrix]:
        kept = self._vectors.kept(model)
        digests = {
            number: self._vectors.digest(self._records[number].entry) for number in ids if number in self._records
        }
        return {number: kept[digest] for number, digest in digests.items() if digest in kept}

    def nearest(self, owner: str | None, model: str, vector: Matrix, limit: int) -> list[int]:
        import numpy as np  # 90 ms, and only where vectors are searched

        theirs = [record.id for record in self._records.values() if owner in (None, record.entry.owner)]
        found = self.vectors(model, theirs)
        if not found:
            return []
        scores = np.concatenate(list(found.values())) @ vector
        best: dict[int, float] = {}
        start = 0
        for number, rows in found.items():
            score = float(scores[start : start + len(rows)].max())
            start += len(rows)
            if score > 0:
                best[number] = score
        return sorted(best, key=lambda number: (-best[number], number))[:limit]
