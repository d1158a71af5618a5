"""`ranked`: one score for each candidate, and the order of the hits. Pure functions of what they are given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory.archive.entry import Entry, Hit

__all__ = ["Candidate", "Weights", "ranked"]

DIGITS = 4


@dataclass(frozen=True, slots=True)
class Weights:
    keyword: float = 0.3
    vector: float = 0.7


@dataclass(frozen=True, slots=True)
class Candidate:
    entry: Entry
    text: float
    # as scored, 0: it has no word of the query
    cosine: float


def ranked(candidates: Sequence[Candidate], weights: Weights, *, both: bool) -> list[Hit]:
    """Return what scores, best first; equal scores by `updated` (newest first), key and owner."""
    best_text = max((each.text for each in candidates), default=0.0) or 1.0
    cosines = [each.cosine for each in candidates if each.cosine > 0]
    low, high = (min(cosines), max(cosines)) if cosines else (0.0, 0.0)
    hits = []
    for each in candidates:
        if each.text <= 0 and round(each.cosine, 6) <= 0:
            continue
        text = each.text / best_text
        near = max(0.0, each.cosine / high if high else 0.0)
        total = weights.keyword + weights.vector
        score = (weights.keyword * text + weights.vector * near) / total if both else max(text, near)
        hits.append(Hit(each.entry, round(min(max(score, 0.0), 1.0), DIGITS)))
    hits.sort(key=lambda hit: (-hit.score, -hit.entry.updated.timestamp(), hit.entry.key, hit.entry.owner))
    return hits
