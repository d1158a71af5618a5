"""`MemoryStore` with many processes, killed ones, full disks and folders that nobody may write."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory import MemoryStore

ROOM = 10_000_000
OURS = {"MEMORY.md", "USER.md", ".lock", "journal.jsonl"}

WRITER = """
    import sys
    from memory import MemoryStore
    folder, me = sys.argv[1:]
    store = MemoryStore(folder, memory_char_limit=10_000_000)
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(12):
        store.add("memory", f"[{me}-{number}] 进程 {me} writes {number}")
    store.remove("memory", f"[{me}-0]")
    store.replace("memory", f"[{me}-1]", f"[{me}-1] changed")
"""

LOOPER = """
    import sys
    from memory import MemoryStore
    store = MemoryStore(sys.argv[1], memory_char_limit=10_000_000)
    number = int(sys.argv[2])
    while True:
        number += 1
        print(number, flush=True)
        store.replace("memory", "state ", f"state {number} " + f"{number % 10}" * 200_000)
"""

FULL_DISK = """
    import resource, sys
    from memory import MemoryStore
    store = MemoryStore(sys.argv[1], memory_char_limit=10_000_000)
    store.add("memory", "made the lock and the journal")
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    try:
        store.add("memory", "x" * 10_000)
    except OSError as error:
        print(error)
        print(store.entries("memory"))
"""

NOBODY = """
    import os, sys
    import filelock
    from memory import MemoryStore
    store = MemoryStore(sys.argv[1])
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
    store.load_from_disk()
    print(store.entries("memory"), len(store.notices))
    try:
        store.add("memory", "x")
    except (OSError, ValueError) as error:
        print(type(error).__name__, error)
"""


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def entries(folder: Path) -> list[str]:
    store = MemoryStore(folder, memory_char_limit=ROOM)
    store.load_from_disk()
    assert not [notice for notice in store.notices if "read" in notice]
    return store.entries("memory")


def test_many_processes_lose_nothing_and_bring_nothing_back(tmp_path: Path) -> None:
    writers = [start(WRITER, tmp_path, me) for me in range(5)]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    ends = [writer.communicate("go\n") for writer in writers]
    assert ends == [("", "")] * 5
    found = {re.split(r"[\[\]]", entry)[1]: entry for entry in entries(tmp_path)}
    assert found.keys() == {f"{me}-{number}" for me in range(5) for number in range(1, 12)}
    assert all(found[f"{me}-1"].endswith("changed") for me in range(5))
    assert {path.name for path in tmp_path.iterdir()} <= OURS
    assert len(MemoryStore(tmp_path).journal.read()) == 5 * 14


def test_a_killed_writer_leaves_the_old_or_the_new_state(tmp_path: Path) -> None:
    store = MemoryStore(tmp_path, memory_char_limit=ROOM)
    store.add("memory", "first")
    store.add("memory", "state 0 " + "0" * 200_000)
    store.add("memory", "last")
    rng, number = random.Random(3), 0
    for _ in range(12):
        writer = start(LOOPER, tmp_path, number)
        assert writer.stdout is not None
        begun = int(writer.stdout.readline())
        time.sleep(rng.uniform(0, 0.02))
        writer.send_signal(signal.SIGKILL)
        said = [int(line) for line in writer.communicate()[0].split()]
        begun = max([begun, *said])
        first, state, last = entries(tmp_path)
        match = re.fullmatch(r"state (\d+) (\d)\2{199999}", state)
        assert match is not None
        assert (first, last) == ("first", "last")
        assert begun - 1 <= int(match[1]) <= begun
        number = begun
        store.replace("memory", "state ", f"state {number} " + f"{number % 10}" * 200_000)
        assert {path.name for path in tmp_path.iterdir()} <= OURS


def test_a_full_disk_leaves_the_old_bytes_and_says_which_file(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("old")
    out, err = start(FULL_DISK, tmp_path).communicate()
    assert err == ""
    assert "MEMORY.md', what was there stays" in out
    assert out.rstrip().endswith("['old', 'made the lock and the journal']")
    assert (tmp_path / "MEMORY.md").read_text() == "old\n§\nmade the lock and the journal"
    assert {path.name for path in tmp_path.iterdir()} <= OURS
    MemoryStore(tmp_path, memory_char_limit=ROOM).add("memory", "x" * 10_000)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder on a path that everybody may walk."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_a_folder_that_may_only_be_read_is_read_and_the_write_says_why(open_folder: Path) -> None:
    path = open_folder / "MEMORY.md"
    path.write_text("one")
    path.chmod(0o644)
    out, err = start(NOBODY, open_folder).communicate()
    assert err == ""
    assert out.startswith("['one'] 0\nPermissionError [Errno 13] cannot lock ")
    assert str(open_folder) in out
    assert [(found.name, found.read_text()) for found in open_folder.iterdir()] == [("MEMORY.md", "one")]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_a_file_that_may_not_be_read_is_not_written_over(open_folder: Path) -> None:
    open_folder.chmod(0o777)
    path = open_folder / "MEMORY.md"
    path.write_text("one")
    path.chmod(0o600)
    out, err = start(NOBODY, open_folder).communicate()
    assert "cannot be read: Permission denied" in err
    assert out.startswith("[] 1\nStoreDamaged ")
    assert path.read_text() == "one"
