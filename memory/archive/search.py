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
from memory.archive.near import Cosines, nearest
from memory.archive.rank import Candidate, Weights
from memory.archive.words import TextSearch

if TYPE_CHECKING:
    from memory.archive.score import Scores

__all__ = ["Asked", "SearchType", "Searcher"]

SearchType = Literal["text", "vector", "hybrid"]
# By one kind of search, and by each of two. What stands further down gets among the first ten by its neighbours alone.
CANDIDATES, CANDIDATES_EACH = 40, 30
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

    def has_any(self, reader: Reader, view: View) -> bool:
        """Tell whether a search may find anything inside the view."""
        folded = sum(each.entries for each in reader.partitions(view.owner))
        return bool(reader.loose(view)) or folded > len(reader.gone(view))

    def names(self, reader: Reader, view: View, query: str) -> frozenset[str]:
        """Return the tags and categories that the query names."""
        with self._text.sight(reader, view, query, Filter()) as known:
            return known.names()

    def find(self, reader: Reader, asked: Asked) -> list[Hit]:
        """Return the best hits inside the view that pass the filter: by words, by meaning, or by both."""
        with self._text.sight(reader, asked.view, asked.query, asked.chosen) as known:
            names = known.names()
            text = known.scores() if asked.words else None
            bearers = known.bearers() if asked.meaning else None
        cosines = Cosines(reader, asked.meaning)
        found: dict[int, Entry] = {}
        if asked.meaning:
            found = nearest(reader, asked.view, asked.meaning, cosines, asked.wanted, bearers)
        ids = text.best(asked.wanted) if text else []
        found |= reader.fetch(asked.view, [number for number in ids if number not in found])
        candidates = measured(cosines, text, found)
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
        joined = measured(cosines, text, passing(reader, asked, beside)) if beside else []
        scale.fuse(joined)
        date = date_hint(asked.query)
        for each in (*candidates, *joined):
            each.score = rank.lifted(each.score, gains.get(each.id, 0.0)) * rank.signals(each.entry, names, date)
        everything = [*candidates, *joined]
        if asked.sure:
            outstanding = rank.standing_out(everything, others=has_others(reader, asked, everything))
            everything = [each for each in everything if each.text > 0 or each.id in outstanding]
        return rank.hits(everything, asked.limit)


def measured(cosines: Cosines, text: Scores | None, found: Mapping[int, Entry]) -> list[Candidate]:
    """Return entries with what they score by words (the best of all has 1) and by meaning."""
    ids = sorted(found)
    points = text.of(ids) if text else [0.0] * len(ids)
    highest = text.highest if text else 1.0
    return [
        Candidate(number, found[number], point / highest, cosine)
        for number, point, cosine in zip(ids, points, cosines.of(ids), strict=True)
    ]


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
