"""`score`: the text scores of all entries that a query meets, by BM25 over groups of terms, in arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np  # this file is only loaded where something is searched
from numpy.typing import NDArray

from memory.archive.backend import Block
from memory.archive.index import split

__all__ = ["Bearers", "Postings", "Scores", "postings", "score"]

# As Anserini sets them; for short texts better than 1.2 and 0.75.
K1, B = 0.9, 0.4
MOST_TIES = 1_000


@dataclass(frozen=True, slots=True)
class Postings:
    """The entries that have one term: ids, lengths and counts side by side, each id once."""

    ids: NDArray[np.int64]
    lengths: NDArray[np.uint16]
    counts: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Scores:
    ids: NDArray[np.int64]
    values: NDArray[np.float64]
    # above 0, in the order of `ids`

    @property
    def highest(self) -> float:
        return float(self.values.max()) if len(self.values) else 1.0

    def of(self, ids: Sequence[int]) -> list[float]:
        """Return the scores of these ids, 0 for those that have none."""
        if not len(self.ids):
            return [0.0] * len(ids)
        places = np.searchsorted(self.ids, ids).clip(max=len(self.ids) - 1)
        return np.where(self.ids[places] == ids, self.values[places], 0.0).tolist()  # type: ignore[no-any-return]

    def best(self, limit: int) -> list[int]:
        """Return the ids of the best scores, best first, of equal ones the younger id first.

        Those that equal the last one come too (up to `MOST_TIES`): which of them goes first is not for the id to say.
        """
        rounded = self.values.round(9)
        if limit < len(rounded):
            least = np.partition(rounded, -limit)[-limit]
            chosen = np.flatnonzero(rounded >= least)
        else:
            chosen = np.arange(len(rounded))
        order = np.lexsort((-self.ids[chosen], -rounded[chosen]))[: limit + MOST_TIES]
        return self.ids[chosen[order]].tolist()  # type: ignore[no-any-return]


NOTHING = Scores(np.empty(0, np.int64), np.empty(0, np.float64))


def postings(blocks: Sequence[Block], rows: Sequence[tuple[int, int, int]]) -> Postings:
    """Return what blocks of one term hold, and (id, length, count) rows besides."""
    columns = [split(block.data) for block in blocks]
    ids = [
        np.frombuffer(steps, "<u4").astype(np.int64) + block.first
        for block, (steps, _, _) in zip(blocks, columns, strict=True)
    ]
    lengths = [np.frombuffer(column, "<u2") for _, column, _ in columns]
    counts = [np.frombuffer(column, np.uint8) for _, _, column in columns]
    if rows:
        loose = np.array(rows, np.int64).T
        ids, lengths, counts = [*ids, loose[0]], [*lengths, loose[1]], [*counts, loose[2]]
    return Postings(np.concatenate(ids), np.concatenate(lengths), np.concatenate(counts))


class Bearers:
    """The entries that have each of some terms."""

    def __init__(self, ids: NDArray[np.int64]) -> None:
        self.ids = ids
        # rising

    @classmethod
    def of(cls, found: Sequence[Postings | None]) -> Bearers:
        ids = [np.empty(0, np.int64) if each is None else np.sort(each.ids) for each in found]
        common = ids[0]
        for more in ids[1:]:
            common = np.intersect1d(common, more, assume_unique=True)
        return cls(common)

    def among(self, ids: Sequence[int]) -> list[int]:
        """Return those of the ids, in their order."""
        if not len(self.ids):
            return []
        places = np.searchsorted(self.ids, ids).clip(max=len(self.ids) - 1)
        return [number for number, there in zip(ids, (self.ids[places] == ids).tolist(), strict=True) if there]


def score(
    groups: Sequence[Mapping[str, float]],
    found: Mapping[str, Postings],
    *,
    required: Sequence[str],
    hidden: Sequence[int],
    entries: int,
    average: float,
) -> Scores:
    """Return the scores of entries that have a term of some group and all `required` terms, by rising id.

    A group is one word of the query: its terms with their weights count as if they were one term. `hidden` ids are in
    `found` but not to be seen: they score nothing and count for nothing. `entries` and `average` are the view's.
    """
    groups = [{term: weight for term, weight in group.items() if term in found} for group in groups]
    used = [found[term].ids for group in groups for term in group]
    if not used:
        return NOTHING
    places = Places(np.concatenate(used))
    concealed = places.of(np.array(sorted(hidden), np.int64))
    values = np.zeros(places.size)
    weighted = np.zeros(places.size, np.float32)
    for group in groups:
        there = [
            (places.all_of(found[term].ids), found[term], weight) for term, weight in group.items() if term in found
        ]
        for place, each, weight in there:
            weighted[place] += np.float32(weight) * each.counts
        weighted[concealed] = 0
        parts = []
        for place, each, _ in there:  # each entry is taken at the first term it has
            open_places = np.flatnonzero(weighted[place])
            chosen = place[open_places]
            parts.append((chosen, weighted[chosen].astype(np.float64), each.lengths[open_places]))
            weighted[chosen] = 0
        holders = sum(len(chosen) for chosen, _, _ in parts)
        rarity = math.log(1 + (entries - holders + 0.5) / (holders + 0.5))
        for chosen, counts, lengths in parts:
            values[chosen] += rarity * counts * (K1 + 1) / (counts + K1 * (1 - B + B * lengths / average))
    for term in required:
        if term not in found:
            return NOTHING
        bearers = np.zeros(places.size, bool)
        bearers[places.of(found[term].ids)] = True
        values[~bearers] = 0
    hits = np.flatnonzero(values)
    return Scores(places.ids(hits), values[hits])


class Places:
    """Numbers ids from 0 without gaps too wide to hold, so that arrays can be indexed by them."""

    def __init__(self, ids: NDArray[np.int64]) -> None:
        self._low = int(ids.min())
        self.size = int(ids.max()) - self._low + 1
        self._known: NDArray[np.int64] | None = None
        if self.size > 4 * len(ids) + 100_000:
            self._known = np.unique(ids)
            self.size = len(self._known)

    def all_of(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the places of ids that all have one."""
        return ids - self._low if self._known is None else np.searchsorted(self._known, ids)

    def of(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the places of those ids that have one."""
        if self._known is not None:
            near = np.searchsorted(self._known, ids).clip(max=self.size - 1)
            found: NDArray[np.int64] = near[self._known[near] == ids]
            return found
        places = ids - self._low
        return places[(places >= 0) & (places < self.size)]

    def ids(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        found: NDArray[np.int64] = places + self._low if self._known is None else self._known[places]
        return found
