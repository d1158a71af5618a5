"""`Searcher`: what a query finds, in which order: candidates from words and from vectors, then one score for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from memory.archive import rank
from memory.archive.access import View
from memory.archive.backend import Reader
from memory.archive.entry import CONVERSATION, Entry, Filter, Hit
from memory.archive.hints import date_hint
from memory.archive.meaning import Meaning
from memory.archive.rank import Candidate, Weights
from memory.archive.words import TextSearch

if TYPE_CHECKING:
    from memory.archive.score import Bearers, Scores

__all__ = ["Asked", "SearchType", "Searcher"]

SearchType = Literal["text", "vector", "hybrid"]
# By one kind of search, and by each of two. What stands further down gets among the first ten by its neighbours alone.
CANDIDATES, CANDIDATES_EACH = 40, 30
WIDER = 4
FEW = 1_000
PAGE = 10


@dataclass(frozen=True, slots=True)
class Asked:
    """A query with all that it is narrowed to and known by."""

    query: str
    view: View
    chosen: Filter
    limit: int
    words: bool
    # by words, too
    meaning: Meaning | None
    # by meaning, too
    sure: bool = False
    # only what has a word of the query, or stands out by its meaning

    @property
    def wanted(self) -> int:
        few = CANDIDATES if self.meaning is None else CANDIDATES_EACH
        return max(few, self.limit + self.limit // 2)


class Searcher:
    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._text = TextSearch()

    def names(self, reader: Reader, view: View, query: str) -> frozenset[str]:
        """Return the tags and categories that the query names."""
        with self._text.sight(reader, view) as known:
            return known.names(query)

    def find(self, reader: Reader, asked: Asked) -> list[Hit]:
        """Return the best hits inside the view that pass the filter: by words, by meaning, or by both."""
        with self._text.sight(reader, asked.view) as known:
            names = known.names(asked.query)
            text = known.scores(asked.query, asked.chosen) if asked.words else None
            bearers = known.bearers(asked.chosen) if asked.meaning else None
        ids = text.best(asked.wanted) if text else []
        near = nearest(reader, asked, asked.meaning, bearers) if asked.meaning else {}
        found = near | dict(reader.fetch(asked.view, [number for number in ids if number not in near]))
        candidates = measured(reader, asked, text, found)
        scale = rank.Scale.of(candidates, asked.words, asked.meaning is not None, self._weights)
        scale.fuse(candidates)
        leading = rank.leaders(candidates, asked.wanted)
        around = reader.around(
            asked.view, [each.id for each in leading if each.entry.category != CONVERSATION], rank.REACH
        )
        gains = rank.echoes(leading, around)
        beside = [number for number in gains if number not in found]
        if text and not asked.meaning:
            beside = [number for number, points in zip(beside, text.of(beside), strict=True) if points]
        joined = measured(reader, asked, text, passing(reader, asked, beside)) if beside else []
        scale.fuse(joined)
        date = date_hint(asked.query)
        for each in (*candidates, *joined):
            each.score = rank.lifted(each.score, gains.get(each.id, 0.0)) * rank.signals(each.entry, names, date)
        everything = [*candidates, *joined]
        if asked.sure:
            outstanding = rank.standing_out(everything, others=has_others(reader, asked, everything))
            everything = [each for each in everything if each.text > 0 or each.id in outstanding]
        return rank.hits(everything, asked.limit)


def measured(reader: Reader, asked: Asked, text: Scores | None, found: Mapping[int, Entry]) -> list[Candidate]:
    """Return entries with what they score by words (the best of all has 1) and by meaning."""
    ids = sorted(found)
    points = text.of(ids) if text else [0.0] * len(ids)
    highest = text.highest if text else 1.0
    cosines = best_cosines(reader, asked.meaning, ids) if asked.meaning else {}
    return [
        Candidate(number, found[number], point / highest, cosines.get(number, 0.0))
        for number, point in zip(ids, points, strict=True)
    ]


def nearest(reader: Reader, asked: Asked, meaning: Meaning, bearers: Bearers | None) -> dict[int, Entry]:
    """Return the entries nearest in meaning: looks further away until enough of them may be seen and pass the filter.

    `bearers` are those that pass it. Of a few, each is measured.
    """
    if bearers is not None and len(bearers.ids) <= FEW:
        cosines = best_cosines(reader, meaning, bearers.ids.tolist())
        near = sorted((number for number in cosines if cosines[number] > 0), key=lambda one: (-cosines[one], one))
        return with_ties(in_order(reader, asked, near), cosines, asked.wanted)
    # A look costs much, and what it brings little: so with a filter the first goes far.
    most = (asked.wanted + 1) * (1 if bearers is None else WIDER**2)
    while True:
        ids = reader.nearest(asked.view.owner, meaning.model, meaning.vector, most)
        found = in_order(reader, asked, ids if bearers is None else bearers.among(ids))
        kept = with_ties(found, best_cosines(reader, meaning, list(found)), asked.wanted)
        if len(ids) < most or most > FEW or len(kept) < len(found):
            return kept
        most *= WIDER


def with_ties(found: Mapping[int, Entry], cosines: Mapping[int, float], wanted: int) -> dict[int, Entry]:
    """Return the first of them, and those as near as the last one: which of these goes first is for the rank to say."""
    near = {number: round(cosines.get(number, 0.0), rank.COMPARED_DIGITS) for number in found}
    last = sorted(near.values(), reverse=True)[wanted - 1] if len(near) > wanted else -1.0
    return {number: entry for number, entry in found.items() if near[number] >= last}


def in_order(reader: Reader, asked: Asked, ids: Sequence[int]) -> dict[int, Entry]:
    found = dict(reader.fetch(asked.view, ids))
    return {number: found[number] for number in ids if number in found}


def passing(reader: Reader, asked: Asked, ids: Sequence[int]) -> dict[int, Entry]:
    """Return those of the ids that may be seen and pass the filter."""
    category, tags = asked.chosen.category, set(asked.chosen.tags)
    return {
        number: entry
        for number, entry in reader.fetch(asked.view, ids)
        if category in (None, entry.category) and tags <= set(entry.tags)
    }


def has_others(reader: Reader, asked: Asked, near: Sequence[Candidate]) -> bool:
    """Tell whether there are entries that are not near, which matters where few are."""
    if sum(each.cosine > 0 for each in near) > rank.STEP_WITHIN:
        return False
    ids = {each.id for each in near if each.cosine > 0}
    return any(stored.id not in ids for stored in reader.page(asked.view, 0, PAGE))


def best_cosines(reader: Reader, meaning: Meaning, ids: Sequence[int]) -> Mapping[int, float]:
    """Return the cosine of each entry's best passage, added up the same way on every backend."""
    import numpy as np  # 90 ms, and only where vectors are used

    passages = reader.vectors(meaning.model, ids) if ids else {}
    if not passages:
        return {}
    rows = np.concatenate(list(passages.values()))
    products = (rows * meaning.vector.astype(np.float64)).sum(axis=1)
    starts = np.cumsum([0, *(len(each) for each in passages.values())])[:-1]
    return dict(zip(passages, np.maximum.reduceat(products, starts).tolist(), strict=True))
