from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from archives import NOON

from memory.archive import rank
from memory.archive.backend import Neighbour
from memory.archive.entry import Entry
from memory.archive.hints import DateHint
from memory.archive.rank import Candidate, Scale, Weights

ENTRY = Entry("k", "words", created=NOON, updated=NOON)


def candidate(number: int, text: float = 0.0, cosine: float = 0.0, score: float = 0.0, key: str = "k") -> Candidate:
    return Candidate(number, replace(ENTRY, key=key), text, cosine, score)


def fused(*candidates: Candidate, weights: Weights | None = None) -> list[float]:
    Scale.of(candidates, True, True, weights or Weights()).fuse(candidates)
    return [round(each.score, 6) for each in candidates]


def test_words_and_meaning_are_weighed_and_cosines_spread_between_the_candidates() -> None:
    assert fused(candidate(1, 1.0, 0.9), candidate(2, 0.5, 0.85), candidate(3, 0.0, 0.8)) == [1.0, 0.5, 0.0]


def test_an_entry_without_a_vector_counts_by_its_words() -> None:
    assert fused(candidate(1, 1.0), candidate(2, 0.0, 0.5)) == [0.3, 0.7]


def test_weights_are_relative() -> None:
    assert fused(candidate(1, 1.0), candidate(2, 0.0, 0.5), weights=Weights(3, 1)) == [0.75, 0.25]


def test_a_search_by_one_kind_takes_that_alone() -> None:
    some = [candidate(1, 0.5, 0.25)]
    Scale.of(some, True, False, Weights()).fuse(some)
    assert some[0].score == 0.5
    Scale.of(some, False, True, Weights()).fuse(some)
    assert some[0].score == 0.25


def test_what_has_no_word_and_no_cosine_above_zero_is_no_hit() -> None:
    some = [candidate(1, 0.1), candidate(2, 0.0, 0.1), candidate(3, 0.0, -0.2), candidate(4, 0.0, 1e-9)]
    assert len(rank.hits(some, 10)) == 2


def test_equal_scores_are_ordered_by_update_key_and_owner() -> None:
    old = replace(ENTRY, key="a", updated=NOON - timedelta(days=1))
    some = [Candidate(1, old, 1, 0, 0.5), candidate(2, 1, 0, 0.5, "c"), candidate(3, 1, 0, 0.50001, "b")]
    assert [hit.entry.key for hit in rank.hits(some, 10)] == ["b", "c", "a"]


def test_a_neighbour_of_a_leader_is_lifted_part_of_the_way_to_one() -> None:
    gains = rank.echoes(
        [candidate(1, score=1.0)], {1: [Neighbour(2, 1, 5), Neighbour(3, 2, 5), Neighbour(4, 1, 10**11)]}
    )
    assert gains == {2: 0.5, 3: 0.25}
    assert rank.lifted(0.4, gains[2]) == 0.7
    assert rank.lifted(1.0, 0.5) == 1.0
    assert rank.lifted(0.0, 9.0) == 0.8


def test_a_named_tag_a_fitting_date_and_a_question_move_a_score() -> None:
    plain, question = ENTRY, replace(ENTRY, content="is it？", tags=("Anna",))
    assert rank.signals(plain, frozenset({"Anna"}), None) == 1.0
    assert rank.signals(replace(plain, tags=("Anna",)), frozenset({"Anna"}), None) == 1.3
    assert rank.signals(replace(plain, category="travel"), frozenset({"travel"}), None) == 1.3
    assert rank.signals(question, frozenset({"Anna", "Ben"}), None) == 0.85
    assert rank.signals(plain, frozenset(), DateHint(2026, 3, 10)) == 1.5


def test_scores_that_signals_lift_above_one_are_brought_back_under_it() -> None:
    hits = rank.hits([candidate(1, 1, 0, 1.5, "a"), candidate(2, 1, 0, 0.75, "b")], 10)
    assert [hit.score for hit in hits] == [1.0, 0.5]


def test_only_what_is_a_step_nearer_than_the_rest_stands_out() -> None:
    row = [candidate(number, 0, 0.80 - number / 200) for number in range(10)]
    assert rank.standing_out(row, others=False) == set()
    assert rank.standing_out([candidate(20, 0, 0.86), candidate(21, 0, 0.85), *row], others=False) == {20, 21}
    assert rank.standing_out(row[:2], others=False) == set()
    assert rank.standing_out(row[:2], others=True) == {0, 1}
    assert rank.standing_out([candidate(1, 0, 0.8)], others=False) == {1}
    assert rank.standing_out([candidate(1, 0, 0.99), candidate(2, 0, 0.99)], others=False) == {1, 2}
    assert rank.standing_out([], others=True) == set()
