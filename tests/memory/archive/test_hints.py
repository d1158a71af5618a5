from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.archive.hints import DateHint, date_hint, possible_names, without_names


@pytest.mark.parametrize(
    ("query", "hint"),
    [
        ("what happened on 2023-05-07?", DateHint(2023, 5, 7)),
        ("the party of 2023/5", DateHint(2023, 5)),
        ("When in May 2023 did she move", DateHint(2023, 5)),
        ("on 7 May, 2023", DateHint(2023, 5, 7)),
        ("May 7", DateHint(None, 5, 7)),
        ("sometime in 2022", DateHint(2022)),
        ("last october", DateHint(None, 10)),
        ("2023年5月7日发生了什么", DateHint(2023, 5, 7)),
        ("5月的会议", DateHint(None, 5)),
        ("what may I eat", None),
        ("May I ask", None),
        ("march on", None),
        ("Mark May phone", None),
        ("In May we met", DateHint(None, 5)),
        ("room 2300, 12 people", None),
        ("version 1.2.3", None),
        ("the 7th", None),
        ("is 5² 25?", None),
    ],
)
def test_a_date_in_a_query_is_understood(query: str, hint: DateHint | None) -> None:
    assert date_hint(query) == hint


def test_a_time_fits_a_date_by_its_parts() -> None:
    when = datetime(2023, 5, 7, tzinfo=UTC)
    hints = [DateHint(2023, 5, 8), DateHint(2023, 5), DateHint(2023, 5, 20), DateHint(2023, 6), DateHint(2022)]
    assert [hint.fits(when) for hint in hints] == [1.0, 0.75, 0.25, 0.0, 0.0]


def test_words_pairs_of_words_and_pieces_of_chinese_may_be_names() -> None:
    assert possible_names("Anna Smith's") == ["Anna", "Smith", "s", "Anna Smith", "Smith s"]
    assert possible_names("小明的猫") == ["小明的猫", "小明的", "明的猫", "小明", "明的", "的猫"]


@pytest.mark.parametrize(
    ("query", "names", "rest"),
    [
        ("What does Anna's sister like", ["Anna"], "What does sister like"),
        ("Anna", ["Anna"], "Anna"),
        ("Annabel and anna", ["Anna"], "Annabel and anna"),
        ("the rust deploy", ["rust"], "the rust deploy"),
    ],
)
def test_names_are_left_out_of_what_is_embedded(query: str, names: list[str], rest: str) -> None:
    assert without_names(query, names) == rest
