"""`bound` and `Output`: long texts keep their ends and say what is missing, in little memory."""

from __future__ import annotations

import stat
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools import bound
from tools.bound import MOST_SPILLED, Output


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


def test_short_output_is_whole_and_makes_no_file(tmp_path: Path) -> None:
    output = Output(tmp_path / "out.txt")
    for part in (b"one\n", "二".encode()[:2], "二".encode()[2:], b"\xff\n"):
        output.feed(part)
    assert output.text() == "one\n二�\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("size", [20_001, 100_000, 160_000, 200_000, 5_000_000])
@pytest.mark.parametrize("chunk", [7_000, 1 << 18])
def test_long_output_keeps_its_ends_and_is_saved_whole(tmp_path: Path, size: int, chunk: int) -> None:
    whole = (b"first " + b"0123456789" * (size // 10) + b" last")[-size - 11 :]
    output = Output(tmp_path / "out.txt")
    for start in range(0, len(whole), chunk):
        output.feed(whole[start : start + chunk])

    text = output.text()
    assert len(text) <= 20_000
    assert text.startswith("first 0123")
    assert text.endswith("789 last")
    assert f"saved in {tmp_path / 'out.txt'}" in text
    assert (tmp_path / "out.txt").read_bytes() == whole
    assert stat.S_IMODE((tmp_path / "out.txt").stat().st_mode) == 0o600


def test_without_a_file_the_gap_is_told() -> None:
    output = Output()
    for _ in range(100):
        output.feed(b"x" * 10_000)
    assert "bytes omitted ..." in output.text()


def test_memory_and_file_stay_bounded(tmp_path: Path) -> None:
    output = Output(tmp_path / "out.txt")
    block = b"y" * (1 << 18)
    tracemalloc.start()
    for _ in range(MOST_SPILLED // len(block) + 40):
        output.feed(block)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 4 << 20
    assert "first 100 MB saved in" in output.text()
    assert (tmp_path / "out.txt").stat().st_size == MOST_SPILLED


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    output = Output(tmp_path / "file" / "folder" / "out.txt")
    output.feed(b"z" * 1_000_000)
    assert "could not be saved: Not a directory" in output.text()


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_a_key_is_never_in_the_saved_file_however_the_output_is_cut(tmp_path: Path, size: int) -> None:
    text = b"x" * 5_000 + b"own-odd-key-9f31" + b"y" * 5_000 + b"own-odd-key"
    output = Output(tmp_path / "out.txt", 100, hidden=["own-odd-key-9f31"])
    for at in range(0, len(text), size):
        output.feed(text[at : at + size])
    output.text()
    assert (tmp_path / "out.txt").read_bytes() == text.replace(b"own-odd-key-9f31", b"[key removed]")
