from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from archives import Concepts

from memory.archive import Archive, ArchiveUnavailable, Entry, Principal, SqliteBackend, View
from memory.archive.sql_tables import TABLE_VERSION
from memory.archive.text import analyse

MAIN = Principal("main")
MACHINERY = ("sqlite3", "OperationalError", "DatabaseError", "Traceback", "KeyError")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory" / "archive.db"


def store(path: Path, key: str = "k", content: str = "words") -> None:
    archive = Archive(SqliteBackend(path))
    asyncio.run(archive.store(MAIN, key, content))
    asyncio.run(archive.close())


def refusal(path: Path) -> str:
    """Return what a store says; a get must say something of the kind, too, or work."""
    archive = Archive(SqliteBackend(path))
    with pytest.raises(ArchiveUnavailable) as error:
        asyncio.run(archive.store(MAIN, "new", "words"))
    asyncio.run(archive.close())
    said = str(error.value)
    assert str(path) in said
    assert not any(word in said for word in MACHINERY)
    return said


def test_the_file_is_private_and_made_by_the_first_write(path: Path) -> None:
    backend = SqliteBackend(path)
    with backend.reading() as reader:
        assert reader.page(View(), 0, 10) == []
    assert not path.parent.exists()
    store(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_database_in_the_folder_where_one_works_bars_only_its_own_files(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert SqliteBackend(path).folders == [path.parent]
    path.parent.mkdir()
    monkeypatch.chdir(path.parent)
    names = [place.name for place in SqliteBackend("archive.db").folders]
    assert names == ["archive.db", "archive.db-wal", "archive.db-shm", ".embeddings"]


def test_a_file_that_is_no_database_is_left_as_it_is(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"these are notes of mine\n" * 100)
    assert "not an archive" in refusal(path)
    assert path.read_bytes() == b"these are notes of mine\n" * 100


def test_a_database_of_another_program_is_left_as_it_is(path: Path) -> None:
    path.parent.mkdir()
    link = sqlite3.connect(path)
    link.execute("CREATE TABLE entries (a)")
    link.commit()
    link.close()
    before = path.read_bytes()
    assert "another program" in refusal(path)
    assert path.read_bytes() == before


def test_a_database_of_a_newer_version_is_left_as_it_is(path: Path) -> None:
    store(path)
    link = sqlite3.connect(path)
    link.execute(f"PRAGMA user_version = {TABLE_VERSION + 1}")
    link.close()
    said = refusal(path)
    assert "newer version" in said
    assert str(TABLE_VERSION + 1) in said


def test_a_damaged_database_is_called_damaged(path: Path) -> None:
    store(path)
    data = bytearray(path.read_bytes())
    data[100:4096] = os.urandom(3996)
    path.write_bytes(data)
    assert any(word in refusal(path) for word in ("damaged", "not an archive", "another program"))


def test_a_locked_database_is_waited_for_and_then_called_locked(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store(path)
    monkeypatch.setattr("memory.archive.sqlite.BUSY_S", 0.2)
    link = sqlite3.connect(path, isolation_level=None)
    link.execute("BEGIN IMMEDIATE")
    assert "locked" in refusal(path)
    archive = Archive(SqliteBackend(path))
    assert asyncio.run(archive.get(MAIN, "k")).content == "words"  # readers go on
    link.execute("ROLLBACK")
    asyncio.run(archive.store(MAIN, "k", "more"))
    asyncio.run(archive.close())
    link.close()


def test_a_folder_in_the_place_of_the_file_is_named(path: Path) -> None:
    path.mkdir(parents=True)
    assert "is a folder: name a file" in refusal(path)
    with pytest.raises(ArchiveUnavailable, match="is a folder: name a file"):
        asyncio.run(Archive(SqliteBackend(path)).get(MAIN, "k"))


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert "cannot be used" in refusal(tmp_path / "file" / "archive.db")


def as_a_reader(path: Path) -> list[str]:
    """Return what a get and a store say to a user who may only read."""
    path.chmod(0o444)
    path.parent.chmod(0o555)
    for folder in (path.parent.parent, *path.parent.parent.parents):
        if folder.stat().st_uid == os.getuid() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    script = (
        "import asyncio, os, sys\n"
        "from memory.archive import *\n"
        "archive = Archive(SqliteBackend(sys.argv[1]))\n"
        "if os.getuid() == 0: os.setresuid(65534, 65534, 65534)\n"
        "for call in (archive.get(Principal('main'), 'k'), archive.store(Principal('main'), 'k', 'x')):\n"
        "    try: print(asyncio.run(call).content)\n"
        "    except (ArchiveRefusal, ArchiveUnavailable) as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=False)
    path.parent.chmod(0o755)
    assert done.stdout.count("\n") == 2, done.stderr
    return done.stdout.splitlines()


needs_another_user = pytest.mark.skipif(not hasattr(os, "setresuid"), reason="needs another user's eyes")


@needs_another_user
def test_a_store_that_may_only_be_read_is_read_and_says_so_when_written(path: Path) -> None:
    store(path)
    content, refused = as_a_reader(path)
    assert content == "words"
    assert any(word in refused for word in ("only read", "cannot be opened"))


@needs_another_user
def test_entries_that_lie_where_they_cannot_be_read_are_told_of(path: Path) -> None:
    store(path)
    archive = Archive(SqliteBackend(path))
    asyncio.run(archive.store(MAIN, "k", "newer"))
    path.with_name("archive.db-wal").chmod(0o444)
    path.with_name("archive.db-shm").unlink()
    said, _ = as_a_reader(path)
    asyncio.run(archive.close())
    assert "its newest entries lie in 'archive.db-wal'" in said


@needs_another_user
def test_an_empty_file_that_may_only_be_read_is_an_empty_store(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    assert as_a_reader(path)[0].startswith("there is no entry 'k'")


def test_a_store_that_another_program_holds_whole_is_not_read_behind_its_back(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(path)
    monkeypatch.setattr("memory.archive.sqlite.BUSY_S", 0.2)
    link = sqlite3.connect(path, isolation_level=None)
    link.execute("PRAGMA locking_mode = EXCLUSIVE")
    link.execute("UPDATE entries SET content = 'newer'")
    with pytest.raises(ArchiveUnavailable, match="is locked"):
        asyncio.run(Archive(SqliteBackend(path)).get(MAIN, "k"))
    link.close()


def test_an_error_inside_a_transaction_undoes_all_of_it(path: Path) -> None:
    backend = SqliteBackend(path)
    store(path)
    with pytest.raises(ZeroDivisionError), backend.writing() as writer:
        writer.insert(Entry("x", "words"), analyse(Entry("x", "words")))
        raise ZeroDivisionError
    with backend.reading() as reader:
        assert [each.entry.key for each in reader.page(View(), 0, 10)] == ["k"]
    backend.close()


def test_a_file_that_was_replaced_is_opened_anew(path: Path) -> None:
    store(path, content="first life")
    archive = Archive(SqliteBackend(path))
    assert asyncio.run(archive.get(MAIN, "k")).content == "first life"
    for file in path.parent.iterdir():
        file.unlink()
    store(path, content="second life")
    assert asyncio.run(archive.get(MAIN, "k")).content == "second life"
    asyncio.run(archive.close())


def test_eight_threads_make_one_store(path: Path) -> None:
    archives = [Archive(SqliteBackend(path)) for _ in range(8)]
    start, failures = threading.Barrier(8), list[BaseException]()

    def work(number: int) -> None:
        start.wait()
        try:
            for turn in range(10):
                asyncio.run(archives[number].store(MAIN, f"k{number}-{turn}", "words of many"))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert asyncio.run(archives[0].stats())["entries"] == 80


@pytest.fixture
def embedded(path: Path) -> Iterator[Archive]:
    archive = Archive(SqliteBackend(path), embedder=Concepts())
    asyncio.run(archive.store(MAIN, "a", "my kitten sleeps"))
    asyncio.run(archive.store(MAIN, "b", "the database"))
    assert asyncio.run(found(archive)) == ["a"]
    yield archive
    asyncio.run(archive.close())


async def found(archive: Archive) -> list[str]:
    return [hit.entry.key for hit in (await archive.search(MAIN, "宠物", search_type="vector")).hits]


def vector_files(path: Path) -> list[Path]:
    files = sorted((path.parent / ".embeddings").glob("archive-*"))
    assert [file.suffix for file in files] == [".ids", ".vec"]
    return files


@pytest.mark.parametrize(
    "damage", ["torn ids", "torn vec", "foreign", "gone", "emptied", "zeroed", "zeroed ids", "flipped"]
)
def test_vector_files_that_are_not_ours_or_not_whole_are_made_again(path: Path, embedded: Archive, damage: str) -> None:
    ids, vectors = vector_files(path)
    if damage == "torn ids":
        ids.write_bytes(ids.read_bytes()[:-5])
    elif damage == "torn vec":
        vectors.write_bytes(vectors.read_bytes()[:5])
    elif damage == "foreign":
        ids.write_bytes(b"something else altogether" * 10)
    elif damage == "gone":
        ids.unlink()
        vectors.unlink()
    elif damage == "zeroed":
        vectors.write_bytes(bytes(len(vectors.read_bytes())))
    elif damage == "zeroed ids":
        ids.write_bytes(ids.read_bytes()[:64] + bytes(len(ids.read_bytes()) - 64))
    elif damage == "flipped":
        vectors.write_bytes(vectors.read_bytes()[:3] + b"\xbf" + vectors.read_bytes()[4:])
    else:
        ids.write_bytes(b"")
        vectors.write_bytes(b"")
    for archive in (Archive(SqliteBackend(path), embedder=Concepts()), embedded):
        assert asyncio.run(found(archive)) == ["a"]
        asyncio.run(archive.store(MAIN, "c", "another kitten"))
        assert sorted(asyncio.run(found(archive))) == ["a", "c"]
        asyncio.run(archive.forget(MAIN, "c"))
        assert asyncio.run(found(archive)) == ["a"]


def test_two_processes_follow_each_others_vectors(path: Path, embedded: Archive) -> None:
    other = Archive(SqliteBackend(path), embedder=Concepts())
    for number in range(6):
        archive = (embedded, other)[number % 2]
        asyncio.run(archive.store(MAIN, f"cat{number}", f"kitten {number}"))
        if number % 3 == 0:
            asyncio.run(archive.forget(MAIN, f"cat{number}"))
        wanted = {"a", *(f"cat{each}" for each in range(number + 1) if each % 3)}
        assert set(asyncio.run(found(other))) == set(asyncio.run(found(embedded))) == wanted


def test_many_forgotten_vectors_are_swept_out_of_the_files(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.archive.vector_file.COPY_ROWS", 10)
    backend = SqliteBackend(path)
    rows = np.eye(3, dtype=np.float32)
    with backend.writing() as writer:
        ids = [writer.insert(Entry(f"k{n}", "words"), analyse(Entry(f"k{n}", "words"))) for n in range(60)]
        writer.put_vectors("m", {number: rows[number % 3 :][:1] for number in ids})
    for _ in range(2):
        with backend.reading() as reader:
            assert len(reader.nearest(None, "m", rows[0], 100)) in (20, 1)
        with backend.writing() as writer:
            writer.remove(ids[3:])
        backend.close()
    ids_file, _ = vector_files(path)
    assert ids_file.stat().st_size == 64 + 3 * 24


def test_where_no_file_can_be_written_vectors_are_searched_in_memory(path: Path, embedded: Archive) -> None:
    folder = path.parent / ".embeddings"
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    folder.write_text("in the way")
    archive = Archive(SqliteBackend(path), embedder=Concepts())
    asyncio.run(archive.store(MAIN, "c", "another kitten"))
    assert sorted(asyncio.run(found(archive))) == ["a", "c"]
    asyncio.run(archive.store(MAIN, "d", "a third kitten"))
    assert sorted(asyncio.run(found(archive))) == ["a", "c", "d"]
    in_the_way = f"vectors cannot be kept, {str(folder)!r} is in the way: move it away"
    assert asyncio.run(archive.search(MAIN, "宠物")).warning == in_the_way
