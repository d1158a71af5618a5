"""`MemoryStore.add` against the bare durable write: what the lock, the second read, the guard and the journal cost.

    python benchmarks/store_add.py [ROUNDS]

Both write about 2,000 characters into the same folder, in turns. The goal is a ratio of 1.5 at most.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from memory import ENTRY_DELIMITER, MemoryStore

KEPT = [f"fact {number}: the build of part {number} runs with uv and pytest on Debian 12" for number in range(30)]
ENTRIES = {
    "English": "User prefers short answers; the project runs its tests with uv run pytest -q in the folder docs",
    "Chinese": "用户偏好简体中文回复，单位用公制；项目用 uv 管理依赖，测试命令为 uv run pytest，不要用 unittest",
}


def bare_write(folder: Path, content: bytes) -> None:
    """Write durably and nothing else: temporary file, fsync, replace, fsync of the folder."""
    descriptor, temporary = tempfile.mkstemp(dir=folder)
    os.write(descriptor, content)
    os.fsync(descriptor)
    os.close(descriptor)
    Path(temporary).replace(folder / "bare.md")
    descriptor = os.open(folder, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def seconds(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def measure(entry: str, rounds: int) -> tuple[float, float]:
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as name:
        folder = Path(name)
        store = MemoryStore(folder, memory_char_limit=10_000)
        for kept in KEPT:
            store.add("memory", kept)
        content = ENTRY_DELIMITER.join([*KEPT, entry]).encode()
        bare, adds = [], []
        for number in range(rounds):
            bare.append(seconds(lambda: bare_write(folder, content)))
            adds.append(seconds(lambda n=number: store.add("memory", f"{entry} {n}")))  # type: ignore[misc]
            store.remove("memory", f"{entry} {number}")
        return statistics.median(bare), statistics.median(adds)


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    for language, entry in ENTRIES.items():
        bare, add = measure(entry, rounds)
        print(f"{language}: bare {bare * 1e6:.0f} us, add {add * 1e6:.0f} us, ratio {add / bare:.2f}")


if __name__ == "__main__":
    main()
