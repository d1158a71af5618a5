"""`bound`: long texts keep their ends and say what is missing."""

from __future__ import annotations

import stat
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tools import bound


def test_a_text_that_fits_stays_as_it_is(tmp_path: Path) -> None:
    assert bound("x" * 20_000, spill=tmp_path / "out.txt") == "x" * 20_000
    assert not (tmp_path / "out.txt").exists()


def test_a_long_text_keeps_head_and_tail_and_tells_the_gap() -> None:
    head, gap, tail = bound("1" * 5_000 + "2" * 5_000, 1_000).split("\n")

    assert set(head) == {"1"}
    assert set(tail) == {"2"}
    assert len(tail) > len(head) > 300
    assert gap == f"[... truncated: {10_000 - len(head) - len(tail)} characters omitted ...]"
    assert 990 <= len(head) + len(gap) + len(tail) + 2 <= 1_000


def test_the_whole_is_saved_for_its_owner(tmp_path: Path) -> None:
    place = tmp_path / "spill" / "out.txt"
    text = "多" * 30_000
    short = bound(text, spill=place)

    assert f"whole output saved in {place}" in short
    assert len(short) <= 20_000
    assert place.read_text() == text
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    short = bound("x" * 30_000, spill=tmp_path / "file" / "folder" / "out.txt")
    assert "could not be saved: Not a directory" in short


@given(st.text(), st.integers(100, 400))
def test_it_never_grows_and_is_done_after_once(text: str, limit: int) -> None:
    once = bound(text * 20, limit)
    assert len(once) <= max(limit, 0)
    assert bound(once, limit) == once
