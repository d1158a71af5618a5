"""`Journal`: whole lines only, whatever happened before."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory import Change, Journal, Origin


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path)


def test_what_is_appended_is_read(journal: Journal) -> None:
    first = journal.append("add", "memory", before=None, after="文字\n\u2028 two lines")
    second = journal.append("remove", "user", before="x", after=None, place=2, origin=Origin("user", turn=4))
    assert journal.read() == [first, second]
    assert (second.author, second.turn, second.place) == ("user", 4, 2)
    assert journal.path.read_bytes().count(b"\n") == 2


def test_a_journal_that_is_not_there_is_empty(journal: Journal) -> None:
    assert journal.read() == []
    assert not journal.path.exists()


def test_a_torn_line_is_skipped_and_closed_by_the_next(journal: Journal) -> None:
    first = journal.append("add", "memory", before=None, after="one")
    with journal.path.open("ab") as file:
        file.write(b'{"id": "torn", "action": "add", "after": "\xe6')
    assert journal.read() == [first]
    second = journal.append("add", "memory", before=None, after="two")
    assert journal.read() == [first, second]


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]",
        b"null",
        b"{}",
        b'{"id": 3, "action": "add"}',
        b'{"id": "x", "action": "dance"}',
        b"\xff\x00",
        b"[" * 100_000,
    ],
)
def test_a_line_that_is_not_ours_is_skipped(journal: Journal, line: bytes) -> None:
    journal.path.write_bytes(line + b"\n")
    change = journal.append("add", "memory", before=None, after="one")
    assert journal.read() == [change]


def test_what_a_later_version_adds_is_left_out(journal: Journal) -> None:
    journal.path.write_bytes(
        b'{"id": "a", "at": "t", "action": "add", "target": "user", "after": "x", "mood": "good"}\n'
    )
    assert journal.read() == [Change("a", "t", "add", "user", after="x")]


def test_half_characters_of_a_session_name_do_not_stop_the_journal(journal: Journal) -> None:
    journal.append("add", "memory", before=None, after="x", origin=Origin(session="\ud83d"))
    assert [change.session for change in journal.read()] == ["?"]
