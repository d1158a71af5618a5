"""`Jail`: whatever a path is made of, it leads below the root or nowhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tool_calls import Workspace

from tools.files.jail import FileRefused, Jail

SECRET = "hush"


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    workspace = Workspace(tmp_path / "ws", protected=[tmp_path / "ws" / "keep" / "mem"], readable=[tmp_path / "docs"])
    workspace.put("real.txt", "fine")
    workspace.put("keep/mem/core.md", SECRET)
    workspace.put("keep/plain.txt", "plain")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "guide.md").write_text("guide")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text(SECRET)
    for name, target in {
        "inside": "real.txt",
        "outbox": tmp_path / "outside",
        "peek": tmp_path / "outside" / "secret",
        "dangling": tmp_path / "outside" / "new",
        "loop": "loop",
        "memory": "keep/mem",
        "chain": "memory",
    }.items():
        (workspace.root / name).symlink_to(target)
    return workspace


OUTSIDE = ["peek", "outbox/secret", "../outside/secret", "real.txt/../../outside/secret", "~/x", "/etc/passwd", "loop"]
PROTECTED = [
    "keep/mem/core.md",
    "keep/../keep/./mem//core.md",
    "memory/core.md",
    "chain/core.md",
    "outbox/../ws/keep/mem/core.md",
    "keep/MEM/core.md",
    "keep/ｍｅｍ/core.md",
    "keep/mem/../mem/core.md",
]


@pytest.mark.parametrize("path", [*OUTSIDE, *PROTECTED, "", " ", "a\0b", "x" * 5000])
def test_no_tool_reaches_it(ws: Workspace, path: str) -> None:
    before = sorted(str(found) for found in ws.root.parent.rglob("*"))
    results = [
        ws("file_read", path=path),
        ws("file_write", path=path, content="x"),
        ws("file_edit", path=path, old_text=SECRET, new_text="x"),
        ws("file_list", path=path),
        ws("file_search", pattern=SECRET, path=path),
    ]
    assert not any(result.ok for result in results)
    assert not any(SECRET in result.serialize() for result in results)
    assert sorted(str(found) for found in ws.root.parent.rglob("*")) == before
    assert (ws.root / "keep/mem/core.md").read_text() == SECRET


def test_a_dangling_link_is_an_escape_too(ws: Workspace, tmp_path: Path) -> None:
    assert not ws("file_write", path="dangling", content="x").ok
    assert not (tmp_path / "outside" / "new").exists()


def test_what_is_not_there_is_refused_like_what_is(ws: Workspace) -> None:
    there = ws("file_read", path="outbox/secret").serialize()
    assert ws("file_read", path="outbox/absent").serialize() == there.replace("secret", "absent")


def test_links_that_stay_inside_work(ws: Workspace) -> None:
    assert ws("file_read", path="inside").data == "fine"
    assert ws("file_write", path="inside", content="new").ok
    assert (ws.root / "inside").is_symlink()
    assert (ws.root / "real.txt").read_text() == "new"


def test_absolute_paths_and_the_home_sign_work_inside(
    ws: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(ws.root))
    assert ws("file_read", path=str(ws.root / "real.txt")).data == "fine"
    assert ws("file_read", path="~/real.txt").data == "fine"


def test_a_readable_folder_is_not_writable(ws: Workspace, tmp_path: Path) -> None:
    guide = str(tmp_path / "docs" / "guide.md")
    assert ws("file_read", path=guide).data == "guide"
    assert "only for reading" in ws("file_write", path=guide, content="x").serialize()
    assert "only for reading" in ws("file_edit", path=guide, old_text="guide", new_text="x").serialize()


def test_a_hard_link_to_a_protected_file_is_protected(ws: Workspace) -> None:
    os.link(ws.root / "keep/mem/core.md", ws.root / "other.md")
    os.link(ws.root / "real.txt", ws.root / "twin.txt")

    assert not ws("file_read", path="other.md").ok
    assert not ws("file_write", path="other.md", content="x").ok
    assert SECRET not in ws("file_search", pattern="hus.", glob="*.md").serialize().removeprefix("no line matches")
    assert ws("file_read", path="twin.txt").data == "fine"


def test_what_is_protected_is_left_out_of_lists_and_searches(ws: Workspace) -> None:
    assert ws("file_list", path="keep").data == "plain.txt (5 bytes)"
    assert "core.md" not in ws("file_list", depth=5).data
    assert ws("file_search", pattern="hush|plain").data == "keep/plain.txt:1: plain"


def test_a_protected_folder_that_does_not_exist_yet_cannot_be_made(tmp_path: Path) -> None:
    ws = Workspace(tmp_path / "ws", protected=[tmp_path / "ws" / "memory"])
    assert not ws("file_write", path="memory/core.md", content="x").ok
    assert not (tmp_path / "ws" / "memory").exists()


def test_barred_tools_refuse_more_and_the_first_ones_stay(ws: Workspace) -> None:
    read = ws.tools["file_read"]
    barred = read.barred([ws.root / "keep"])
    other = Workspace(ws.root)
    other.tools = {"file_read": barred, "first": read}

    assert not other("file_read", path="keep/plain.txt").ok
    assert not other("file_read", path="keep/mem/core.md").ok
    assert other("file_read", path="real.txt").ok
    assert other("first", path="keep/plain.txt").ok
    assert barred.schema() == read.schema()
    assert barred.parallel


def test_the_files_of_the_system_that_hold_every_environment_are_closed() -> None:
    with pytest.raises(FileRefused, match="protected"):
        Jail("/").find("proc/self/environ")


PARTS = st.sampled_from(
    ["a", "b", "..", ".", "", "up", "self", "out", "mem", "file", "deep", "new", "~", "a" * 300, "MEM", "日本"]
)


@pytest.fixture(scope="module")
def maze(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("maze")
    root = base / "root"
    for folder in ("a/b/deep", "a/mem", "b/mem"):
        (root / folder).mkdir(parents=True)
    (base / "outside" / "a").mkdir(parents=True)
    for link, target in {
        "a/up": "..",
        "up": "..",
        "self": ".",
        "b/out": str(base / "outside"),
        "b/a": "../a",
        "a/b/mem": "../mem",
        "a/b/deep/out": "../../../../outside/a",
    }.items():
        (root / link).symlink_to(target)
    (root / "a" / "mem" / "file").write_text(SECRET)
    return root


@settings(max_examples=500, deadline=None)
@given(parts=st.lists(PARTS, max_size=8), absolute=st.booleans(), writing=st.booleans())
def test_every_path_that_is_found_lies_inside_and_is_not_protected(
    maze: Path, parts: list[str], absolute: bool, writing: bool
) -> None:
    path = "/".join([str(maze), *parts] if absolute else parts)
    jail = Jail(maze, protected=[maze / "a" / "mem"])
    try:
        real = jail.find(path, writing=writing).real
    except FileRefused:
        return
    resolved = Path(os.path.realpath(maze / path))
    assert real == resolved
    assert resolved.is_relative_to(maze)
    assert not resolved.is_relative_to(maze / "a" / "mem")
