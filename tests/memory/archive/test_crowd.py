"""Eight writer processes and four readers on one store; `CROWD_SECONDS=60` lets them go on for a minute."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import postgres
import pytest
from archives import KINDS, Stage, stage

from memory.archive import Archive, Principal

SECONDS = float(os.environ.get("CROWD_SECONDS", "1"))
WORKER = """
import asyncio, json, sys, time
from memory.archive import Archive, MarkdownBackend, PostgresBackend, Principal, SqliteBackend
kind, place, schema, role, me, seconds = sys.argv[1:]
backend = {"markdown": lambda: MarkdownBackend(place), "sqlite": lambda: SqliteBackend(place + "/archive.db"),
           "postgres": lambda: PostgresBackend(place, schema=schema)}[kind]()
archive, who = Archive(backend), Principal("main", me)

async def work():
    kept, count, end = {}, 0, time.monotonic() + float(seconds)
    while time.monotonic() < end:
        count += 1
        if role == "reader":
            hits = (await archive.search(who, "shared words of many", limit=20)).hits
            assert len({hit.entry.key for hit in hits}) == len(hits), hits
            continue
        key = f"{me}-{count % 25}"
        if count % 7 == 0 and key in kept:
            await archive.forget(who, key)
            del kept[key]
        else:
            kept[key] = f"shared words of {me}, number {count}"
            await archive.store(who, key, kept[key])
    await archive.close()
    return {"kept": kept, "count": count}

print(json.dumps(asyncio.run(work())))
"""


def start(kept: Stage, role: str, number: int) -> subprocess.Popen[str]:
    place = postgres.url() if kept.kind == "postgres" else str(kept.folder / "memory")
    command = [sys.executable, "-c", WORKER, kept.kind, place, kept.schema, role, f"{role}{number}", str(SECONDS)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def answer(process: subprocess.Popen[str]) -> Any:
    out, errors = process.communicate(timeout=SECONDS + 60)
    assert process.returncode == 0, errors
    return json.loads(out)


@pytest.mark.parametrize("kind", KINDS)
def test_eight_writers_and_four_readers_lose_nothing(kind: str, tmp_path: Path) -> None:
    with stage(kind, tmp_path) as kept:
        writers = [start(kept, "writer", number) for number in range(8)]
        readers = [start(kept, "reader", number) for number in range(4)]
        wrote, read = [answer(each) for each in writers], [answer(each) for each in readers]
        assert all(each["count"] for each in wrote + read)
        wanted = {key: text for each in wrote for key, text in each["kept"].items()}
        archive = Archive(kept.backend())
        there = asyncio.run(contents(archive))
        assert there == wanted
        found = asyncio.run(archive.search(Principal("main"), "shared words", limit=100)).hits
        assert len(found) == min(100, len(wanted))


async def contents(archive: Archive) -> dict[str, str]:
    return {entry.key: entry.content async for entry in archive.entries()}
