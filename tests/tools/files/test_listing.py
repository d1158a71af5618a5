"""`file_list`: names in order, and what was left out."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tool_calls import Workspace


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    workspace = Workspace(tmp_path / "ws")
    for path in ("b.txt", "src/main.py", "src/deep/x.py", ".env", ".git/HEAD", "node_modules/m/index.js"):
        workspace.put(path, "12345")
    (workspace.root / "link").symlink_to("b.txt")
    (workspace.root / "out").symlink_to("/etc/hosts")
    return workspace


def test_one_level_by_default(ws: Workspace) -> None:
    assert ws("file_list").data == (
        ".env (5 bytes)\n.git/\nb.txt (5 bytes)\n"
        "link -> b.txt\nnode_modules/\nout (a link that leads out of reach)\nsrc/"
    )


def test_deeper_on_request_but_not_into_what_is_skipped(ws: Workspace) -> None:
    lines = ws("file_list", depth=3).data.split("\n")
    assert "src/deep/x.py (5 bytes)" in lines
    assert ".env (5 bytes)" in lines
    assert {".git/", "node_modules/"} <= set(lines)
    assert not any("HEAD" in line or "index.js" in line for line in lines)
    assert ws("file_list", path=".git").data == "HEAD (5 bytes)"


def test_what_is_no_folder_is_told(ws: Workspace) -> None:
    assert ws("file_list", path="b.txt").error == "'b.txt' is no folder; file_read reads files"
    assert ws("file_list", path="none").error == "there is no folder 'none'"
    (ws.root / "empty").mkdir()
    assert ws("file_list", path="empty").data == "(the folder is empty)"


def test_a_crowded_folder_is_cut_and_told(ws: Workspace) -> None:
    for number in range(1_200):
        ws.put(f"many/{number:04}", "")
    data = ws("file_list", path="many").data
    assert data.count("\n") == 1_000
    assert "truncated after 1000 names" in data


def test_odd_names_stay_on_their_line_and_can_be_sent(ws: Workspace) -> None:
    (ws.root / "odd").mkdir()
    for name in (b"two\nlines", b"bytes\xff", "中文".encode()):
        (ws.root / "odd" / os.fsdecode(name)).write_text("")
    data = ws("file_list", path="odd").data
    data.encode()
    assert set(data.split("\n")) == {"bytes� (0 bytes)", "two\\nlines (0 bytes)", "中文 (0 bytes)"}
