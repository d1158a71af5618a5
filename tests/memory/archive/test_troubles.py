"""What a hand left in a Markdown file that cannot be read: it is told of, kept, and costs nothing else."""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from archives import NOON, Concepts

from memory.archive import (
    AccessPolicy,
    Archive,
    ArchiveUnavailable,
    Entry,
    EntryMissing,
    MarkdownBackend,
    Principal,
)

MAIN = Principal("main", "s1")
FILE_TIME = datetime(2026, 3, 1, tzinfo=UTC)
run = asyncio.run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "memory"
    path.mkdir()
    return path


def opened(folder: Path, **more: Any) -> Archive:
    return Archive(MarkdownBackend(folder), clock=lambda: NOON, **more)


def write(folder: Path, text: str) -> None:
    (folder / "core.md").write_text(text)
    os.utime(folder / "core.md", (FILE_TIME.timestamp(),) * 2)


def warning(archive: Archive, who: Principal = MAIN) -> str:
    return run(archive.search(who, "words", search_type="text")).warning


async def listed(archive: Archive, entries: list[Entry]) -> None:
    async for entry in archive.entries():
        entries.append(entry)  # noqa: PERF401 (what came before an error counts)


ODD = [
    '{"owner": "main", "created": "9999-12-31T23:00:00-05:00"}',
    '{"owner": "main", "created": "0001-01-01T00:00:00+14:00"}',
    '{"owner": "main", "created": "yesterday"}',
    '{"owner": "main", "metadata": {"a": NaN}}',
    '{"owner": "main", "metadata": {"a": ' + "[" * 5_000 + "]" * 5_000 + "}}",
    '{"owner": "main", "tags": ["' + "x" * 129 + '"]}',
    '{"owner": "main", "tags": "place"}',
    '{"owner": "\\ud800"}',
    '{"owner": 3}',
    '{"owner": "main", "tags": [oops}',
    '{"owner": "main", }',
]


@pytest.mark.parametrize("comment", ODD, ids=lambda text: text[:60])
def test_a_comment_that_cannot_be_read_is_told_of_and_kept(folder: Path, comment: str) -> None:
    section = f"## odd\n<!-- memory {comment} -->\n\nits words\n"
    write(folder, f"{section}\n## fine\nother words\n")
    archive = opened(folder)
    entry = run(archive.get(MAIN, "odd"))
    assert (entry.content, entry.created, entry.tags, entry.metadata) == ("its words", FILE_TIME, (), {})
    assert run(archive.get(MAIN, "fine")).content == "other words"
    for _ in range(2):
        assert "core.md': the comment of 'odd'" in warning(archive)
        run(archive.store(MAIN, "new", "more"))
    assert section in (folder / "core.md").read_text()
    with pytest.raises(EntryMissing):
        run(archive.get(MAIN, "missing"))
    run(archive.forget(MAIN, "odd"))
    assert warning(archive) == ""


def test_what_can_be_read_of_an_odd_comment_is(folder: Path) -> None:
    write(folder, '## k\n<!-- memory {"owner": "main", "tags": ["t"], "updated": 3} -->\nwords\n')
    entry = run(opened(folder).get(MAIN, "k"))
    assert (entry.owner, entry.tags, entry.updated) == ("main", ("t",), FILE_TIME)


@pytest.mark.parametrize("before", ["\n", "  ", "\t", "\n \n   "])
def test_blanks_before_a_comment_do_not_matter(folder: Path, before: str) -> None:
    section = f'## k\n{before}<!-- memory {{"owner": "main", "tags": ["t"], "session": null}} -->\n\n    words\n'
    write(folder, section)
    archive = opened(folder)
    assert run(archive.get(MAIN, "k")) == Entry(
        "k", "    words", tags=("t",), owner="main", created=FILE_TIME, updated=FILE_TIME
    )
    run(archive.store(MAIN, "new", "more"))
    assert (folder / "core.md").read_text().startswith(section.split("}")[0])
    assert warning(archive) == ""


def test_no_owner_is_no_name(folder: Path) -> None:
    write(folder, '## k\n<!-- memory {"owner": null} -->\nwords\n')
    assert run(opened(folder).get(MAIN, "k")).owner == ""
    assert warning(opened(folder)) == ""


@pytest.mark.parametrize("section", [f"## {'k' * 257}\nwords\n", "## k\nwor\0ds\n", f"## k\n{'x' * 1_000_001}\n"])
def test_a_section_that_can_be_no_entry_is_told_of(folder: Path, section: str) -> None:
    write(folder, f"{section}\n## fine\nwords\n")
    answer = run(opened(folder).search(MAIN, "words"))
    assert [hit.entry.key for hit in answer.hits] == ["fine"]
    assert "core.md" in answer.warning


def test_of_many_odd_comments_a_few_are_named(folder: Path) -> None:
    write(folder, "".join(f"## k{n}\n<!-- memory {{oops}} -->\nwords\n" for n in range(500)))
    told = warning(opened(folder))
    assert "'k0'" in told
    assert told.endswith("and 497 sections more")
    assert len(told) < 2_000


def test_under_access_control_an_odd_comment_is_told_to_those_who_may_see_its_entry(folder: Path) -> None:
    write(folder, '## hidden\n<!-- memory {"owner": "alice", "metadata": {"a": NaN}} -->\nwords\n')
    archive = opened(folder, access=AccessPolicy(True, frozenset({"root"})))
    for name, told in (("alice", True), ("root", True), ("bob", False)):
        assert ("hidden" in warning(archive, Principal(name))) is told


UNREADABLE = ["not UTF-8", "a link to nowhere"]


def damage(folder: Path, how: str) -> None:
    if how == "not UTF-8":
        (folder / "core.md").write_bytes(b"## a\nwords\n\xff")
    else:
        (folder / "core.md").symlink_to(folder / "unmounted" / "core.md")


@pytest.mark.parametrize("how", UNREADABLE)
def test_a_file_that_cannot_be_read_is_told_of_by_every_tool(folder: Path, how: str) -> None:
    damage(folder, how)
    archive = opened(folder)
    run(archive.store(MAIN, "k", "words", category="notes"))
    answer = run(archive.search(MAIN, "words"))
    assert [hit.entry.key for hit in answer.hits] == ["k"]
    assert "core.md" in answer.warning
    for work in (archive.get(MAIN, "a"), archive.forget(MAIN, "a"), archive.store(MAIN, "new", "words")):
        with pytest.raises(ArchiveUnavailable, match=r"core\.md"):
            run(work)


def test_a_folder_that_leads_nowhere_is_not_an_empty_archive(tmp_path: Path) -> None:
    (tmp_path / "memory").symlink_to(tmp_path / "unmounted")
    archive = opened(tmp_path / "memory")
    for work in (archive.get(MAIN, "a"), archive.search(MAIN, "words"), archive.store(MAIN, "new", "words")):
        with pytest.raises(ArchiveUnavailable, match="memory"):
            run(work)


@pytest.mark.parametrize("how", UNREADABLE)
def test_whatever_goes_over_all_entries_does_what_it_can_and_says_what_it_could_not(folder: Path, how: str) -> None:
    damage(folder, how)
    archive = opened(folder, embedder=Concepts())
    run(archive.store(MAIN, "k", "my kitten", category="notes"))
    entries: list[Entry] = []
    with pytest.raises(ArchiveUnavailable, match=r"core\.md"):
        run(listed(archive, entries))
    assert [entry.key for entry in entries] == ["k"]
    with pytest.raises(ArchiveUnavailable, match=r"core\.md") as counted:
        run(archive.stats())
    assert counted.value.done["entries"] == 1
    (folder / ".embeddings" / "notes.bin").unlink()
    for work, done in ((archive.reindex(), 1), (archive.sweep(), 0)):
        with pytest.raises(ArchiveUnavailable, match=r"core\.md") as told:
            run(work)
        assert told.value.done == done


def test_an_export_says_what_it_could_not_read_of_a_comment(folder: Path) -> None:
    write(folder, "## odd\n<!-- memory {oops} -->\nwords\n")
    entries: list[Entry] = []
    with pytest.raises(ArchiveUnavailable, match=r"core\.md.*'odd'"):
        run(listed(opened(folder), entries))
    assert [entry.content for entry in entries] == ["words"]
