from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from typing import Literal

import postgres
import pytest
from cut_proxy import CutProxy

from memory.archive import Archive, Principal
from memory.archive.access import View
from memory.archive.entry import ArchiveInterrupted, ArchiveUnavailable, Entry
from memory.archive.postgres import PostgresBackend
from memory.archive.text import analyse

MAIN = Principal("main")


@pytest.fixture(scope="module")
def server() -> Iterator[postgres.PostgresServer]:
    with postgres.temporary_server("crash", {"fsync": "off"}) as server:  # the system goes on, so it writes what it got
        yield server


@pytest.fixture
def proxy(server: postgres.PostgresServer) -> Iterator[CutProxy]:
    with CutProxy(server.port) as proxy:
        yield proxy


def store(backend: PostgresBackend, key: str) -> None:
    with backend.writing() as writer:
        entry = Entry(key=key, content=f"about {key}")
        writer.remove([each.id for each in writer.find(View(), key)])
        writer.insert(entry, analyse(entry))


def keys(backend: PostgresBackend) -> set[str]:
    with backend.reading() as reader:
        return {each.entry.key for each in reader.page(View(), 0, 10_000)}


def test_what_was_acknowledged_is_there_after_the_server_was_killed(server: postgres.PostgresServer) -> None:
    backend = PostgresBackend(server.url, schema="killed")
    kept: set[str] = set()
    halfway, back = threading.Event(), threading.Event()

    def write(number: int) -> None:
        for turn in range(250):
            key = f"{number}-{turn}"
            while key not in kept:
                try:
                    store(backend, key)
                    kept.add(key)
                except ArchiveUnavailable:
                    back.wait()
            if len(kept) > 400:
                halfway.set()

    writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for writer in writers:
        writer.start()
    halfway.wait()
    server.kill()
    promised = set(kept)
    server.start()
    assert promised <= keys(backend)
    back.set()
    for writer in writers:
        writer.join()
    assert keys(backend) == kept
    assert len(kept) == 1000
    backend.close()


def test_after_a_restart_the_next_call_works(server: postgres.PostgresServer) -> None:
    backend = PostgresBackend(server.url, schema="restarted", patience_s=0.3)
    store(backend, "a")
    readings = [backend.reading() for _ in range(5)]
    for reading in readings:
        reading.__enter__()
    for reading in readings:
        reading.__exit__(None, None, None)
    server.stop()
    for _ in range(2):  # it might come back in a moment, and did not
        with pytest.raises(ArchiveUnavailable, match="cannot be reached"):
            keys(backend)
    server.start()
    assert keys(backend) == {"a"}
    store(backend, "b")
    assert keys(backend) == {"a", "b"}
    backend.close()


def test_a_server_that_is_just_starting_is_waited_for(server: postgres.PostgresServer) -> None:
    backend = PostgresBackend(server.url, schema="starting")
    store(backend, "a")
    server.kill()
    start = threading.Thread(target=server.start)
    start.start()
    while True:  # nothing listens for a moment, then there is a server that is not ready
        try:
            assert keys(backend) == {"a"}
            break
        except ArchiveUnavailable as error:
            assert "cannot be reached" in str(error)
            time.sleep(0.005)
    start.join()
    backend.close()


def test_a_connection_lost_in_the_middle_of_a_block_is_said_and_nothing_of_it_kept(
    server: postgres.PostgresServer, proxy: CutProxy
) -> None:
    backend = PostgresBackend(server.tcp_url(port=proxy.port), schema="middle")
    store(backend, "a")
    proxy.cut_at("INSERT INTO entries", "after")
    with pytest.raises(ArchiveInterrupted, match="broke off the connection"):
        store(backend, "b")
    assert keys(backend) == {"a"}
    store(backend, "b")
    assert (keys(backend), proxy.cuts) == ({"a", "b"}, 1)
    backend.close()


def test_a_commit_that_was_done_and_not_answered_counts_as_done(
    server: postgres.PostgresServer, proxy: CutProxy
) -> None:
    backend = PostgresBackend(server.tcp_url(port=proxy.port), schema="committed")
    store(backend, "a")
    proxy.cut_at("COMMIT", "after")
    store(backend, "b")
    assert (keys(backend), proxy.cuts) == ({"a", "b"}, 1)
    backend.close()


def test_a_commit_that_never_arrived_is_told_from_one_that_was_done(
    server: postgres.PostgresServer, proxy: CutProxy
) -> None:
    backend = PostgresBackend(server.tcp_url(port=proxy.port), schema="uncommitted")
    store(backend, "a")
    proxy.cut_at("COMMIT", "before")
    with pytest.raises(ArchiveInterrupted, match="before anything was kept"):
        store(backend, "b")
    assert (keys(backend), proxy.cuts) == ({"a"}, 1)
    backend.close()


def test_a_commit_that_nobody_can_tell_of_is_left_open(server: postgres.PostgresServer, proxy: CutProxy) -> None:
    backend = PostgresBackend(server.tcp_url(port=proxy.port), schema="unknown", patience_s=0.3)
    store(backend, "a")
    proxy.cut_at("COMMIT", "before")
    proxy.close()
    with pytest.raises(ArchiveUnavailable, match="look before you store again") as caught:
        store(backend, "b")
    assert not isinstance(caught.value, ArchiveInterrupted)
    backend.close()


@pytest.mark.parametrize(
    ("word", "when"), [("INSERT INTO entries", "after"), ("COMMIT", "before"), ("COMMIT", "after")]
)
def test_a_call_whose_connection_breaks_off_is_made_once_more(
    server: postgres.PostgresServer, proxy: CutProxy, word: str, when: Literal["before", "after"]
) -> None:
    backend = PostgresBackend(server.tcp_url(port=proxy.port), schema=f"again{word[0]}{when}")
    archive = Archive(backend)
    asyncio.run(archive.store(MAIN, "a", "words"))
    proxy.cut_at(word, when)
    assert asyncio.run(archive.store(MAIN, "b", "words")).status == "created"
    proxy.cut_at("FROM vocables", "before")
    assert [hit.entry.key for hit in asyncio.run(archive.search(MAIN, "words")).hits] == ["b", "a"]
    assert proxy.cuts == 2
    backend.close()


def test_a_restart_of_the_server_fails_no_call(server: postgres.PostgresServer) -> None:
    backend = PostgresBackend(server.url, schema="seamless", patience_s=30)
    archive = Archive(backend)
    restarted = threading.Event()

    def restart() -> None:
        server.stop()
        server.start()
        restarted.set()

    async def use(number: int) -> int:
        count = 0
        while count < 5 or not restarted.is_set():
            await archive.store(MAIN, f"{number}-{count}", "words")
            await archive.search(MAIN, "words")
            count += 1
        return count

    async def everybody() -> int:
        await archive.store(MAIN, "first", "words")
        threading.Thread(target=restart).start()
        return sum(await asyncio.gather(*(use(number) for number in range(4))))

    assert asyncio.run(everybody()) + 1 == len(keys(backend))
    backend.close()
