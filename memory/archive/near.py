"""`Cosines` and `nearest`: which entries are nearest in meaning to a query, measured the same way on every backend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from memory.archive.access import View
from memory.archive.backend import Reader
from memory.archive.entry import Entry
from memory.archive.meaning import Meaning

if TYPE_CHECKING:
    from memory.archive.score import Bearers

__all__ = ["COSINE_DIGITS", "Cosines", "nearest"]

# Cosines that differ by less are the same, whatever the last bits of an addition say.
COSINE_DIGITS = 6
WIDER = 4
# Of so few entries each is measured; and among more equal ones it does not matter which are looked at.
FEW = 1_000
AT_ONCE = 64


class Cosines:
    """The cosine of each entry's best passage with a query; 0 without vectors. Each is measured once."""

    def __init__(self, reader: Reader, meaning: Meaning | None) -> None:
        self._reader, self._meaning = reader, meaning
        self._known: dict[int, float] = {}

    def of(self, ids: Sequence[int]) -> list[float]:
        if self._meaning is None:
            return [0.0] * len(ids)
        fresh = [number for number in ids if number not in self._known]
        if fresh:
            self._known |= dict.fromkeys(fresh, 0.0)
            self._known |= measured(self._reader.vectors(self._meaning.model, fresh), self._meaning)
        return [self._known[number] for number in ids]


def measured(passages: Mapping[int, object], meaning: Meaning) -> dict[int, float]:
    import numpy as np  # 90 ms, and only where vectors are used

    if not passages:
        return {}
    rows = [np.asarray(each) for each in passages.values()]
    # A sum by rows adds up the same way however many rows there are, as a product of matrices does not.
    products = (np.concatenate(rows) * meaning.vector.astype(np.float64)).sum(axis=1)
    starts = np.cumsum([0, *(len(each) for each in rows)])[:-1]
    best = np.maximum.reduceat(products, starts).round(COSINE_DIGITS)
    return dict(zip(passages, best.tolist(), strict=True))


def nearest(
    reader: Reader, view: View, meaning: Meaning, cosines: Cosines, wanted: int, bearers: Bearers | None
) -> dict[int, Entry]:
    """Return the nearest entries that may be seen and are among the bearers of a filter, and all that equal the last.

    Looks further away until there are enough.
    """
    if bearers is not None and len(bearers.ids) <= FEW:
        ids = bearers.ids.tolist()
        near = {number: cosine for number, cosine in zip(ids, cosines.of(ids), strict=True) if cosine > 0}
        found = in_order(reader, view, sorted(near, key=lambda number: (-near[number], number)))
        return {number: found[number] for number in without_rest(list(found), cosines, wanted)}
    # A look costs much, and what it brings little: so with a filter the first goes far.
    most = (wanted + 1) * (1 if bearers is None else WIDER**2)
    while True:
        ids = reader.nearest(view.owner, meaning.model, meaning.vector, most)
        found = in_order(reader, view, ids if bearers is None else bearers.among(ids))
        kept = without_rest(list(found), cosines, wanted)
        if len(ids) < most or len(kept) < len(found) or len(kept) > max(FEW, wanted):
            return {number: found[number] for number in kept}
        most *= WIDER


def without_rest(ids: Sequence[int], cosines: Cosines, wanted: int) -> Sequence[int]:
    """Return the first of the ids, nearest first, and those after them that are as near as the last one."""
    if len(ids) <= wanted:
        return ids
    end = wanted
    edge = cosines.of(ids[: wanted + 1])[wanted - 1]
    while end < len(ids):
        some = cosines.of(ids[end : end + (1 if end == wanted else AT_ONCE)])
        same = next((place for place, cosine in enumerate(some) if cosine != edge), len(some))
        end += same
        if same < len(some):
            break
    return ids[:end]


def in_order(reader: Reader, view: View, ids: Sequence[int]) -> dict[int, Entry]:
    """Return those of the ids that may be seen, in their order."""
    found = dict(reader.fetch(view, ids))
    return {number: found[number] for number in ids if number in found}
