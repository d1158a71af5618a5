from __future__ import annotations

import socket
import socketserver
import sys
import threading
from collections.abc import Iterator

import postgres
import psycopg
import pytest

from memory.archive.access import View
from memory.archive.entry import ArchiveUnavailable, Entry
from memory.archive.postgres import PostgresBackend
from memory.archive.postgres_errors import server_name
from memory.archive.text import analyse

SECRET = "hunter2-hunter2"
MACHINERY = ["psycopg", "OperationalError", "FATAL", "Traceback", "conninfo", "SQLSTATE", SECRET, postgres.PASSWORD]
GUEST = {"user": "guest", "password": SECRET}


@pytest.fixture(scope="module")
def server() -> Iterator[postgres.PostgresServer]:
    settings = {"max_connections": "12", "superuser_reserved_connections": "3", "fsync": "off"}
    with postgres.temporary_server("errors", settings) as server:
        server.execute(f"CREATE ROLE guest LOGIN PASSWORD '{SECRET}'")
        yield server


def refusal(url: str, *, schema: str = "memory", write: bool = False) -> str:
    """Use the archive at `url` and return the sentence it refuses with."""
    backend = PostgresBackend(url, schema=schema)
    try:
        with pytest.raises(ArchiveUnavailable) as caught:
            if write:
                store(backend)
            else:
                look(backend)
    finally:
        backend.close()
    sentence = str(caught.value)
    assert not [word for word in MACHINERY if word in sentence]
    assert "\n" not in sentence
    return sentence


def look(backend: PostgresBackend) -> int:
    with backend.reading() as reader:
        return len(reader.page(View(), 0, 1000))


def store(backend: PostgresBackend) -> int:
    with backend.writing() as writer:
        entry = Entry(key="key", content="x")
        writer.remove([each.id for each in writer.find(View(), "key")])
        return writer.insert(entry, analyse(entry))


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_server_that_is_not_there_is_named(server: postgres.PostgresServer) -> None:
    port = closed_port()
    assert f"127.0.0.1:{port}/postgres cannot be reached" in refusal(server.tcp_url(port=port))
    assert "/nowhere:5432/x cannot be reached" in refusal("postgresql:///x?host=/nowhere&port=5432")


def test_a_server_that_does_not_answer_is_given_up() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"postgresql://me:{SECRET}@127.0.0.1:{silent.getsockname()[1]}/x?connect_timeout=2"
        assert "did not answer in time" in refusal(url)


def test_a_server_of_another_kind_is_told_from_postgres() -> None:
    class Web(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(1000)
            self.request.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with socketserver.TCPServer(("127.0.0.1", 0), Web) as web:
        threading.Thread(target=web.serve_forever, args=(0.02,), daemon=True).start()
        port = web.server_address[1]
        assert "is no Postgres server" in refusal(f"postgresql://me:{SECRET}@127.0.0.1:{port}/x?sslmode=disable")
        assert "is no Postgres server" in refusal(f"postgresql://me:{SECRET}@127.0.0.1:{port}/x?sslmode=require")
        web.shutdown()


def test_a_wrong_password_is_said_and_not_shown(server: postgres.PostgresServer) -> None:
    assert "refuses the password" in refusal(server.tcp_url(password=SECRET))
    assert "wants a password" in refusal(f"postgresql://guest@127.0.0.1:{server.port}/postgres")


def test_a_database_that_is_not_there_is_named(server: postgres.PostgresServer) -> None:
    assert '"nothere" does not exist' in refusal(server.url.replace("/postgres?", "/nothere?"))


@pytest.mark.parametrize(
    "url", [f"postgresql://me:{SECRET}%zz@host/x", f"me {SECRET} host", f"host=h password='{SECRET}"]
)
def test_a_url_that_cannot_be_read_is_not_repeated(url: str) -> None:
    assert "URL of Postgres cannot be read" in refusal(url)


def test_a_user_without_rights_is_told_what_to_grant(server: postgres.PostgresServer) -> None:
    assert "grant it schema 'mine'" in refusal(server.tcp_url(**GUEST), schema="mine")


def test_a_user_with_rights_on_the_tables_alone_reads_and_writes(server: postgres.PostgresServer) -> None:
    owner = PostgresBackend(server.url, schema="lent")
    store(owner)
    server.execute("GRANT USAGE ON SCHEMA lent TO guest; GRANT SELECT ON ALL TABLES IN SCHEMA lent TO guest")
    guest = PostgresBackend(server.tcp_url(**GUEST), schema="lent")
    assert look(guest) == 1
    with pytest.raises(ArchiveUnavailable, match="grant it schema 'lent' with its tables"):
        store(guest)
    server.execute("GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA lent TO guest")
    store(guest)
    assert look(owner) == 1
    owner.close()
    guest.close()


def test_a_server_set_to_read_only_serves_reads(server: postgres.PostgresServer) -> None:
    owner = PostgresBackend(server.url, schema="frozen")
    store(owner)
    owner.close()
    url = f"{server.url}&options=-cdefault_transaction_read_only%3Don"
    backend = PostgresBackend(url, schema="frozen")
    assert look(backend) == 1
    backend.close()
    assert "is read-only" in refusal(url, schema="frozen", write=True)
    assert "holds no archive in schema 'fresh'" in refusal(url, schema="fresh")


def test_a_database_of_another_encoding_is_refused(server: postgres.PostgresServer) -> None:
    server.execute("CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    assert "keeps text as LATIN1" in refusal(server.url.replace("/postgres?", "/latin?"))


def test_a_server_without_a_free_connection_is_waited_for_and_then_named(server: postgres.PostgresServer) -> None:
    backend = PostgresBackend(server.tcp_url(**GUEST), patience_s=0.5)
    held: list[psycopg.Connection[tuple[object, ...]]] = []
    try:
        with pytest.raises(psycopg.OperationalError):
            while True:
                held.append(psycopg.connect(server.tcp_url(**GUEST)))
        with pytest.raises(ArchiveUnavailable, match="has no connection left: lower max_connections"):
            look(backend)
    finally:
        for link in held:
            link.close()
        backend.close()


def test_more_threads_than_connections_take_turns(server: postgres.PostgresServer) -> None:
    backend = PostgresBackend(server.url, schema="turns", max_connections=1)
    store(backend)
    with backend.reading() as reader:
        assert len(reader.page(View(), 0, 10)) == 1
    assert look(backend) == 1
    backend.close()


def test_a_writer_that_holds_on_is_named_to_the_one_who_waits(server: postgres.PostgresServer) -> None:
    first, second = (PostgresBackend(server.url, schema="held", patience_s=seconds) for seconds in (10, 0.2))
    store(first)
    with (
        first.writing(),
        pytest.raises(ArchiveUnavailable, match=r"another program has been writing to schema 'held' for 0\.2 s"),
    ):
        store(second)
    store(second)
    first.close()
    second.close()


def test_lost_tables_are_named(server: postgres.PostgresServer) -> None:
    backend = PostgresBackend(server.url, schema="lost")
    store(backend)
    server.execute("DROP SCHEMA lost CASCADE")
    with pytest.raises(ArchiveUnavailable, match="has lost tables of schema 'lost'"):
        look(backend)
    backend.close()


def test_without_the_extra_the_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg_pool", None)
    assert "my-agent-core[postgres]" in refusal("postgresql://host/x")


@pytest.mark.parametrize(
    ("url", "name"),
    [
        (f"postgresql://me:{SECRET}@db.example:5433/mine", "db.example:5433/mine"),
        (f"postgres://me:{SECRET}@[::1]/mine?sslmode=require", "[::1]/mine"),
        (f"postgresql:///mine?host=/run/pg&port=1&user=me&password={SECRET}", "/run/pg:1/mine"),
        (f"host=db.example port=1 password={SECRET} dbname=mine", "db.example:1/mine"),
        (f"password='{SECRET} x' dbname='mine'", "this machine/mine"),
        ("", "this machine"),
    ],
)
def test_a_server_is_named_without_its_password(url: str, name: str) -> None:
    assert server_name(url) == name


def test_a_user_who_may_not_make_the_table_of_vectors_finds_by_words(server: postgres.PostgresServer) -> None:
    owner = PostgresBackend(server.url, schema="wordy")
    store(owner)
    owner.close()
    server.execute("DROP TABLE wordy.vectors")
    server.execute("GRANT USAGE ON SCHEMA wordy TO guest; GRANT SELECT ON ALL TABLES IN SCHEMA wordy TO guest")
    guest = PostgresBackend(server.tcp_url(**GUEST), schema="wordy")
    assert look(guest) == 1
    guest.close()
    owner = PostgresBackend(server.url, schema="wordy")
    store(owner)
    assert server.execute("SELECT count(*) FROM wordy.vectors") == [(0,)]
    owner.close()
