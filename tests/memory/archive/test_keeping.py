"""Which entries a key stands for, in a store, a forget and an import: on each of the three backends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from archives import KINDS, NOON, Stage, found, stage

from memory.archive import Archive, ArchiveProvider, ArchiveRefusal, Entry, EntryMissing, Principal

ALICE, BOB, CAROL = Principal("alice", "s1"), Principal("bob", "s2"), Principal("carol", "s3")
run = asyncio.run


@pytest.fixture(params=KINDS)
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    with stage(request.param, tmp_path) as opened:
        yield opened


def held(archive: Archive) -> list[tuple[str, str]]:
    async def contents() -> list[tuple[str, str]]:
        return [(entry.owner, entry.content) async for entry in archive.entries()]

    return sorted(run(contents()))


def preview(archive: Archive, who: Principal, name: str, key: str) -> str:
    tools = {tool.name: tool for tool in ArchiveProvider(archive, who).tools()}
    return run(tools[name].preview_of(json.dumps({"key": key, "content": "new"})))


def talk_and_fact(archive: Archive) -> None:
    """Keep `k` twice: neither of the two sees the other's."""
    run(archive.store(ALICE, "k", "draft", category="conversation"))
    run(archive.store(BOB, "k", "fact one"))


def test_a_store_replaces_all_that_its_key_means_whoever_owns_it(kept: Stage) -> None:
    archive = kept.archive()
    talk_and_fact(archive)
    assert all(text in preview(archive, ALICE, "memory_store", "k") for text in ("draft", "fact one"))
    kept.later(hours=1)
    assert run(archive.store(ALICE, "k", "fact two")).status == "updated"
    assert held(archive) == [("alice", "fact two")]
    assert run(archive.get(BOB, "k")).created == NOON


def test_a_forget_removes_all_that_its_key_means_whoever_owns_it(kept: Stage) -> None:
    archive = kept.archive()
    talk_and_fact(archive)
    assert all(text in preview(archive, ALICE, "memory_forget", "k") for text in ("draft", "fact one"))
    assert run(archive.forget(ALICE, "k")).content == "draft"
    for who in (ALICE, BOB):
        with pytest.raises(EntryMissing):
            run(archive.get(who, "k"))
    assert held(archive) == []


def test_what_one_cannot_see_is_no_part_of_a_key(kept: Stage) -> None:
    archive = kept.archive()
    talk_and_fact(archive)
    run(archive.store(CAROL, "k", "fact two"))
    assert held(archive) == [("alice", "draft"), ("bob", "fact two")]
    run(archive.forget(CAROL, "k"))
    assert held(archive) == [("alice", "draft")]


def test_keys_that_access_control_kept_apart_are_one_when_it_is_off(kept: Stage) -> None:
    guarded = kept.archive(acl=True)
    run(guarded.store(ALICE, "k", "of alice"))
    kept.later(hours=1)
    run(guarded.store(BOB, "k", "of bob"))
    archive = kept.archive()
    assert [run(archive.get(who, "k")).content for who in (ALICE, BOB, CAROL)] == ["of alice", "of bob", "of alice"]
    run(archive.store(BOB, "k", "new"))
    assert held(archive) == [("bob", "new")]
    assert run(found(archive, CAROL, "alice new")) == ["k"]


def test_an_import_replaces_only_the_same_owner_key_and_scope(kept: Stage) -> None:
    rows = [
        Entry("k", "talk", "conversation", owner="main", session="s1", created=NOON, updated=NOON),
        Entry("k", "fact", "api", owner="main", session="s1", created=NOON, updated=NOON),
        Entry("k", "other talk", "conversation", owner="main", session="s2", created=NOON, updated=NOON),
        Entry("k", "of bob", owner="bob", session="s1", created=NOON, updated=NOON),
    ]
    for order in (rows, rows[::-1]):
        archive = kept.archive()
        run(archive.put_all(order))
        assert held(archive) == [("bob", "of bob"), ("main", "fact"), ("main", "other talk"), ("main", "talk")]
        assert run(archive.put_all(order)) == (0, 4)
        run(archive.put_all([Entry("k", "newer fact", owner="main", created=NOON, updated=NOON)]))
        assert ("main", "newer fact") in held(archive)
        assert ("main", "fact") not in held(archive)


@pytest.mark.parametrize("bad", [Entry("b", "words", "../x"), Entry("b", "words", owner="\ud800")])
def test_an_import_checks_every_row_before_it_keeps_one(kept: Stage, bad: Entry) -> None:
    archive = kept.archive()
    with pytest.raises(ArchiveRefusal):
        run(archive.put_all([*(Entry(f"k{n}", "words") for n in range(2_100)), bad]))
    assert held(archive) == []


def test_metadata_that_only_spells_a_nul_comes_back(kept: Stage) -> None:
    metadata = {"a": "\\u0000", "b\\\\u0000": ["\\\\u0000"]}
    run(kept.archive().store(ALICE, "k", "words", metadata=metadata))
    assert run(kept.archive().get(ALICE, "k")).metadata == metadata


def test_the_longest_name_of_a_category_is_the_same_everywhere(kept: Stage) -> None:
    archive = kept.archive()
    run(archive.store(ALICE, "k", "words", category="\U00020000" * 50))
    with pytest.raises(ArchiveRefusal, match="200 bytes"):
        run(archive.store(ALICE, "k", "words", category="\U00020000" * 51))


def test_a_blank_tag_is_refused_and_never_lifts_a_filter(kept: Stage) -> None:
    archive = kept.archive()
    run(archive.store(ALICE, "k", "words"))
    for work in (archive.search(ALICE, "words", tags=[" "]), archive.store(ALICE, "k", "words", tags=["a", ""])):
        with pytest.raises(ArchiveRefusal, match="tags"):
            run(work)


@pytest.mark.parametrize("query", ["", "?", "words"])
def test_vector_search_without_an_embedder_is_refused_whatever_is_asked(kept: Stage, query: str) -> None:
    with pytest.raises(ArchiveRefusal, match="vector"):
        run(kept.archive().search(ALICE, query, search_type="vector"))
