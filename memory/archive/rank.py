"""The score of a hit: small pure functions, one a signal; `benchmarks/locomo.py` shows what each is worth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest, nsmallest
from itertools import pairwise

from memory.archive.backend import Neighbour
from memory.archive.entry import Entry, Hit
from memory.archive.hints import DateHint

__all__ = [
    "REACH",
    "Candidate",
    "Scale",
    "Weights",
    "asks",
    "bears",
    "echoes",
    "hits",
    "leaders",
    "lifted",
    "signals",
    "standing_out",
]

DIGITS = 4
# Scores that differ by less are one and the same, whatever the last bits of an addition say.
COMPARED_DIGITS = 6
# One in so many candidates leads.
LEADER_OF = 6
REACH = 2
ECHO = {1: 0.5, 2: 0.25}
ECHO_LIMIT = 0.8
ECHO_TICKS = 3_600 * 10**6
# Between e5's cosines for unrelated texts no step is wider than 0.018; above related ones most are.
STEP, STEP_WITHIN = 0.02, 5
SAME = 0.95
DATE_GAIN, NAME_GAIN, QUESTION_LOSS = 0.5, 0.3, 0.15


@dataclass(frozen=True, slots=True)
class Weights:
    """What words and meaning count in a hybrid search, relative to each other."""

    keyword: float = 0.3
    vector: float = 0.7


@dataclass(slots=True)
class Candidate:
    """An entry that may be a hit. `text` lies in 0..1, `cosine` in -1..1; 0 or less is no hit."""

    id: int
    entry: Entry
    text: float
    cosine: float
    score: float = 0.0

    @property
    def counts(self) -> bool:
        return self.text > 0 or round(self.cosine, COMPARED_DIGITS) > 0


@dataclass(frozen=True, slots=True)
class Scale:
    """How words and meaning become one score: cosines are brought to 0..1 between the lowest and the highest."""

    keyword: float
    vector: float
    low: float
    high: float

    @classmethod
    def of(cls, candidates: Sequence[Candidate], words: bool, meaning: bool, weights: Weights) -> Scale:
        if not (words and meaning):
            return cls(float(words), float(meaning), 0.0, 1.0)
        total = (weights.keyword + weights.vector) or 1.0
        cosines = [max(each.cosine, 0.0) for each in candidates] or [0.0]
        return cls(weights.keyword / total, weights.vector / total, min(cosines), max(cosines))

    def fuse(self, candidates: Iterable[Candidate]) -> None:
        """Give each candidate its score."""
        for each in candidates:
            near = 0.0
            if round(each.cosine, COMPARED_DIGITS) > 0:
                wide = self.high - self.low
                near = min(max((each.cosine - self.low) / wide, 0.0), 1.0) if wide > 0 else 1.0
            each.score = self.keyword * each.text + self.vector * near


def leaders(candidates: Sequence[Candidate], wanted: int) -> list[Candidate]:
    """Return the best few: their neighbours are looked at."""
    return nsmallest(wanted // LEADER_OF, (each for each in candidates if each.counts), key=order)


def echoes(leading: Sequence[Candidate], around: Mapping[int, Sequence[Neighbour]]) -> dict[int, float]:
    """Return what entries gain by standing next to a leader in its session: an answer stands beside its question."""
    gains: dict[int, float] = {}
    for leader in leading:
        for neighbour in around.get(leader.id, ()):
            if neighbour.apart <= ECHO_TICKS:
                gains[neighbour.id] = gains.get(neighbour.id, 0.0) + ECHO[neighbour.steps] * leader.score
    return gains


def lifted(score: float, gain: float) -> float:
    """Return a score with what its neighbours add: of the way to 1, so that what is best by itself stays best."""
    return score + min(gain, ECHO_LIMIT) * (1.0 - min(score, 1.0))


def asks(entry: Entry) -> bool:
    """Tell whether an entry ends in a question: it says less than a statement of the same words."""
    return entry.content.endswith(("?", "？"))


def bears(entry: Entry, names: frozenset[str]) -> bool:
    """Tell whether an entry bears the one tag, or is of the one category, that the query names."""
    return len(names) == 1 and (entry.category in names or not names.isdisjoint(entry.tags))


def signals(entry: Entry, names: frozenset[str], date: DateHint | None) -> float:
    """Return the factor of all signals that an entry bears in itself."""
    factor = 1.0 + NAME_GAIN * bears(entry, names)
    factor *= 1.0 + DATE_GAIN * (date.fits(entry.created) if date else 0.0)
    return factor * (1.0 - QUESTION_LOSS * asks(entry))


def standing_out(candidates: Iterable[Candidate], *, others: bool) -> set[int]:
    """Return the ids of the few that are nearer in meaning than the rest by a step, none if there is no step.

    Every text is near to something: of what is asked of nobody's memory, the nearest lies in a row with the next.
    `others`: there are entries that are not near at all.
    """
    near = nlargest(STEP_WITHIN + 1, (each for each in candidates if each.cosine > 0), key=lambda each: each.cosine)
    cosines = [each.cosine for each in near] + [0.0] * (others or len(near) == 1)
    steps = [first - second for first, second in pairwise(cosines)][:STEP_WITHIN]
    widest = max(steps, default=0.0)
    first_few = steps.index(widest) + 1 if widest >= STEP else 0
    return {each.id for place, each in enumerate(near) if place < first_few or each.cosine >= SAME}


def hits(candidates: Iterable[Candidate], limit: int) -> list[Hit]:
    """Return the best hits, best first, their scores brought back under 1 where signals lifted them above."""
    counting = [each for each in candidates if each.counts]
    highest = max([1.0, *(each.score for each in counting)])
    for each in counting:
        each.score = round(each.score / highest, DIGITS)
    return [Hit(each.entry, each.score) for each in nsmallest(limit, counting, key=order)]


def order(candidate: Candidate) -> tuple[float, float, str, str]:
    """Return what candidates are sorted by: score, then the youngest update, then key and owner."""
    entry = candidate.entry
    return (-round(candidate.score, COMPARED_DIGITS), -entry.updated.timestamp(), entry.key, entry.owner)
