"""What the archive costs on a Postgres server: searches at several sizes, and many processes at once.

    python benchmarks/postgres_speed.py                        10k and 100k entries, on a server started for it
    python benchmarks/postgres_speed.py --index                the 100k once more with the approximate index (minutes)
    python benchmarks/postgres_speed.py --stress 60            eight writer and four reader processes for a minute
    python benchmarks/postgres_speed.py --url URL              there, in schemas `speed_...`, dropped afterwards

Times are wall, median and 95th percentile in ms, over the socket of a server on the same machine; entries, queries and
vectors are those of archive_speed.py. Goals on a quiet machine: text 10 / 60 ms and hybrid 15 / 80 ms at 10k / 100k.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from archive_speed import WHO, Given, Words, fill, put_vectors, times

from memory.archive import Archive, PostgresBackend, Principal

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "support"))
from postgres import temporary_server

MODEL = f"{Given.identity} passages/1"
WRITERS, READERS = 8, 4


def measure(url: str, size: int, queries: int, index: bool) -> None:
    rng = random.Random(size)
    words = Words(rng, 50_000)
    backend = PostgresBackend(url, schema=f"speed_{size}")
    archive = Archive(backend, embedder=Given())
    runner = asyncio.Runner()
    started = time.perf_counter()
    runner.run(fill(archive, words, size, rng))
    filled = time.perf_counter() - started
    put_vectors(backend, MODEL, size)
    with psycopg.connect(url, autocommit=True) as link:
        link.execute("VACUUM ANALYZE")  # as the server does by itself within a minute
    print(f"\n{size:,} entries: filled in {filled:.0f} s, with vectors in {time.perf_counter() - started:.0f} s")
    asked = [" ".join(words.some(rng.randint(3, 8))) for _ in range(queries + 5)]
    compare(runner, archive, asked, "")
    if index:
        started = time.perf_counter()
        backend.index_from_rows = size
        backend.tune()
        print(f"  index built in {time.perf_counter() - started:.0f} s")
        compare(runner, archive, asked, " with the index")
    new = [f"fresh-{number}" for number in range(queries + 5)]
    report(
        "store",
        times(lambda key: runner.run(archive.store(WHO, key, " ".join(words.some(20)))), new, time.perf_counter),
    )
    runner.run(archive.close())
    runner.close()
    drop(url, f"speed_{size}")


def compare(runner: asyncio.Runner, archive: Archive, asked: list[str], note: str) -> None:
    for kind in ("text", "vector", "hybrid"):

        def search(query: str, kind: str = kind) -> object:
            return runner.run(archive.search(WHO, query, search_type=kind))  # type: ignore[arg-type]

        report(f"{kind}{note}", times(search, asked, time.perf_counter))


def report(what: str, figures: tuple[float, float]) -> None:
    print(f"  {what:<24} median {figures[0]:7.1f}   95 % {figures[1]:7.1f}")


def stress(url: str, seconds: float) -> int:
    """Let processes write and read, then look for what was acknowledged. Returns the exit status."""
    roles = [("write", number) for number in range(WRITERS)] + [("read", number) for number in range(READERS)]
    command = [sys.executable, __file__, "--url", url, "--stress", str(seconds), "--role"]
    running = [subprocess.Popen([*command, role, str(number)], stdout=subprocess.PIPE) for role, number in roles]
    told = [json.loads(process.communicate()[0] or b'{"errors": ["it died"]}') for process in running]
    errors = [error for each in told for error in each["errors"]]
    kept = {key for each in told for key in each.get("kept", [])}
    backend = PostgresBackend(url, schema="speed_stress")
    archive = Archive(backend)

    async def keys() -> set[str]:
        return {entry.key async for entry in archive.entries()}

    there = asyncio.run(keys())
    lost = kept - there
    searches = sum(each.get("searches", 0) for each in told)
    print(f"{WRITERS} writers kept {len(kept)} entries, {READERS} readers made {searches} searches in {seconds:g} s")
    print(f"errors {len(errors)}, lost {len(lost)}", *errors[:3], sep="\n")
    backend.close()
    drop(url, "speed_stress")
    return int(bool(errors or lost))


async def play(url: str, role: str, number: int, seconds: float) -> None:
    """Be one of the processes; print what was kept and what went wrong."""
    archive = Archive(PostgresBackend(url, schema="speed_stress", max_connections=2))
    who, words, end = Principal(f"agent-{number % 3}"), Words(random.Random(number), 2_000), time.monotonic() + seconds
    kept: list[str] = []
    errors: list[str] = []
    searches = turn = 0
    while time.monotonic() < end:
        turn += 1
        try:
            if role == "read":
                await archive.search(who, " ".join(words.some(3)), search_type="text")
                searches += 1
            else:
                key = "shared" if turn % 10 == 0 else f"{number}-{turn}"
                await archive.store(who, key, " ".join(words.some(20)))
                kept.append(key)
        except (OSError, ValueError) as error:
            errors.append(f"{role} {number}: {error}")
    await archive.close()
    print(json.dumps({"kept": kept, "errors": errors, "searches": searches}))


def drop(url: str, schema: str) -> None:
    with psycopg.connect(url, autocommit=True) as link:
        link.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE".encode())


@contextmanager
def server(url: str) -> Iterator[str]:
    if url:
        yield url
        return
    with temporary_server("speed") as started:
        yield started.url


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--queries", type=int, default=60)
    parser.add_argument("--index", action="store_true", help="build the approximate index too")
    parser.add_argument("--stress", type=float, default=0, metavar="SECONDS")
    parser.add_argument("--url", default="")
    parser.add_argument("--role", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.role:
        asyncio.run(play(options.url, options.role[0], int(options.role[1]), options.stress))
        return 0
    with server(options.url) as url:
        if options.stress:
            return stress(url, options.stress)
        for size in options.sizes:
            measure(url, size, options.queries, options.index and size >= 50_000)
    return 0


if __name__ == "__main__":
    sys.exit(main())
