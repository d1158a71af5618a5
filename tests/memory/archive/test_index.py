"""Folding changes no answer: blocks hold what the entries hold."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from archives import NOON

from memory.archive import Entry, SqliteBackend, View, index
from memory.archive.backend import Block, Reader
from memory.archive.entry import Filter
from memory.archive.text import Terms, analyse
from memory.archive.words import TextSearch

WORDS = [f"w{number}" for number in range(60)] + ["deploy", "deployed", "deployment", "数据库", "猫"]


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[SqliteBackend]:
    backend = SqliteBackend(tmp_path / "archive.db")
    yield backend
    backend.close()


def entry(rng: random.Random, number: int) -> Entry:
    text = " ".join(rng.choices(WORDS, k=rng.randint(1, 12)))
    return Entry(f"k{number}", text, rng.choice(["core", "notes"]), owner=rng.choice("ab"), created=NOON, updated=NOON)


def held(reader: Reader) -> dict[int, dict[str, int]]:
    """Return what the blocks say of each entry."""
    vocables = {each.id: each for owner in "ab" for each in reader.with_prefixes(owner, [""], 10_000)}
    found: dict[int, dict[str, int]] = {}
    rows = Counter[int]()
    for block in reader.blocks(list(vocables)):
        steps, _, counts = index.split(block.data)
        rows[block.vocable] += len(counts)
        for step, count in zip(index.unpacked("I", steps), counts, strict=True):
            found.setdefault(block.first + step, {})[vocables[block.vocable].term] = count
    assert rows == {vocable.id: vocable.entries for vocable in vocables.values()}
    return found


def test_blocks_hold_the_terms_of_every_entry_through_writes_and_removals(
    backend: SqliteBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "BLOCK_ROWS", 16)
    rng = random.Random(3)
    kept: dict[int, tuple[str, Terms]] = {}
    for turn in range(30):
        with backend.writing() as writer:
            for number in range(20):
                fresh = entry(rng, turn * 100 + number)
                kept[writer.insert(fresh, analyse(fresh))] = (fresh.owner, analyse(fresh))
            for number in rng.sample(sorted(kept), 8):
                writer.remove([number])
                del kept[number]
            index.fold(writer, at=30)
    with backend.writing() as writer:
        index.fold_all(writer)
    with backend.reading() as reader:
        assert held(reader) == {number: dict(terms.counts) for number, (_, terms) in kept.items()}
        assert reader.loose(View()) == reader.gone(View()) == []
        for partition in reader.partitions(None):
            theirs = [terms for owner, terms in kept.values() if owner == partition.owner]
            assert (partition.entries, partition.length) == (len(theirs), sum(terms.length for terms in theirs))


def test_an_entry_goes_with_the_terms_that_it_came_with_whatever_the_analyser_says_by_then(
    backend: SqliteBackend,
) -> None:
    with backend.writing() as writer:
        number = writer.insert(Entry("HTTPServer", "x", owner="a"), Terms({"httpserver": 1, "older": 1}, 2))
        index.fold_all(writer)
        writer.remove([number])
        index.fold_all(writer)
        assert held(writer) == {}
        assert [(each.entries, each.length) for each in writer.partitions(None)] == []


def test_an_answer_is_the_same_whether_entries_are_loose_folded_or_gone(backend: SqliteBackend) -> None:
    rng = random.Random(5)
    with backend.writing() as writer:
        ids = []
        for number in range(200):
            fresh = entry(rng, number)
            ids.append(writer.insert(fresh, analyse(fresh)))
        writer.remove(ids[:40])
    queries = [" ".join(rng.choices(WORDS, k=3)) for _ in range(30)]
    views = [View(), View(owner="a")]

    def answers() -> list[tuple[list[int], list[float]]]:
        search = TextSearch()
        found = []
        with backend.reading() as reader:
            for view in views:
                for query in queries:
                    with search.sight(reader, view, query, Filter("notes" if len(query) % 2 else None)) as known:
                        scores = known.scores()
                    found.append((scores.ids.tolist(), scores.values.tolist()))
        return found

    loose = answers()
    with backend.writing() as writer:
        index.fold_all(writer)
    assert answers() == loose
    with backend.writing() as writer:
        spare = entry(rng, 999)
        number = writer.insert(spare, analyse(spare))
        index.fold_all(writer)
    with backend.writing() as writer:
        writer.remove([number])
    with backend.reading() as reader:
        assert reader.gone(View()) == [number]
    assert answers() == loose


def test_a_block_is_cut_when_it_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "BLOCK_ROWS", 4)
    rows = index.Rows()
    for number in range(10, 20):
        rows.add(number, 7, 1)
    first, second, third = index.joined(1, None, rows)
    assert [block.first for block in (first, second, third)] == [10, 14, 18]
    assert [len(block.data) // index.ROW_BYTES for block in (first, second, third)] == [4, 4, 2]
    more = index.Rows()
    more.add(25, 300, 255)
    (last,) = index.joined(1, third, more)
    assert last.first == 18
    assert list(index.unpacked("I", index.split(last.data)[0])) == [0, 1, 7]
    assert (
        index.without(last, [19, 25, 26, 3]).data
        == Block(1, 18, third.data[:4] + third.data[8:10] + third.data[12:13]).data
    )
