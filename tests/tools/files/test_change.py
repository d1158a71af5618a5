"""`file_write` and `change_file`: whole, kept as they were, and told."""

from __future__ import annotations

import asyncio
import os
import resource
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tool_calls import Workspace

from tools import Tool


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def test_what_is_lost_of_a_files_form_is_said(ws: Workspace) -> None:
    (ws.root / "gbk.txt").write_bytes("第一行中文\r\n第二行\r\n".encode("gb18030"))
    answer = ws("file_write", path="gbk.txt", content="新\n").data
    assert "(before: 20 bytes; GB18030, now UTF-8; line ends CRLF, now LF)" in answer


def test_a_new_file_gets_its_folders(ws: Workspace) -> None:
    assert ws("file_write", path="a/b/新.txt", content="x\ny").data == "Wrote 3 bytes to a/b/新.txt (new file)"
    assert (ws.root / "a/b/新.txt").read_bytes() == b"x\ny"


def test_the_same_text_is_not_written_again(ws: Workspace) -> None:
    place = ws.put("a.txt", "x")
    was = place.stat()
    assert "already" in ws("file_write", path="a.txt", content="x").data
    assert place.stat().st_mtime_ns == was.st_mtime_ns
    assert place.stat().st_ino == was.st_ino


def test_the_mode_is_kept(ws: Workspace) -> None:
    place = ws.put("run.sh", "x")
    place.chmod(0o751)
    ws("file_write", path="run.sh", content="new")
    assert stat.S_IMODE(place.stat().st_mode) == 0o751


def test_a_new_file_has_the_mode_of_any_new_file(ws: Workspace) -> None:
    ws("file_write", path="new.txt", content="x")
    (ws.root / "usual.txt").write_text("x")
    assert (ws.root / "new.txt").stat().st_mode == (ws.root / "usual.txt").stat().st_mode


def test_a_file_with_two_names_keeps_both(ws: Workspace) -> None:
    place = ws.put("a.txt", "long old text")
    os.link(place, ws.root / "b.txt")
    ws("file_write", path="a.txt", content="new")
    assert (ws.root / "b.txt").read_text() == "new"


def test_nothing_is_left_beside_the_file(ws: Workspace) -> None:
    ws("file_write", path="a.txt", content="x")
    ws("file_edit", path="a.txt", old_text="x", new_text="y")
    assert list(ws.root.iterdir()) == [ws.root / "a.txt"]


@pytest.mark.parametrize("path", ["folder", ".", "folder/"])
def test_a_folder_is_not_written_over(ws: Workspace, path: str) -> None:
    (ws.root / "folder").mkdir()
    assert not ws("file_write", path=path, content="x").ok
    assert (ws.root / "folder").is_dir()


def test_a_full_disk_leaves_the_old_bytes_and_no_stray_file(ws: Workspace) -> None:
    ws.put("a.txt", "old")
    code = (
        "import resource, signal, sys; sys.path.insert(0, sys.argv[2])\n"
        "from tool_calls import Workspace; from pathlib import Path\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "print(Workspace(Path(sys.argv[1]))('file_write', path='a.txt', content='x' * 100_000).serialize())"
    )
    support = str(Path(__file__).parents[2] / "support")
    done = subprocess.run([sys.executable, "-c", code, ws.root, support], capture_output=True, text=True, check=True)

    assert done.stdout == "Error: File too large: 'a.txt'\n"
    assert (ws.root / "a.txt").read_text() == "old"
    assert list(ws.root.iterdir()) == [ws.root / "a.txt"]
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 4096


def test_a_huge_file_is_not_held_in_memory_to_be_changed(ws: Workspace) -> None:
    os.truncate(ws.put("huge.log", "x"), 3_000_000_000)
    assert "too large" in str(ws("file_write", path="huge.log", content="x").error)
    assert "too large" in str(ws("file_edit", path="huge.log", old_text="x", new_text="y").error)


def preview(tool: Tool, text: str) -> str:
    return asyncio.run(tool.preview_of(text))


def test_a_preview_shows_what_would_change_and_changes_nothing(ws: Workspace) -> None:
    ws.put("a.txt", "one\r\ntwo\r\n")

    assert (
        preview(ws.tools["file_write"], '{"path": "n.txt", "content": "a\\nb"}') == "new file n.txt: 2 lines, 3 bytes"
    )
    shown = preview(ws.tools["file_edit"], '{"path": "a.txt", "old_text": "two", "new_text": "2"}')
    assert "-two\n+2" in shown
    refused = preview(ws.tools["file_edit"], '{"path": "a.txt", "old_text": "zwei", "new_text": "2"}')
    assert refused.startswith("(no preview: old_text was not found")
    assert "outside" in preview(ws.tools["file_write"], '{"path": "/etc/x", "content": ""}')
    assert (ws.root / "a.txt").read_bytes() == b"one\r\ntwo\r\n"
    assert list(ws.root.iterdir()) == [ws.root / "a.txt"]
