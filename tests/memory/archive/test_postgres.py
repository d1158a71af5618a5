from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import postgres
import psycopg
import pytest

from memory.archive.access import View
from memory.archive.embedder import EmbeddingUnavailable
from memory.archive.entry import ArchiveUnavailable, Entry
from memory.archive.postgres import PostgresBackend
from memory.archive.text import analyse

EVERYTHING = View()


@pytest.fixture
def schema() -> Iterator[str]:
    with postgres.schema() as name:
        yield name


@pytest.fixture
def backend(schema: str) -> Iterator[PostgresBackend]:
    backend = PostgresBackend(postgres.url(), schema=schema)
    yield backend
    backend.close()


def put(backend: PostgresBackend, *keys: str, owner: str = "main") -> list[int]:
    with backend.writing() as writer:
        entries = [Entry(key=key, content=f"about {key}", owner=owner) for key in keys]
        return [writer.insert(entry, analyse(entry)) for entry in entries]


def keys(backend: PostgresBackend) -> set[str]:
    with backend.reading() as reader:
        return {each.entry.key for each in reader.page(EVERYTHING, 0, 10_000)}


def execute(statement: str) -> list[tuple[object, ...]]:
    with psycopg.connect(postgres.url(), autocommit=True) as link:
        cursor = link.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def unit(*numbers: float) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    row = np.array(numbers, np.float32)
    return row / np.float32(np.linalg.norm(row))


def test_eight_threads_that_meet_an_empty_database_make_the_tables_once(schema: str) -> None:
    backends = [PostgresBackend(postgres.url(), schema=schema) for _ in range(8)]
    start, failures = threading.Barrier(8), list[BaseException]()

    def store(number: int) -> None:
        start.wait()
        try:
            put(backends[number], f"key {number}")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=store, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert keys(backends[0]) == {f"key {number}" for number in range(8)}
    for backend in backends:
        backend.close()


def test_a_block_that_raises_keeps_nothing(backend: PostgresBackend) -> None:
    put(backend, "before")
    with pytest.raises(KeyError), backend.writing() as writer:
        entry = Entry(key="inside", content="x")
        writer.insert(entry, analyse(entry))
        raise KeyError
    assert keys(backend) == {"before"}


def test_a_reader_sees_one_moment(backend: PostgresBackend) -> None:
    put(backend, "early")
    with backend.reading() as reader:
        assert len(reader.page(EVERYTHING, 0, 10)) == 1
        put(backend, "late")
        assert len(reader.page(EVERYTHING, 0, 10)) == 1


def test_a_second_writer_waits_for_the_first(backend: PostgresBackend, schema: str) -> None:
    other = PostgresBackend(postgres.url(), schema=schema)
    put(backend, "first")
    order = []

    def second() -> None:
        with other.writing() as writer:
            order.append(sorted(each.entry.key for each in writer.page(EVERYTHING, 0, 10)))

    with backend.writing() as writer:
        waiting = threading.Thread(target=second)
        waiting.start()
        entry = Entry(key="second", content="x")
        writer.insert(entry, analyse(entry))
        waiting.join(0.2)
        assert order == []
    waiting.join()
    assert order == [["first", "second"]]
    other.close()


def test_ids_rise_and_never_come_twice(backend: PostgresBackend) -> None:
    first, second = put(backend, "a", "b")
    with backend.writing() as writer:
        writer.remove([second])
    (third,) = put(backend, "b")
    assert first < second < third


def test_text_is_compared_by_code_point_whatever_the_database_sorts_by(backend: PostgresBackend) -> None:
    words = ["Z", "a", "é", "z", "部署", "🚀"]
    with backend.writing() as writer:
        writer.put_partition("main", 1, 1)
        writer.put_vocables("main", {f"pre{word}": (f"pre{word}", 1) for word in reversed(words)})
        found = writer.with_prefixes("main", ["pre"], 10)
        everybodys = writer.with_prefixes(None, ["pre"], 10)
    assert [vocable.term for vocable in found] == sorted((f"pre{word}" for word in words), key=lambda t: (len(t), t))
    assert everybodys == found


def test_vectors_come_back_bit_for_bit(backend: PostgresBackend) -> None:
    (number,) = put(backend, "a")
    rows = np.stack([unit(1 / 3, -1e-7, 0.1), unit(3e-39, 1, 2)])
    with backend.writing() as writer:
        writer.put_vectors("m/3", {number: rows, number + 1: rows})
    with backend.reading() as reader:
        found = reader.vectors("m/3", [number, number + 1])
        assert list(found) == [number]
        assert found[number].tobytes() == rows.tobytes()
        assert reader.vectors("other", [number]) == {}
        assert (reader.embedded(View(), "m/3"), reader.embedded(View(), "other")) == (1, 0)


def test_the_nearest_are_those_with_the_best_passage_and_their_owners_own(backend: PostgresBackend) -> None:
    one, two, three = put(backend, "one", "two", "three")
    (hers,) = put(backend, "hers", owner="alice")
    with backend.writing() as writer:
        far, near = unit(1, 3), unit(10, 1)
        writer.put_vectors("m", {one: np.stack([far, near]), two: np.stack([far]), hers: np.stack([near, near])})
        writer.put_vectors("m", {three: np.stack([unit(-1, 0)])})
    with backend.reading() as reader:
        assert reader.nearest("main", "m", unit(1, 0), 10) == [one, two]
        assert reader.nearest(None, "m", unit(1, 0), 2) == [one, hers]
        assert reader.nearest("bob", "m", unit(1, 0), 10) == []


def test_vectors_of_several_sizes_and_models_live_side_by_side(backend: PostgresBackend) -> None:
    small, large, changed = put(backend, "small", "large", "changed")
    with backend.writing() as writer:
        writer.put_vectors("m", {small: np.stack([unit(1, 0)]), changed: np.stack([unit(1, 0)])})
        writer.put_vectors("n", {large: np.stack([unit(*[1.0] * 1536)]), changed: np.stack([unit(0, 0, 1)])})
    with backend.reading() as reader:
        assert reader.nearest(None, "m", unit(1, 0), 10) == [small]
        assert reader.nearest(None, "n", unit(*[1.0] * 1536), 10) == [large]
        assert reader.nearest(None, "n", unit(0, 0, 1), 10) == [changed]
        assert {each.id for each in reader.unembedded(EVERYTHING, "n", 10)} == {small}


def test_enough_entries_are_found_though_one_has_most_of_the_passages(backend: PostgresBackend) -> None:
    long, *rest = put(backend, "long", "a", "b", "c")
    with backend.writing() as writer:
        writer.put_vectors("m", {long: np.stack([unit(1, 0)] * 50)})
        writer.put_vectors("m", {number: np.stack([unit(1, 1 + number)]) for number in rest})
    with backend.reading() as reader:
        assert reader.nearest(None, "m", unit(1, 0), 3) == [long, *rest[:2]]


def test_a_model_with_many_vectors_gets_an_index_and_finds_the_same(backend: PostgresBackend, schema: str) -> None:
    numbers = put(backend, *(f"key {n}" for n in range(300)))
    dice = np.random.default_rng(5)
    with backend.writing() as writer:
        writer.put_vectors("it's 100% m?", {n: unit(*dice.standard_normal(16))[None, :] for n in numbers})
    wanted = unit(*dice.standard_normal(16))
    with backend.reading() as reader:
        exact = reader.nearest(None, "it's 100% m?", wanted, 20)
    backend.tune()
    assert indexes(schema) == []
    backend.index_from_rows = 300
    backend.tune()
    backend.tune()
    (name,) = indexes(schema)
    with backend.reading() as reader:
        assert reader.nearest(None, "it's 100% m?", wanted, 20) == exact
        assert reader.nearest("main", "it's 100% m?", wanted, 20) == exact
    assert name.startswith("vectors_near_")


def test_building_everything_anew_builds_the_index_too(schema: str) -> None:
    backend = PostgresBackend(postgres.url(), schema=schema, index_from_rows=50)
    numbers = put(backend, *(f"key {n}" for n in range(50)))
    with backend.writing() as writer:
        writer.put_vectors("m", {n: unit(1, n)[None, :] for n in numbers})
    assert indexes(schema) == []
    with backend.writing() as writer:
        writer.clear()
    assert len(indexes(schema)) == 1
    backend.close()


def indexes(schema: str) -> list[str]:
    # Not of pg_indexes, which writes out the indexes of other schemas too: those of other tests are dropped meanwhile.
    statement = (
        "SELECT relname FROM pg_class JOIN pg_am ON pg_am.oid = relam "
        "JOIN pg_namespace AS space ON space.oid = relnamespace "
        f"WHERE amname = 'hnsw' AND nspname = '{schema}'"
    )
    return [str(name) for (name,) in execute(statement)]


def test_without_pgvector_entries_are_found_by_words_and_a_sentence_says_so() -> None:
    with postgres.temporary_server("bare", bare=True) as server:
        backend = PostgresBackend(server.url)
        (number,) = put(backend, "a")
        with backend.reading() as reader:
            assert [each.entry.key for each in reader.find(EVERYTHING, "a")] == ["a"]
            assert reader.unembedded(EVERYTHING, "m", 10) == []
            assert list(reader.troubles()) == []
            assert reader.nearest(None, "m", unit(1, 0), 10) == []
            assert ["pgvector" in sentence for sentence in reader.troubles()] == [True]
        with pytest.raises(EmbeddingUnavailable, match="pgvector"), backend.writing() as writer:
            writer.put_vectors("m", {number: np.stack([unit(1, 0)])})
        backend.close()


def test_nothing_is_set_for_a_session_so_that_a_pooler_may_change_it(schema: str) -> None:
    backend = PostgresBackend(postgres.url(), schema=schema, max_connections=1)
    (number,) = put(backend, "a")
    with backend.writing() as writer:
        writer.put_vectors("m", {number: np.stack([unit(1, 0)])})
    for _ in range(10):
        with backend.reading() as reader:
            reader.find(EVERYTHING, "a")
            reader.nearest(None, "m", unit(1, 0), 5)
    asked = "SELECT name, setting FROM pg_settings WHERE source = 'session' ORDER BY name"
    with backend._pool.transaction(["BEGIN"]) as (link, _):
        used = link.rows(asked)
        assert link.rows("SELECT count(*) FROM pg_prepared_statements") == [(0,)]
        assert link.rows("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()") == [
            (0,)
        ]
        assert link.rows("SELECT count(*) FROM pg_class WHERE relpersistence = 't'") == [(0,)]
    assert used == execute(asked)
    backend.close()


def test_a_standby_serves_reads_and_refuses_writes(tmp_path_factory: pytest.TempPathFactory) -> None:
    with postgres.temporary_server("primary") as primary:
        source = PostgresBackend(primary.url)
        put(source, "a")
        source.close()
        standby = primary.make_standby(primary.folder.with_name(f"{primary.folder.name}-standby"))
        try:
            backend = PostgresBackend(standby.url)
            assert keys(backend) == {"a"}
            with pytest.raises(ArchiveUnavailable, match="read-only"):
                put(backend, "b")
            backend.close()
            fresh = PostgresBackend(standby.url, schema="fresh")
            with pytest.raises(ArchiveUnavailable, match="read-only and holds no archive in schema 'fresh'"):
                keys(fresh)
            fresh.close()
        finally:
            standby.remove()


def test_traces_of_commits_are_swept_after_an_hour(backend: PostgresBackend, schema: str) -> None:
    put(backend, "a")
    execute(f"UPDATE \"{schema}\".commits SET at = now() - interval '61 minutes'")
    put(backend, "b")
    assert execute(f'SELECT count(*) FROM "{schema}".commits') == [(1,)]


def test_tables_of_a_newer_version_are_left_alone(backend: PostgresBackend, schema: str) -> None:
    put(backend, "a")
    execute(f'UPDATE "{schema}".my_agent_archive SET version = 99')
    late = PostgresBackend(postgres.url(), schema=schema)
    with pytest.raises(ArchiveUnavailable, match=r"newer version .*99.*upgrade"):
        put(late, "b")
    late.close()
    assert keys(backend) == {"a"}


def test_tables_of_another_program_are_left_alone(backend: PostgresBackend, schema: str) -> None:
    execute(f'CREATE SCHEMA "{schema}"')
    execute(f'CREATE TABLE "{schema}".entries (x int)')
    with pytest.raises(ArchiveUnavailable, match="another program"):
        put(backend, "a")
    assert execute(f"SELECT count(*) FROM pg_tables WHERE schemaname = '{schema}'") == [(1,)]


@pytest.mark.parametrize("name", ["", "pg_mine", "1st", 'a"b', "a b", "a;b", "x" * 64, "部" * 22, "a\0b"])
def test_a_schema_name_that_cannot_be_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="schema"):
        PostgresBackend(postgres.url(), schema=name)


@pytest.mark.parametrize("name", ["Mixed-Case", "记忆", "select"])
def test_a_schema_may_have_any_name_of_letters(name: str) -> None:
    backend = PostgresBackend(postgres.url(), schema=name)
    try:
        put(backend, "a")
        assert keys(backend) == {"a"}
    finally:
        backend.close()
        execute(f'DROP SCHEMA IF EXISTS "{name}" CASCADE')


def test_no_connection_is_made_before_the_first_use() -> None:
    backend = PostgresBackend("postgresql://me:secret@127.0.0.1:1/mine")
    assert (backend.place, backend.folders) == ("127.0.0.1:1/mine", [])
    backend.close()
    backend.close()


def test_a_backend_closed_in_the_middle_of_a_read_lets_it_end(backend: PostgresBackend) -> None:
    put(backend, "a")
    with backend.reading() as reader:
        backend.close()
        assert len(reader.page(EVERYTHING, 0, 10)) == 1
    assert keys(backend) == {"a"}


def test_a_closed_backend_lets_its_connections_go(schema: str) -> None:
    backend = PostgresBackend(f"{postgres.url()}&application_name={schema}", schema=schema)
    put(backend, "a")
    opened = f"SELECT count(*) FROM pg_stat_activity WHERE application_name = '{schema}'"
    assert execute(opened) == [(1,)]
    backend.close()
    for _ in range(200):
        if execute(opened) == [(0,)]:
            return
        threading.Event().wait(0.02)
    pytest.fail("a connection is still there")
