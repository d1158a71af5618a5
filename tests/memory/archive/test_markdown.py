from __future__ import annotations

import asyncio
import json
import os
from datetime import timedelta
from pathlib import Path

import pytest
from archives import NOON, Concepts

from memory.archive import Archive, ArchiveProvider, ArchiveUnavailable, EntryMissing, MarkdownBackend, Principal
from memory.archive.access import View
from memory.archive.entry import Entry
from memory.archive.sections import render, section_of

MAIN = Principal("main", "s1")
run = asyncio.run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "memory"


@pytest.fixture
def archive(folder: Path) -> Archive:
    return Archive(MarkdownBackend(folder), clock=lambda: NOON)


def keys(archive: Archive, query: str) -> list[str]:
    return [hit.entry.key for hit in run(archive.search(MAIN, query)).hits]


def test_each_category_is_a_file_that_reads_like_notes(archive: Archive, folder: Path) -> None:
    run(archive.store(MAIN, "user_timezone", "UTC+8, Shanghai", tags=["place"], metadata={"a>b": "-->"}))
    run(archive.store(MAIN, "plan", "ship it", category="daily"))
    assert (folder / "core.md").read_text() == (
        "## user_timezone\n"
        '<!-- memory {"tags": ["place"], "metadata": {"a\\u003eb": "--\\u003e"}, "owner": "main", "session": "s1", '
        '"created": "2026-03-10T12:00:00Z", "updated": "2026-03-10T12:00:00Z"} -->\n'
        "\n"
        "UTC+8, Shanghai\n"
    )
    assert sorted(path.name for path in folder.iterdir()) == [".lock", "core.md", "daily.md"]
    assert (folder / "core.md").stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700
    assert run(archive.get(MAIN, "user_timezone")).metadata == {"a>b": "-->"}


def test_what_is_written_by_hand_is_found_and_survives_writes(archive: Archive, folder: Path) -> None:
    folder.mkdir()
    (folder / "core.md").write_bytes(
        b"\xef\xbb\xbf# My notes\r\n\r\nwords before\r\n\r\n"
        b"## editor\r\nKakoune\r\n```\r\n## no key\r\n```\r\n\r\n## empty\r\n"
    )
    assert keys(archive, "kakoune") == ["editor"]
    run(archive.store(MAIN, "k", "more"))
    text = (folder / "core.md").read_text()
    assert text.startswith("# My notes\n\nwords before\n\n## editor\n<!-- memory {")
    assert text.index("## empty") < text.index("## k")
    assert run(archive.get(MAIN, "editor")).content == "Kakoune\n```\n## no key\n```"
    with pytest.raises(EntryMissing):
        run(archive.get(MAIN, "no key"))


def test_a_replaced_entry_stays_in_its_place(archive: Archive, folder: Path) -> None:
    for key in ("a", "b", "c"):
        run(archive.store(MAIN, key, "old"))
    run(archive.store(MAIN, "b", "new"))
    run(archive.forget(MAIN, "a"))
    assert [line for line in (folder / "core.md").read_text().split("\n") if line[:2] in ("##", "ne", "ol")] == [
        "## b",
        "new",
        "## c",
        "old",
    ]


def test_changes_by_another_hand_are_noticed_even_within_one_tick(archive: Archive, folder: Path) -> None:
    run(archive.store(MAIN, "k", "aaaa"))
    assert keys(archive, "aaaa") == ["k"]
    path = folder / "core.md"
    times = path.stat().st_mtime_ns
    path.write_text(path.read_text().replace("aaaa", "bbbb"))
    os.utime(path, ns=(times, times))
    assert keys(archive, "bbbb") == ["k"]
    path.unlink()
    assert keys(archive, "bbbb") == []


def test_a_key_that_stands_twice_counts_where_it_is_younger_and_goes_at_once(archive: Archive, folder: Path) -> None:
    """As after a stop between the two files of a move."""
    run(archive.store(MAIN, "k", "old words", category="notes"))
    left = (folder / "notes.md").read_text()
    run(archive.store(MAIN, "k", "new words"))
    assert (folder / "notes.md").read_text() == ""
    (folder / "notes.md").write_text(left.replace('T12:00:00Z"}', 'T11:00:00Z"}'))
    assert run(archive.get(MAIN, "k")).content == "new words"
    assert keys(archive, "words") == ["k"]
    run(archive.forget(MAIN, "k"))
    assert keys(archive, "words") == []
    assert (folder / "notes.md").read_text() == (folder / "core.md").read_text() == ""


def test_a_damaged_file_keeps_its_bytes_and_the_others_go_on(archive: Archive, folder: Path) -> None:
    run(archive.store(MAIN, "k", "good words", category="notes"))
    damaged = b"## a\ncaf\xe9\n"
    (folder / "core.md").write_bytes(damaged)
    with pytest.raises(ArchiveUnavailable, match=r"core\.md.*UTF-8.*byte 8"):
        run(archive.store(MAIN, "new", "words"))
    with pytest.raises(ArchiveUnavailable, match=r"core\.md"):
        run(archive.get(MAIN, "a"))
    found = run(archive.search(MAIN, "words"))
    assert [hit.entry.key for hit in found.hits] == ["k"]
    assert "core.md" in found.warning
    run(archive.store(MAIN, "k", "better words", category="notes"))
    assert run(archive.get(MAIN, "k")).content == "better words"
    assert (folder / "core.md").read_bytes() == damaged


def test_files_that_are_no_category_are_left_alone(archive: Archive, folder: Path) -> None:
    folder.mkdir()
    (folder / "my notes.md").write_text("## a\nwords\n")
    (folder / "notes.txt").write_text("## b\nwords\n")
    run(archive.store(MAIN, "k", "words"))
    assert keys(archive, "words") == ["k"]
    assert (folder / "my notes.md").read_text() == "## a\nwords\n"


def test_a_file_named_in_capitals_is_the_category(archive: Archive, folder: Path) -> None:
    folder.mkdir()
    (folder / "Notes.md").write_text("## a\nwords\n")
    run(archive.store(MAIN, "k", "words", category="notes"))
    assert sorted(path.name for path in folder.glob("*.md")) == ["Notes.md"]
    assert sorted(keys(archive, "words")) == ["a", "k"]


def test_a_link_is_written_through(archive: Archive, folder: Path, tmp_path: Path) -> None:
    folder.mkdir()
    (tmp_path / "real.md").write_text("## a\nwords\n")
    (folder / "core.md").symlink_to(tmp_path / "real.md")
    run(archive.store(MAIN, "k", "words"))
    assert (folder / "core.md").is_symlink()
    assert "## k" in (tmp_path / "real.md").read_text()


def test_what_a_killed_writer_left_is_swept(archive: Archive, folder: Path) -> None:
    run(archive.store(MAIN, "k", "words"))
    (folder / ".core.md.12ab.tmp").write_text("half")
    run(archive.store(MAIN, "k", "more words"))
    assert sorted(path.name for path in folder.iterdir()) == [".lock", "core.md"]


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ArchiveUnavailable, match="file/memory"):
        run(Archive(MarkdownBackend(tmp_path / "file" / "memory")).store(MAIN, "k", "words"))


def test_entries_written_by_hand_in_daily_get_a_time_to_live_when_the_file_is_next_written(folder: Path) -> None:
    folder.mkdir()
    (folder / "daily.md").write_text("## a\nwords\n")
    os.utime(folder / "daily.md", (NOON.timestamp(), NOON.timestamp()))
    archive = Archive(MarkdownBackend(folder), clock=lambda: NOON)
    run(archive.store(MAIN, "b", "words", category="daily"))
    assert run(archive.get(MAIN, "a")).updated == NOON


def test_times_that_a_comment_does_not_tell_survive_what_others_write(folder: Path) -> None:
    folder.mkdir()
    (folder / "daily.md").write_text('## milk\n<!-- memory {"owner": "bob"} -->\nbuy milk\n')
    then = NOON - timedelta(days=6)
    os.utime(folder / "daily.md", (then.timestamp(), then.timestamp()))
    run(Archive(MarkdownBackend(folder), clock=lambda: NOON).store(MAIN, "b", "words", category="daily"))
    milk = run(Archive(MarkdownBackend(folder), clock=lambda: NOON).get(MAIN, "milk"))
    assert (milk.created, milk.updated, milk.owner) == (then, then, "bob")
    with pytest.raises(EntryMissing):
        run(Archive(MarkdownBackend(folder), clock=lambda: NOON + timedelta(days=2)).get(MAIN, "milk"))


def test_what_a_person_wrote_stays_as_it_is_under_its_new_comment(archive: Archive, folder: Path) -> None:
    folder.mkdir()
    sections = ["\n```sh\n## setup\nmake\n```", "\\## text", "  words"]
    headings = ["## a", "##\tb", "##  c ##"]
    text = "\n\n".join("\n".join(each) for each in zip(headings, sections, strict=True))
    (folder / "core.md").write_text(f"{text}\n")
    run(archive.store(MAIN, "new", "words"))
    for _ in range(2):
        lines = (folder / "core.md").read_text().split("\n\n## new")[0].split("\n")
        assert "\n".join(line for line in lines if not line.startswith("<!-- memory")) == text
        assert len(keys(Archive(MarkdownBackend(folder)), "a b setup text words")) == 4
        run(archive.store(MAIN, "new", "more words"))


def test_entries_are_in_the_order_of_their_writes_whatever_file_they_are_in(folder: Path) -> None:
    async def listed() -> list[str]:
        return [entry.key async for entry in Archive(MarkdownBackend(folder), clock=lambda: NOON).entries()]

    for number, (key, category) in enumerate([("z", "notes"), ("y", "core"), ("x", "notes"), ("w", "core")]):
        when = NOON + timedelta(minutes=number)
        run(Archive(MarkdownBackend(folder), clock=lambda when=when: when).store(MAIN, key, "words", category=category))
    assert run(listed()) == ["z", "y", "x", "w"]
    (folder / "core.md").write_text("## b\nwords\n\n## a\nwords\n")
    assert run(listed()) == ["z", "x", "b", "a"]


@pytest.fixture
def embedded(folder: Path) -> Archive:
    archive = Archive(MarkdownBackend(folder), embedder=Concepts(), clock=lambda: NOON)
    run(archive.store(MAIN, "a", "my kitten sleeps"))
    run(archive.store(MAIN, "b", "the database", category="notes"))
    return archive


def near(archive: Archive) -> list[str]:
    return [hit.entry.key for hit in run(archive.search(MAIN, "宠物", search_type="vector")).hits]


def test_vectors_lie_beside_their_category(embedded: Archive, folder: Path) -> None:
    assert sorted(path.name for path in (folder / ".embeddings").iterdir()) == ["core.bin", "notes.bin"]
    asked = Concepts()
    assert near(Archive(MarkdownBackend(folder), embedder=asked)) == ["a"]
    assert asked.asked == [["宠物"]]


@pytest.mark.parametrize(
    "damage", ["torn", "foreign", "emptied", "gone", "flipped", "torn head", "2", "1000000000000", "Infinity"]
)
def test_vectors_that_are_not_whole_are_made_again(embedded: Archive, folder: Path, damage: str) -> None:
    path = folder / ".embeddings" / "core.bin"
    data = path.read_bytes()
    changed = {
        "torn": data[:-3],
        "foreign": b"\x00\xff" * 300,
        "emptied": b"",
        "flipped": data[:-2] + bytes([data[-2] ^ 0xFF]) + data[-1:],
        "torn head": data[:20],
    }
    if damage == "gone":
        path.unlink()
    else:
        dimensions = data.replace(b'"dimensions": 3', f'"dimensions": {damage}'.encode())
        path.write_bytes(changed.get(damage, dimensions))
    for archive in (Archive(MarkdownBackend(folder), embedder=Concepts()), embedded):
        assert near(archive) == ["a"]
    assert path.read_bytes().endswith(data[-36:])  # the one row, whole again


def test_vectors_of_entries_that_are_gone_are_swept_out(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.archive.markdown_vectors.WASTE_ROWS", 4)
    archive = Archive(MarkdownBackend(folder), embedder=Concepts())
    for number in range(40):
        run(archive.store(MAIN, "k", f"kitten {number}"))
    assert (folder / ".embeddings" / "core.bin").stat().st_size < 1_000
    assert near(archive) == ["k"]


def test_a_writer_sees_its_own_changes(folder: Path) -> None:
    backend = MarkdownBackend(folder)
    with backend.writing() as writer:
        entry = Entry("k", "words", owner="main", created=NOON, updated=NOON)
        from memory.archive.text import analyse

        number = writer.insert(entry, analyse(entry))
        assert [each.id for each in writer.find(View(), "k")] == [number]
        writer.remove([number])
        assert writer.find(View(), "k") == []
        writer.insert(entry, analyse(entry))
    assert (folder / "core.md").read_text().count("## k") == 1
    assert section_of(entry).text + "\n" == (folder / "core.md").read_text()


@pytest.mark.parametrize(("place", "kind"), [(".embeddings", "folder"), (".embeddings/core.bin", "file")])
def test_vectors_that_can_be_kept_nowhere_leave_the_words_and_a_warning(folder: Path, place: str, kind: str) -> None:
    archive = Archive(MarkdownBackend(folder), embedder=Concepts())
    if kind == "file":
        (folder / place).mkdir(parents=True)
    else:
        folder.mkdir()
        (folder / place).write_text("notes of somebody else")
    sentence = f"vectors cannot be kept, {str(folder / place)!r} is no {kind}: move it away"
    assert sentence in run(archive.store(MAIN, "k", "my kitten")).warning
    answer = run(archive.search(MAIN, "kitten"))
    assert [hit.entry.key for hit in answer.hits] == ["k"]
    assert answer.warning == f"entries not searchable by meaning yet: 1 ({sentence})"


def test_a_key_that_was_written_twice_by_hand_is_shown_twice_before_it_is_lost(archive: Archive, folder: Path) -> None:
    tools = {tool.name: tool for tool in ArchiveProvider(archive, MAIN).tools()}
    folder.mkdir()
    for name in ("memory_forget", "memory_store"):
        (folder / "core.md").write_text("## pets\nA cat, Tom.\n\n## car\nA van.\n\n## pets\nA dog, Rex.\n")
        assert (keys(archive, "Tom"), keys(archive, "Rex")) == (["pets"], ["pets"])
        call = json.dumps({"key": "pets", "content": "None."})
        shown = run(tools[name].preview_of(call))
        assert all(text in shown for text in ("A cat, Tom.", "A dog, Rex."))
        assert run(tools[name].execute(call)).ok
        assert keys(archive, "Tom Rex") == []


def test_of_two_sections_of_a_key_the_expired_one_goes_alone(folder: Path) -> None:
    folder.mkdir()
    then = NOON - timedelta(days=30)
    twice = [Entry("k", f"words of {when}", owner="main", created=when, updated=when) for when in (then, NOON)]
    (folder / "daily.md").write_text(render(map(section_of, twice)))
    archive = Archive(MarkdownBackend(folder), clock=lambda: NOON)
    run(archive.store(MAIN, "other", "more"))
    assert run(archive.get(MAIN, "k")).content == f"words of {NOON}"
    assert (folder / "daily.md").read_text().count("## k") == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no pipes")
def test_a_pipe_or_folder_in_the_place_of_a_file_is_named_and_other_categories_go_on(
    archive: Archive, folder: Path
) -> None:
    run(archive.store(MAIN, "k", "words", category="notes"))
    os.mkfifo(folder / "core.md")
    (folder / "daily.md").mkdir()
    answer = run(archive.search(MAIN, "words"))
    assert [hit.entry.key for hit in answer.hits] == ["k"]
    for name in ("core.md", "daily.md"):
        assert f"{str(folder / name)!r} is no file but a folder, pipe or device" in answer.warning
    with pytest.raises(ArchiveUnavailable, match=r"core\.md' is no file"):
        run(archive.store(MAIN, "new", "words"))
    run(archive.store(MAIN, "k", "other words", category="notes"))
