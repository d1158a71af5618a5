"""`Searcher`: what a query finds, in which order: candidates from words and from vectors, one score for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from memory.archive.access import View
from memory.archive.backend import Reader
from memory.archive.entry import Entry, Filter, Hit
from memory.archive.meaning import Meaning
from memory.archive.rank import Candidate, Weights, ranked
from memory.archive.words import TextSearch

__all__ = ["SearchType", "Searcher"]

SearchType = Literal["text", "vector", "hybrid"]
CANDIDATES = 60
WIDER = 4


class Searcher:
    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._text = TextSearch()

    def find(
        self,
        reader: Reader,
        view: View,
        query: str,
        chosen: Filter,
        *,
        limit: int,
        meaning: Meaning | None,
        words: bool,
    ) -> list[Hit]:
        """Return the best hits inside the view that pass the filter: by words, by meaning, or by both."""
        wanted = max(CANDIDATES, limit + limit // 2)
        text = self._text.scores(reader, view, query, chosen) if words else None
        rows: dict[int, Entry] = dict(reader.fetch(view, text.best(wanted)) if text else ())
        if meaning:
            rows |= nearest(reader, view, chosen, meaning, wanted)
        ids = sorted(rows)
        cosines = best_cosines(reader, meaning, ids) if meaning else {}
        points = text.of(ids) if text else [0.0] * len(ids)
        candidates = [
            Candidate(rows[number], point, cosines.get(number, 0.0)) for number, point in zip(ids, points, strict=True)
        ]
        return ranked(candidates, self._weights, both=words and meaning is not None)[:limit]


def nearest(reader: Reader, view: View, chosen: Filter, meaning: Meaning, wanted: int) -> dict[int, Entry]:
    """Return the entries nearest in meaning: looks further away until enough of them may be seen and pass."""
    asked = wanted
    while True:
        ids = reader.nearest(view.owner, meaning.model, meaning.vector, asked)
        found = {number: entry for number, entry in reader.fetch(view, ids) if passes(entry, chosen)}
        if len(found) >= wanted or len(ids) < asked:
            kept = [number for number in ids if number in found][:wanted]
            return {number: found[number] for number in kept}
        asked *= WIDER


def passes(entry: Entry, chosen: Filter) -> bool:
    return chosen.category in (None, entry.category) and set(chosen.tags) <= set(entry.tags)


def best_cosines(reader: Reader, meaning: Meaning, ids: Sequence[int]) -> Mapping[int, float]:
    """Return the cosine of each entry's best passage, added up the same way on every backend."""
    import numpy as np  # 90 ms, and only where vectors are used

    passages = reader.vectors(meaning.model, ids)
    if not passages:
        return {}
    rows = np.concatenate(list(passages.values()))
    products = (rows * meaning.vector.astype(np.float64)).sum(axis=1)
    starts = np.cumsum([0, *(len(each) for each in passages.values())])[:-1]
    return dict(zip(passages, np.maximum.reduceat(products, starts).tolist(), strict=True))
