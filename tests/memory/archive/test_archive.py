"""The rules of the archive: one contract, on each of the three backends."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest
from archives import KINDS, NOON, Concepts, Stage, everything, found, stage

from memory.archive import ArchiveRefusal, EmbeddingUnavailable, Entry, EntryMissing, Principal, Retention

MAIN, ALICE, BOB, ROOT = (Principal(name, "s1") for name in ("main", "alice", "bob", "root"))
ELSEWHERE = Principal("main", "s2")
T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


@pytest.fixture(params=KINDS)
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    with stage(request.param, tmp_path) as opened:
        yield opened


def test_what_is_stored_comes_back_whole_in_another_process(kept: Stage) -> None:
    metadata = {"来源": "wiki", "n": 3, "nested": {"a": [1, 2]}}
    content = "# Title\n## other_key\n\n\t<!-- memory {} -->\n```\n## x"
    run(kept.archive().store(MAIN, "项目/甲 🚀", content, category="Notes", tags=["b", "a"], metadata=metadata))
    entry = run(kept.archive().get(MAIN, "项目/甲 🚀"))
    assert entry == Entry("项目/甲 🚀", content, "notes", ("b", "a"), metadata, "main", "s1", NOON, NOON)


def test_a_key_stored_again_keeps_its_birth_and_its_owner(kept: Stage) -> None:
    archive = kept.archive()
    assert run(archive.store(ALICE, "k", "old words")).status == "created"
    kept.later(days=1)
    again = run(archive.store(BOB, "k", "new text", category="notes"))
    assert (again.status, again.before and again.before.content) == ("updated", "old words")
    entry = run(archive.get(ALICE, "k"))
    assert (entry.owner, entry.created, entry.updated, entry.category) == ("alice", NOON, kept.now, "notes")
    assert run(found(archive, BOB, "old words")) == []
    assert run(found(archive, BOB, "text", category="core")) == []


def test_a_forgotten_key_is_gone_from_everything_and_free(kept: Stage) -> None:
    archive = kept.archive(vectors=True)
    run(archive.store(MAIN, "k", "the kitten sleeps"))
    assert run(archive.forget(MAIN, "k")).content == "the kitten sleeps"
    with pytest.raises(EntryMissing, match="'k'"):
        run(archive.get(MAIN, "k"))
    assert run(found(archive, MAIN, "pet kitten")) == []
    assert run(archive.store(MAIN, "k", "breakfast")).status == "created"
    assert run(found(archive, MAIN, "pet kitten")) == []


def test_daily_entries_are_hidden_when_their_days_are_over_and_swept_by_the_next_write(kept: Stage) -> None:
    archive = kept.archive(retention=Retention(daily_days=2))
    run(archive.store(MAIN, "d", "kakapo plan", category="daily"))
    kept.later(days=1)
    run(archive.store(MAIN, "d", "kakapo plans", category="daily"))
    kept.later(days=1)
    assert run(found(archive, MAIN, "kakapo")) == ["d"]
    kept.later(days=1)
    assert run(found(archive, MAIN, "kakapo")) == []
    with pytest.raises(EntryMissing):
        run(archive.forget(MAIN, "d"))
    assert ("main", "d", "s1") in run(everything(archive))
    run(archive.store(MAIN, "other", "words"))
    assert ("main", "d", "s1") not in run(everything(archive))


def test_an_expired_key_is_free_even_before_it_is_swept(kept: Stage) -> None:
    archive = kept.archive()
    run(archive.store(MAIN, "d", "first", category="daily"))
    kept.later(days=30)
    assert run(archive.store(MAIN, "d", "second", category="daily")).status == "created"
    assert run(archive.get(MAIN, "d")).created == kept.now


def test_conversations_do_not_see_each_other_nor_share_keys(kept: Stage) -> None:
    archive = kept.archive()
    run(archive.store(MAIN, "topic", "about loops", category="conversation"))
    assert run(archive.store(ELSEWHERE, "topic", "about trees", category="conversation")).status == "created"
    assert run(archive.get(MAIN, "topic")).content == "about loops"
    assert run(found(archive, ELSEWHERE, "loops trees")) == ["topic"]
    kept.later(days=4)
    assert run(found(archive, ELSEWHERE, "trees")) == []


def test_a_key_of_a_conversation_that_becomes_core_is_seen_everywhere(kept: Stage) -> None:
    archive = kept.archive()
    run(archive.store(MAIN, "topic", "about loops", category="conversation"))
    assert run(archive.store(MAIN, "topic", "about loops")).status == "updated"
    assert run(archive.get(ELSEWHERE, "topic")).content == "about loops"
    assert run(found(archive, MAIN, "loops")) == ["topic"]


def test_agents_under_access_control_have_each_their_own_keys(kept: Stage) -> None:
    archive = kept.archive(acl=True, admins=["root"])
    run(archive.store(ALICE, "k", "alice words"))
    assert run(archive.store(BOB, "k", "bob words")).status == "created"
    assert [run(archive.get(who, "k")).content for who in (ALICE, BOB)] == ["alice words", "bob words"]
    assert run(found(archive, BOB, "alice words")) == ["k"]
    assert run(archive.forget(BOB, "k")).owner == "bob"
    assert run(archive.get(ALICE, "k")).content == "alice words"


def test_a_forbidden_key_reads_like_a_missing_one(kept: Stage) -> None:
    archive = kept.archive(acl=True)
    run(archive.store(ALICE, "hidden!", "words"))
    for work in (archive.get, archive.forget):
        said = []
        for key in ("hidden!", "nothing!"):
            with pytest.raises(EntryMissing) as error:
                run(work(BOB, key))
            said.append(str(error.value).replace(key, ""))
        assert said[0] == said[1]


def test_an_administrator_means_his_own_entry_first_then_the_oldest_and_writes_his_own(kept: Stage) -> None:
    archive = kept.archive(acl=True, admins=["root"])
    for who in (BOB, ALICE):
        run(archive.store(who, "k", f"words of {who.agent}"))
        kept.later(hours=1)
    assert run(archive.get(ROOT, "k")).owner == "bob"
    assert run(archive.store(ROOT, "k", "words of root")).status == "created"
    assert run(archive.get(ROOT, "k")).owner == "root"
    assert len(run(found(archive, ROOT, "words"))) == 3
    assert [run(archive.forget(ROOT, "k")).owner for _ in range(3)] == ["root", "bob", "alice"]


def test_access_control_turned_on_later_hides_what_others_stored(kept: Stage) -> None:
    run(kept.archive().store(ALICE, "k", "alice words"))
    archive = kept.archive(acl=True)
    assert run(found(archive, BOB, "alice")) == []
    assert run(archive.store(ALICE, "k", "new words")).status == "updated"


def test_the_entries_of_others_do_not_push_out_ones_own(kept: Stage) -> None:
    archive = kept.archive(acl=True, vectors=True)
    for number in range(30):
        run(archive.store(ALICE, f"a{number}", "deploy deploy deploy"))
    run(archive.store(BOB, "mine", "one release among words"))
    for kind in ("text", "vector", "hybrid"):
        assert run(found(archive, BOB, "deploy release", limit=1, search_type=kind)) == ["mine"]


def test_category_and_tags_are_looked_at_before_the_limit(kept: Stage) -> None:
    archive = kept.archive(vectors=True)
    for number in range(30):
        run(archive.store(MAIN, f"n{number}", "deploy deploy", tags=["x"]))
    run(archive.store(MAIN, "one", "deploy once among many words", category="ops", tags=["x", "Y y"]))
    assert run(found(archive, MAIN, "deploy", category="ops", limit=1)) == ["one"]
    assert run(found(archive, MAIN, "deploy", tags=["Y y", "x"], limit=1)) == ["one"]
    assert run(found(archive, MAIN, "deploy", tags=["y Y"])) == []
    assert run(found(archive, MAIN, "deploy", tags=["Y y"], search_type="vector")) == ["one"]


def test_equal_scores_are_ordered_by_age_and_key(kept: Stage) -> None:
    archive = kept.archive()
    for key in ("b", "c", "a"):
        run(archive.store(MAIN, key, "same"))
    kept.later(seconds=1)
    run(archive.store(MAIN, "z", "same"))
    assert run(found(archive, MAIN, "same")) == ["z", "a", "b", "c"]


def test_the_best_score_is_one_and_the_list_is_cut_at_a_hundred(kept: Stage) -> None:
    archive = kept.archive()
    run(archive.put_all(Entry(f"k{number:03}", "huge entry", owner="main") for number in range(120)))
    hits = run(archive.search(MAIN, "huge", limit=10**9)).hits
    assert len(hits) == 100
    assert {hit.score for hit in hits} == {1.0}


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": -1}, "limit"),
        ({"search_type": "x"}, "hybrid"),
        ({"category": "../x"}, "category"),
    ],
)
def test_options_that_cannot_be_are_refused_by_name(kept: Stage, options: dict[str, Any], word: str) -> None:
    with pytest.raises(ArchiveRefusal, match=word):
        run(kept.archive().search(MAIN, "x", **options))


def test_meaning_finds_what_words_do_not(kept: Stage) -> None:
    archive = kept.archive(vectors=True)
    run(archive.store(MAIN, "cat", "My kitten is called Mochi"))
    run(archive.store(MAIN, "rel", "每周二上线新版本"))
    assert run(found(archive, MAIN, "宠物", search_type="vector")) == ["cat"]
    assert run(found(archive, MAIN, "deploy day")) == ["rel"]
    assert run(found(archive, MAIN, "宠物", search_type="text")) == []


def test_vectors_that_were_missed_are_made_up_by_the_next_query(kept: Stage) -> None:
    archive = kept.archive(vectors=True)
    kept.embedder.fail()
    assert "away" in run(archive.store(MAIN, "cat", "my kitten")).warning
    answer = run(archive.search(MAIN, "kitten"))
    assert ([hit.entry.key for hit in answer.hits], "away" in answer.warning) == (["cat"], True)
    with pytest.raises(ArchiveRefusal, match="away"):
        run(archive.search(MAIN, "kitten", search_type="vector"))
    kept.embedder.down = None
    assert run(found(archive, MAIN, "宠物", search_type="vector")) == ["cat"]


def test_a_search_says_how_many_entries_still_lack_vectors(kept: Stage) -> None:
    class Slow(Concepts):
        async def embed(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
            await asyncio.sleep(0 if query else 0.3)  # so that half a second does not do for all
            return await super().embed(texts, query=query)

    run(kept.archive().put_all(Entry(f"k{n}", f"kitten number {n}", owner="main") for n in range(60)))
    kept.embedder = Slow()
    archive = kept.archive(vectors=True)
    warning = run(archive.search(MAIN, "pet")).warning
    stats = run(archive.stats())
    assert warning == f"entries not searchable by meaning yet: {60 - stats['embedded']}"
    run(archive.reindex())
    assert run(archive.search(MAIN, "pet")).warning == ""


def test_a_search_says_why_vectors_could_not_be_made_up(kept: Stage) -> None:
    class Half(Concepts):
        async def embed(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
            if not query:
                raise EmbeddingUnavailable("the provider takes no texts")
            return await super().embed(texts, query=query)

    run(kept.archive().store(MAIN, "k", "my kitten"))
    kept.embedder = Half()
    answer = run(kept.archive(vectors=True).search(MAIN, "kitten"))
    assert answer.warning == "entries not searchable by meaning yet: 1 (the provider takes no texts)"
    assert [hit.entry.key for hit in answer.hits] == ["k"]


def test_vectors_of_another_model_are_never_compared(kept: Stage) -> None:
    run(kept.archive(vectors=True).store(MAIN, "k", "my kitten"))
    kept.embedder = Concepts("other/5", 5)
    archive = kept.archive(vectors=True)
    assert run(found(archive, MAIN, "pet", search_type="vector")) == ["k"]
    run(archive.store(MAIN, "k", "my database"))
    assert run(found(archive, MAIN, "pet", search_type="vector")) == []
    assert run(archive.stats())["embedded"] == 1


def test_new_tags_on_the_same_words_need_no_new_vectors(kept: Stage) -> None:
    archive = kept.archive(vectors=True)
    run(archive.store(MAIN, "cat", "my kitten"))
    asked = len(kept.embedder.asked)
    run(archive.store(MAIN, "cat", "my kitten", tags=["home"], category="pets"))
    assert len(kept.embedder.asked) == asked
    assert run(found(archive, MAIN, "宠物", search_type="vector", tags=["home"])) == ["cat"]


def test_a_long_entry_is_found_by_its_best_passage(kept: Stage) -> None:
    archive = kept.archive(vectors=True)
    run(
        archive.store(
            MAIN, "long", "Nothing of note happened. " * 60 + "Then a kitten came. " + "Words of no weight. " * 60
        )
    )
    run(archive.store(MAIN, "short", "the kitten and the database and the release"))
    assert run(found(archive, MAIN, "宠物", search_type="vector")) == ["long", "short"]


def test_an_export_put_into_another_store_is_the_same_in_everything(kept: Stage, tmp_path: Path) -> None:
    archive = kept.archive()
    run(archive.store(ALICE, "k", "words\n\n## of alice", tags=["t"], metadata={"a": 1}))
    kept.later(days=1)
    run(archive.store(BOB, "c", "in talk", category="conversation"))
    run(archive.store(BOB, "k2", "daily words", category="daily"))
    before = run(everything(archive))
    for kind in KINDS:
        (tmp_path / kind).mkdir()
        with stage(kind, tmp_path / kind) as other:
            copy = other.archive()
            assert run(copy.put_all(before.values())) == (3, 0)
            assert run(everything(copy)) == before
            assert run(copy.put_all(before.values())) == (0, 3)
            assert run(everything(copy)) == before


def test_an_import_checks_what_it_takes(kept: Stage) -> None:
    archive = kept.archive()
    with pytest.raises(ArchiveRefusal, match="category"):
        run(archive.put_all([Entry("a", "words"), Entry("b", "words", "../x")]))
    assert run(everything(archive)) == {}


def test_statistics_count_what_may_be_seen(kept: Stage) -> None:
    archive = kept.archive(acl=True)
    run(archive.store(ALICE, "a", "words"))
    run(archive.store(BOB, "b", "words", category="notes"))
    seen = run(archive.stats(BOB))
    assert (seen["entries"], seen["categories"], seen["owners"]) == (1, {"notes": 1}, {"bob": 1})
    assert run(archive.stats())["entries"] == 2


def test_statistics_count_the_vectors_of_what_may_be_seen(kept: Stage) -> None:
    archive = kept.archive(acl=True, vectors=True)
    run(archive.store(BOB, "b", "my kitten sleeps"))
    for number in range(3):
        run(archive.store(ALICE, f"a{number}", "my kitten sleeps"))
    assert run(archive.stats(BOB))["embedded"] == 1


def test_sweeping_removes_what_has_expired_and_nothing_else(kept: Stage) -> None:
    archive = kept.archive()
    run(archive.put_all(Entry(f"d{n}", "old", "daily", owner="main", updated=NOON) for n in range(150)))
    kept.later(days=30)
    run(archive.put_all([Entry("c", "old", owner="main", updated=NOON)]))
    assert run(archive.sweep()) == 150
    assert [entry.key for entry in run(everything(archive)).values()] == ["c"]


def test_reindexing_gives_every_entry_its_vectors_and_changes_no_answer(kept: Stage) -> None:
    archive = kept.archive()
    run(archive.put_all(Entry(f"k{n}", f"kitten number {n}", owner="main") for n in range(40)))
    before = run(found(archive, MAIN, "kitten number 7", limit=40))
    told: list[tuple[int, int]] = []
    archive = kept.archive(vectors=True)
    assert run(archive.reindex(lambda done, total: told.append((done, total)))) == 40
    assert told[-1] == (40, 40)
    assert run(found(archive, MAIN, "kitten number 7", limit=40, search_type="text")) == before
    assert run(archive.stats())["embedded"] == 40


def test_a_store_that_is_not_there_yet_reads_as_empty(kept: Stage) -> None:
    archive = kept.archive(vectors=True)
    assert run(found(archive, MAIN, "anything")) == []
    assert run(everything(archive)) == {}
    if kept.kind != "postgres":
        assert list(kept.folder.iterdir()) == []


def test_of_equal_entries_the_keys_decide_however_many_there_are(kept: Stage) -> None:
    archive = kept.archive(vectors=True)
    for number in reversed(range(50)):
        run(archive.store(MAIN, f"k{number:03d}", "my kitten sleeps"))
    assert run(found(archive, MAIN, "kitten", limit=3)) == ["k000", "k001", "k002"]
    assert run(found(archive, MAIN, "kitten", limit=3, search_type="text")) == ["k000", "k001", "k002"]


@pytest.mark.parametrize(
    ("query", "key"),
    [
        ("目的", "trip"),
        ("旅行的目的", "trip"),
        ("酒吧在哪里", "night"),
        ("附近酒吧", "night"),
        ("学吉他", "music"),
        ("我的生日是什么时候", "birth"),
        ("US address", "us"),
        ("WHO report", "who"),
        ("Will birthday", "will"),
        ("IT department", "it"),
        ("What is in the US?", "us"),
        ("Where is IT?", "it"),
        ("what is the WHO?", "who"),
    ],
)
def test_what_looks_like_a_function_word_and_is_none_leads_to_its_entry(kept: Stage, query: str, key: str) -> None:
    archive = kept.archive()
    for name, content in {
        "trip": "出行目的：看望父母",
        "list": "目录在书架上",
        "night": "常去的酒吧是蓝月",
        "white": "白酒不在厨房",
        "music": "吉他老师是王芳",
        "birth": "生日是五月三日",
        "life": "我的生活很安静",
        "us": "Address in the US: 1 Main St",
        "china": "Address in China: 2 Nanjing Rd",
        "who": "The report of the WHO is due",
        "report": "The report of the bank is due",
        "will": "Will has his birthday on 3 May",
        "ann": "Ann has her birthday on 4 May",
        "it": "The IT department is on floor 2",
        "law": "The law department sits there",
    }.items():
        run(archive.store(MAIN, name, content))
    assert run(found(archive, MAIN, query))[0] == key


def test_what_an_empty_archive_answers_does_not_depend_on_what_others_searched(kept: Stage) -> None:
    archive = kept.archive(acl=True, vectors=True)
    kept.embedder.fail()
    before = run(archive.search(BOB, "kitten"))
    run(archive.store(ALICE, "k", "my kitten"))
    run(archive.search(ALICE, "kitten"))
    assert run(archive.search(BOB, "kitten")) == before
