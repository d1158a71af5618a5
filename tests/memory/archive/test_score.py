from __future__ import annotations

import math
import random

from memory.archive.score import K1, B, Postings, Scores, postings, score


def rows(*some: tuple[int, int, int]) -> Postings:
    return postings([], list(some))


def plainly(documents: dict[int, dict[str, int]], groups: list[dict[str, float]], average: float) -> dict[int, float]:
    """BM25 over groups of terms, as a textbook writes it."""
    found: dict[int, float] = {}
    for group in groups:
        counts = {
            number: sum(weight * terms.get(term, 0) for term, weight in group.items())
            for number, terms in documents.items()
        }
        holders = sum(count > 0 for count in counts.values())
        rarity = math.log(1 + (len(documents) - holders + 0.5) / (holders + 0.5))
        for number, count in counts.items():
            if count:
                length = sum(documents[number].values())
                found[number] = found.get(number, 0) + rarity * count * (K1 + 1) / (
                    count + K1 * (1 - B + B * length / average)
                )
    return found


def found(documents: dict[int, dict[str, int]], groups: list[dict[str, float]], hidden: list[int]) -> Scores:
    terms = {term for group in groups for term in group}
    there = {
        term: [(number, sum(each.values()), each[term]) for number, each in documents.items() if term in each]
        for term in terms
    }
    seen = {number: each for number, each in documents.items() if number not in hidden}
    average = sum(sum(each.values()) for each in seen.values()) / len(seen)
    given = {term: rows(*some) for term, some in there.items() if some}
    return score(groups, given, required=(), hidden=hidden, entries=len(seen), average=average)


def test_scores_are_those_of_the_textbook_whether_ids_are_dense_or_far_apart() -> None:
    rng = random.Random(1)
    groups: list[dict[str, float]] = [{"a": 1.0, "b": 0.5}, {"c": 1.0}, {"d": 1.0, "a": 0.25}, {"never": 1.0}]
    for spread in (1, 10**6):
        documents = {
            number * spread: {term: rng.randint(1, 3) for term in rng.sample("abcdef", rng.randint(1, 4))}
            for number in range(1, 60)
        }
        hidden = sorted(rng.sample(sorted(documents), 7))
        seen = {number: each for number, each in documents.items() if number not in hidden}
        average = sum(sum(each.values()) for each in seen.values()) / len(seen)
        wanted = plainly(seen, groups, average)
        scores = found(documents, groups, hidden)
        assert scores.ids.tolist() == sorted(wanted)
        for number, value in zip(scores.ids.tolist(), scores.values.tolist(), strict=True):
            assert math.isclose(value, wanted[number], rel_tol=1e-6)


def test_only_entries_with_all_required_terms_score_and_rarity_counts_all() -> None:
    given = {
        "a": rows((1, 5, 1), (2, 5, 1), (3, 5, 1)),
        "#t:x": rows((2, 5, 1), (9, 5, 1)),
        "#c:y": rows((2, 5, 1), (3, 5, 1)),
    }
    wide = score([{"a": 1.0}], given, required=(), hidden=(), entries=10, average=5)
    narrow = score([{"a": 1.0}], given, required=("#t:x", "#c:y"), hidden=(), entries=10, average=5)
    assert narrow.ids.tolist() == [2]
    assert narrow.values[0] == wide.values[1]
    assert score([{"a": 1.0}], given, required=("#t:none",), hidden=(), entries=10, average=5).best(5) == []


def test_the_best_are_given_by_score_and_then_the_younger_first() -> None:
    scores = found({1: {"a": 1}, 2: {"a": 2}, 3: {"a": 1}, 4: {"a": 1}}, [{"a": 1.0}], [])
    assert scores.best(10) == [2, 4, 3, 1]
    assert scores.best(1) == [2]
    assert scores.best(2) == [2, 4, 3, 1]  # with those that equal the last one
    assert scores.of([3, 77]) == [scores.values[2], 0.0]


def test_nothing_asked_and_nothing_found_is_nothing() -> None:
    nothing = score([], {}, required=(), hidden=(), entries=0, average=0)
    assert (nothing.best(5), nothing.of([1]), nothing.highest) == ([], [0.0], 1.0)
