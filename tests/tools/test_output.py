"""`Output`: little memory for any output, and the whole of it in a file."""

from __future__ import annotations

import stat
import tracemalloc
from pathlib import Path

import pytest

from tools.bound import MOST_SPILLED, Output


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
