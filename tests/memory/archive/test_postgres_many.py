from __future__ import annotations

import threading
from collections.abc import Callable

import postgres

from memory.archive import keeping
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
