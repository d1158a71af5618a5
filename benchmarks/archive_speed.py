"""What searching and storing cost in the archive at 10 thousand, 100 thousand and a million entries.

    python benchmarks/archive_speed.py                          SQLite, 10k and 100k entries
    python benchmarks/archive_speed.py --sizes 1000000          builds for some minutes, takes some 6 GB of disk

Entries and queries are made up: words by Zipf's law, 6 to 40 of them an entry. Vectors are given (384 numbers each, at
random), so that no model is measured. Times are CPU of this process, median and 95th percentile. Beside them stands,
from the same run, what FTS5 takes for an OR of the same words and for a bare durable insert.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

import numpy as np

from memory.archive import Archive, Entry, Principal, SqliteBackend, View
from memory.archive.backend import Backend
from memory.archive.search import SearchType

DIMENSIONS = 384
WHO = Principal("main", "s1")
START = datetime(2026, 1, 1, tzinfo=UTC)
FUNCTION_WORDS = ["the", "a", "is", "in", "of", "and", "to", "what", "when", "did", "for", "on", "with", "was"]


class Given:
    """An embedder whose vectors are there at once."""

    identity = "given/384"
    dimensions = DIMENSIONS

    async def embed(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
        return [np.random.default_rng(len(text)).standard_normal(DIMENSIONS).tolist() for text in texts]


class Words:
    """A vocabulary in which the n-th word is 1/n as frequent as the first."""

    def __init__(self, rng: random.Random, size: int) -> None:
        self._rng = rng
        parts = [first + second for first in "bcdfghjklmnprstvwz" for second in ("a", "e", "i", "o", "u", "an", "er")]
        words: dict[str, None] = {}
        while len(words) < size:
            words["".join(rng.choices(parts, k=rng.choice([2, 2, 3, 3, 4])))] = None
        self.words = list(words)
        self._weights = list(np.cumsum(1 / np.arange(20, size + 20)))

    def some(self, count: int) -> list[str]:
        words = self._rng.choices(self.words, cum_weights=self._weights, k=count)
        return [self._rng.choice(FUNCTION_WORDS) if self._rng.random() < 0.35 else word for word in words]


def entries(words: Words, count: int, rng: random.Random) -> Iterator[Entry]:
    for number in range(count):
        when = START + timedelta(seconds=number)
        text = " ".join(words.some(rng.randint(6, 40)))
        yield Entry(f"entry-{number}", text, tags=(rng.choice("abcde"),), owner="main", created=when, updated=when)


async def fill(archive: Archive, words: Words, count: int, rng: random.Random) -> None:
    await archive.put_all(entries(words, count, rng))


def put_vectors(backend: Backend, model: str, count: int) -> None:
    """Give each entry a vector."""
    rng = np.random.default_rng(7)
    after = 0
    while True:
        with backend.writing() as writer:
            ids = [stored.id for stored in writer.page(View(), after, 5_000)]
            if not ids:
                return
            rows = rng.standard_normal((len(ids), DIMENSIONS)).astype(np.float32)
            rows /= np.linalg.norm(rows, axis=1, keepdims=True)
            writer.put_vectors(model, {number: rows[place : place + 1] for place, number in enumerate(ids)})
            after = ids[-1]


def times(work: Callable[[str], object], inputs: Sequence[str], clock: Callable[[], float]) -> tuple[float, float]:
    """Return median and 95th percentile in ms; the first few runs are not counted."""
    taken = []
    for place, text in enumerate(inputs):
        start = clock()
        work(text)
        if place >= 5:
            taken.append((clock() - start) * 1000)
    return statistics.median(taken), statistics.quantiles(taken, n=20)[-1]


class Fts:
    """FTS5 as one would use it by itself: a table, porter, OR of the words, best ten."""

    def __init__(self, path: Path) -> None:
        self.link = sqlite3.connect(path, isolation_level=None)
        self.link.execute("PRAGMA journal_mode = WAL")
        self.link.execute("PRAGMA synchronous = FULL")
        self.link.execute(
            "CREATE TABLE entries (id INTEGER PRIMARY KEY, key TEXT UNIQUE, content TEXT, updated INTEGER)"
        )
        self.link.execute("CREATE VIRTUAL TABLE terms USING fts5 (content, tokenize = 'porter unicode61')")

    def fill(self, some: Iterator[Entry]) -> None:
        while part := list(islice(some, 5_000)):
            self.link.execute("BEGIN")
            for entry in part:
                self.insert(entry)
            self.link.execute("COMMIT")

    def insert(self, entry: Entry) -> None:
        row = (entry.key, entry.content, int(entry.updated.timestamp()))
        number = self.link.execute("INSERT INTO entries (key, content, updated) VALUES (?, ?, ?)", row).lastrowid
        self.link.execute("INSERT INTO terms (rowid, content) VALUES (?, ?)", (number, entry.content))

    def store(self, entry: Entry) -> None:
        self.link.execute("BEGIN IMMEDIATE")
        self.insert(entry)
        self.link.execute("COMMIT")

    def search(self, query: str) -> list[int]:
        match = " OR ".join(f'"{word}"' for word in query.split() if word not in FUNCTION_WORDS) or '""'
        statement = "SELECT rowid FROM terms WHERE terms MATCH ? ORDER BY rank LIMIT 10"
        return [number for (number,) in self.link.execute(statement, (match,))]


def measure(size: int, folder: Path, queries: int, vectors: bool) -> None:
    rng = random.Random(size)
    words = Words(rng, 50_000)
    backend = SqliteBackend(folder / "archive.db")
    archive = Archive(backend, embedder=Given() if vectors else None)
    runner = asyncio.Runner()
    started = time.perf_counter()
    runner.run(fill(archive, words, size, rng))
    filled = time.perf_counter() - started
    if vectors:
        put_vectors(backend, f"{Given.identity} passages/1", size)
    seconds = time.perf_counter() - started
    print(f"\n{size:,} entries on {backend.name}: filled in {filled:.0f} s, with vectors {seconds:.0f} s")
    asked = [" ".join(words.some(rng.randint(3, 8))) for _ in range(queries + 5)]

    def search(search_type: SearchType) -> Callable[[str], object]:
        return lambda query: runner.run(archive.search(WHO, query, search_type=search_type))

    kinds: list[SearchType] = ["text", "hybrid"] if vectors else ["text"]
    for kind in kinds:
        print("  {:<28}{:8.2f}{:8.2f} ms".format(kind, *times(search(kind), asked, time.process_time)))
    numbers = [f"stored-{place}" for place in range(queries + 5)]
    content = {number: " ".join(words.some(rng.randint(6, 40))) for number in numbers}
    plain = Archive(backend)
    stored = times(lambda key: runner.run(plain.store(WHO, key, content[key])), numbers, time.perf_counter)
    print("  {:<28}{:8.2f}{:8.2f} ms wall".format("store", *stored))
    beside = Fts(folder / "fts.db")
    beside.fill(entries(words, size, random.Random(size)))
    print("  {:<28}{:8.2f}{:8.2f} ms".format("FTS5, OR of the words", *times(beside.search, asked, time.process_time)))
    bare = times(lambda key: beside.store(Entry(key, content[key])), numbers, time.perf_counter)
    print("  {:<28}{:8.2f}{:8.2f} ms wall".format("FTS5, durable insert", *bare))
    runner.run(archive.close())
    runner.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", default="10000,100000", help="numbers of entries, with commas (10000,100000)")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--no-vectors", action="store_true")
    parser.add_argument("--folder", type=Path, help="where to build (a temporary folder, removed at the end)")
    options = parser.parse_args()
    for size in map(int, options.sizes.split(",")):
        folder = Path(tempfile.mkdtemp(prefix="archive-speed-", dir=options.folder))
        try:
            measure(size, folder, options.queries, not options.no_vectors)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
