from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import postgres

from memory.archive import Archive, Principal, keeping
from memory.archive.access import View
from memory.archive.entry import Entry
from memory.archive.postgres import PostgresBackend
from memory.archive.text import analyse

WRITERS, READERS, STORES = 8, 4, 20
WORDS = ["deploy", "rollout", "数据库", "部署", "release", "cat", "breakfast"]


def test_eight_writers_and_four_readers_lose_nothing_and_never_fail() -> None:
    failures: list[BaseException] = []
    done = threading.Event()
    with postgres.schema() as schema:

        def alone(work: Callable[[PostgresBackend], None]) -> Callable[[], None]:
            def run() -> None:
                backend = PostgresBackend(postgres.url(), schema=schema, max_connections=2)
                try:
                    work(backend)
                except BaseException as error:
                    failures.append(error)
                finally:
                    backend.close()

            return run

        def write(number: int) -> Callable[[PostgresBackend], None]:
            def work(backend: PostgresBackend) -> None:
                for turn in range(STORES):
                    key = "shared" if turn % 5 == 0 else f"{number}-{turn}"
                    entry = Entry(key=key, content=f"{WORDS[turn % 7]} {WORDS[number % 7]}", owner="main")
                    with backend.writing() as writer:
                        keeping.put(writer, entry, analyse(entry), View(), "")

            return work

        def read(backend: PostgresBackend) -> None:
            while not done.is_set():
                with backend.reading() as reader:
                    entries = reader.page(View(), 0, 1000)
                    assert len({each.entry.key for each in entries}) == len(entries)
                    assert set(reader.loose(View())) <= {each.id for each in entries}

        writers = [threading.Thread(target=alone(write(number))) for number in range(WRITERS)]
        readers = [threading.Thread(target=alone(read)) for _ in range(READERS)]
        for thread in writers + readers:
            thread.start()
        for thread in writers:
            thread.join()
        done.set()
        for thread in readers:
            thread.join()
        assert failures == []
        backend = PostgresBackend(postgres.url(), schema=schema)
        with backend.reading() as reader:
            found = {each.entry.key for each in reader.page(View(), 0, 1000)}
        backend.close()
    own = {f"{number}-{turn}" for number in range(WRITERS) for turn in range(STORES) if turn % 5}
    assert found == own | {"shared"}


def test_more_calls_at_once_than_connections_wait_for_their_turn_however_long() -> None:
    with postgres.schema() as schema:
        backend = PostgresBackend(postgres.url(), schema=schema, max_connections=2, patience_s=0.2)
        archive, me = Archive(backend), Principal("main")

        async def everybody() -> None:
            await archive.store(me, "first", "words")
            with backend.reading(), backend.reading():  # nobody else has a turn for longer than the patience
                calls = [
                    archive.store(me, f"k{n}", "words") if n % 2 else archive.search(me, "words") for n in range(60)
                ]
                waiting = asyncio.gather(*calls)
                await asyncio.sleep(0.8)
            await waiting

        asyncio.run(everybody())
        assert asyncio.run(archive.stats())["entries"] == 31
        backend.close()
