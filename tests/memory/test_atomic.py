"""`locked` and `replace_text`, with real files, threads and processes."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import filelock
import pytest

from memory import StoreBusy
from memory.atomic import locked, replace_bytes, replace_text, sweep


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_is_private_and_an_old_one_keeps_its_mode(tmp_path: Path) -> None:
    new, old = tmp_path / "new.md", tmp_path / "old.md"
    old.write_text("before")
    old.chmod(0o640)
    for path in (new, old):
        replace_text(path, "文字\n")
    assert (mode(new), mode(old)) == (0o600, 0o640)
    assert new.read_bytes() == old.read_bytes() == "文字\n".encode()


def test_a_link_is_written_through_and_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.md", tmp_path / "folder" / "link.md"
    link.parent.mkdir()
    link.symlink_to("../real.md")
    replace_text(link, "first")
    replace_text(link, "second")
    assert link.is_symlink()
    assert real.read_text() == "second"
    assert [path.name for path in link.parent.iterdir()] == ["link.md"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_the_owner_of_a_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "theirs.md"
    path.write_text("before")
    os.chown(path, 12345, 23456)
    replace_text(path, "after")
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 23456)


def test_a_failed_write_names_the_file_and_leaves_nothing_behind(tmp_path: Path) -> None:
    in_the_way = tmp_path / "folder"
    in_the_way.mkdir()
    with pytest.raises(IsADirectoryError, match=r"folder.*stays"):
        replace_bytes(in_the_way, b"text")
    with pytest.raises(FileNotFoundError, match=r"missing.*stays"):
        replace_bytes(tmp_path / "missing" / "file.md", b"text")
    assert [path.name for path in tmp_path.rglob("*")] == ["folder"]


def test_only_the_strays_of_this_file_are_swept(tmp_path: Path) -> None:
    for name in (".a.md.123.tmp", ".a.md..tmp", ".b.md.123.tmp", "a.md.tmp", ".a.md.123.bak", "a.md"):
        (tmp_path / name).write_text("x")
    sweep(tmp_path / "a.md")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".a.md.123.bak", ".b.md.123.tmp", "a.md", "a.md.tmp"]


def test_a_lock_file_is_private_and_stays(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    for _ in range(2):
        with locked(path):
            assert mode(path) == 0o600
    assert path.exists()


def test_a_held_lock_is_a_clear_refusal(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    with filelock.FileLock(path), pytest.raises(StoreBusy, match=r"0\.05 s.*\.lock"), locked(path, 0.05):
        pytest.fail("both hold the lock")
    with locked(path, 0.05):
        pass


def test_a_lock_is_let_go_when_the_work_fails(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), locked(tmp_path / ".lock"):
        _ = 1 / 0
    with locked(tmp_path / ".lock", 0.05):
        pass


def test_a_lock_in_a_missing_folder_names_its_path(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"cannot lock '.*missing/\.lock'"), locked(tmp_path / "missing/.lock"):
        pytest.fail("there is no such lock")


def test_a_lock_file_that_is_deleted_while_one_waits_is_made_again(tmp_path: Path) -> None:
    path, entered = tmp_path / ".lock", threading.Event()

    def wait_for_it() -> None:
        with locked(path):
            entered.set()

    with locked(path):
        waiting = threading.Thread(target=wait_for_it)
        waiting.start()
        path.unlink()
        assert entered.wait(10)
    waiting.join()
    assert path.exists()


def test_threads_take_turns(tmp_path: Path) -> None:
    path, counter = tmp_path / ".lock", tmp_path / "counter"
    counter.write_text("0")

    def count() -> None:
        for _ in range(10):
            with locked(path):
                replace_text(counter, str(int(counter.read_text()) + 1))

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.read_text() == "40"


def test_a_disk_that_takes_half_a_file_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    replace_text(path, "old")
    code = f"""
        import resource
        from memory.atomic import replace_text
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
        try:
            replace_text({str(path)!r}, "x" * 100_000)
        except OSError as error:
            raise SystemExit(error.errno) from None
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], cwd=Path.cwd(), check=False)
    assert done.returncode == errno.EFBIG
    assert {found.name: found.read_text() for found in tmp_path.iterdir()} == {"notes.md": "old"}
