"""`file_read`: windows of text, bounded whatever the file is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tool_calls import Workspace


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def test_a_small_file_comes_as_it_is(ws: Workspace) -> None:
    ws.put("a.txt", "salt\n\npepper")
    assert ws("file_read", path="a.txt").data == "salt\n\npepper"


def test_an_empty_file_is_told(ws: Workspace) -> None:
    ws.put("a.txt", "")
    assert ws("file_read", path="a.txt").data == "(the file is empty)"


def test_a_window_tells_where_to_read_on(ws: Workspace) -> None:
    ws.put("a.txt", "".join(f"line {n}\n" for n in range(1, 11)))

    window = ws("file_read", path="a.txt", offset=3, limit=2).data
    assert window == "line 3\nline 4\n[lines 3-4 of 10 (71 bytes); truncated, go on with offset=5]"
    assert ws("file_read", path="a.txt", offset=9).data == "line 9\nline 10\n"


@pytest.mark.parametrize("content", ["one\ntwo\n", "one\ntwo"])
def test_an_offset_past_the_end_tells_how_many_lines_there_are(ws: Workspace, content: str) -> None:
    ws.put("a.txt", content)
    assert ws("file_read", path="a.txt", offset=2).data == content[4:]
    assert ws("file_read", path="a.txt", offset=3).error == "offset 3 is past the end: 'a.txt' has 2 lines"
    assert ws("file_read", path="a.txt", offset=30).error == "offset 30 is past the end: 'a.txt' has 2 lines"


def test_offset_and_limit_begin_at_one(ws: Workspace) -> None:
    ws.put("a.txt", "x")
    assert ws("file_read", path="a.txt", offset=0).error == "argument 'offset' must be at least 1, not 0"
    assert ws("file_read", path="a.txt", limit=-1).error == "argument 'limit' must be at least 1, not -1"


def test_windows_put_together_are_the_file(ws: Workspace) -> None:
    text = "".join(f"{'长' * (n % 90)} line {n}\n" for n in range(5000))
    ws.put("a.txt", text)
    read, offset = "", 1
    while True:
        window = ws("file_read", path="a.txt", offset=offset, limit=700).data
        lines, _, note = window.rpartition("[lines ")
        if not lines:
            read += window
            break
        read, offset = read + lines, int(note.rpartition("offset=")[2].rstrip("]"))
    assert read == text


def test_a_long_line_is_cut_and_told(ws: Workspace) -> None:
    ws.put("a.txt", "first\n" + "长" * 500_000 + "\nlast\n")

    data = ws("file_read", path="a.txt").data
    assert len(data) < 5_000
    assert data.startswith("first\n长")
    assert "\nlast\n[line 2 is truncated to 2000 characters" in data


def test_a_huge_file_is_read_by_its_window(ws: Workspace) -> None:
    log = ws.put("huge.log", b"a line of the log\n" * 50_000)
    os.truncate(log, 3_000_000_000)

    first = ws("file_read", path="huge.log").data
    assert len(first) < 45_000
    assert "(3.0 GB); truncated" in first
    assert ws("file_read", path="huge.log", offset=49_990, limit=5).data.count("a line of the log") == 5
    endless = ws("file_read", path="huge.log", offset=50_001).data
    assert "goes on in that line" in endless
    assert len(endless) < 5_000


def test_binary_is_refused_in_words(ws: Workspace) -> None:
    os.truncate(ws.put("zeros", b""), 3_000_000_000)
    assert ws("file_read", path="zeros").error == "'zeros' is a binary file (3.0 GB); file_read shows text only"


def test_other_encodings_are_read_and_told(ws: Workspace) -> None:
    ws.put("gb.txt", "端口八零\r\n".encode("gb18030"))
    ws.put("wide.txt", "端口八零\r\n二\r\n".encode("utf-16"))
    ws.put("broken.txt", "端口八零".encode() + b"\xff\n")

    gb = ws("file_read", path="gb.txt").data
    assert gb == "端口八零\n[encoding GB18030, CRLF line ends: file_edit keeps them]"
    wide = ws("file_read", path="wide.txt", offset=2).data
    assert wide == "二\n[encoding UTF-16, CRLF line ends: file_edit keeps them]"
    assert "端口八零�\n" in ws("file_read", path="broken.txt").data


def test_what_is_no_file_is_told(ws: Workspace) -> None:
    ws.put("folder/a.txt", "x")
    os.mkfifo(ws.root / "pipe")

    assert ws("file_read", path="folder").error == "'folder' is a folder; use file_list"
    assert ws("file_read", path=".").error == "'.' is a folder; use file_list"
    assert "no regular file" in str(ws("file_read", path="pipe").error)
    assert ws("file_read", path="none.txt").error == "there is no file 'none.txt'; file_list shows what there is"
    assert not ws("file_read", path="folder/a.txt/b").ok
