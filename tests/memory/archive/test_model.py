"""The same operations on a dictionary and on all three backends, chosen at random, must give the same answers."""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from archives import KINDS, NOON, everything, stage
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from memory.archive import Archive, ArchiveRefusal, Entry, Principal
from memory.archive.text import analyse, query_words

AGENTS, SESSIONS = ["alice", "bob", "root"], ["s1", "s2"]
WORDS = [
    "deploy",
    "deployed",
    "deployment",
    "cat",
    "kitten",
    "database",
    "the",
    "数据库",
    "部署",
    "猫",
    "Rust",
    "2026-03-10",
    "?",
]
asking = st.builds(Principal, st.sampled_from(AGENTS), st.sampled_from(SESSIONS))
keys = st.sampled_from(["k1", "k2", "K1", "项目/甲", "## k"])
contents = st.lists(st.sampled_from([*WORDS, "\n", "## x"]), min_size=1, max_size=6).map(" ".join).filter(str.strip)
categories = st.sampled_from(["core", "daily", "conversation", "notes"])
tags = st.lists(st.sampled_from(["Rust", "a b", "部署"]), max_size=2, unique=True)
queries = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
kinds = st.sampled_from(["text", "vector", "hybrid"])


class Book:
    """What the archive should hold and say, in the plainest words."""

    def __init__(self, acl: bool) -> None:
        self.acl, self.entries = acl, list[Entry]()

    def sees(self, who: Principal, entry: Entry, now: datetime) -> bool:
        days = {"daily": 7, "conversation": 3}.get(entry.category)
        return (
            (not self.acl or who.agent in ("root", entry.owner))
            and (entry.category != "conversation" or entry.session == who.session)
            and (days is None or entry.updated > now - timedelta(days=days))
        )

    def meant(self, who: Principal, key: str, now: datetime, *, own: bool = False) -> Entry | None:
        found = [each for each in self.entries if each.key == key and self.sees(who, each, now)]
        mine = [each for each in found if each.owner == who.agent]
        if mine:
            return max(mine, key=lambda each: (each.updated, self.entries.index(each)))
        return None if own else min(found, key=lambda each: (each.created, each.owner), default=None)

    def store(self, who: Principal, entry: Entry, now: datetime) -> str:
        old = self.meant(who, entry.key, now, own=self.acl)
        if old:
            entry = replace(entry, owner=old.owner, created=old.created)
        self.drop(entry.key, entry.owner, who.session)
        self.entries = [each for each in self.entries if not self.over(each, now)]
        self.entries.append(entry)
        return "updated" if old else "created"

    def forget(self, who: Principal, key: str, now: datetime) -> Entry | None:
        meant = self.meant(who, key, now)
        if meant:
            seen = [each for each in self.entries if each.key == key and self.sees(who, each, now)]
            gone = [each for each in seen if not self.acl or each.owner == meant.owner]
            self.entries = [each for each in self.entries if each not in gone]
        return meant

    def drop(self, key: str, owner: str, session: str) -> None:
        def there(each: Entry) -> bool:
            return (
                each.key == key
                and (not self.acl or each.owner == owner)
                and (each.category != "conversation" or each.session == session)
            )

        self.entries = [each for each in self.entries if not there(each)]

    def over(self, entry: Entry, now: datetime) -> bool:
        days = {"daily": 7, "conversation": 3}.get(entry.category)
        return days is not None and entry.updated <= now - timedelta(days=days)


class Backends(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.runner = self.stack.enter_context(asyncio.Runner())
        folder = Path(self.stack.enter_context(tempfile.TemporaryDirectory()))
        for kind in KINDS:
            (folder / kind).mkdir()
        self.stages = [self.stack.enter_context(stage(kind, folder / kind)) for kind in KINDS]
        self.now = NOON

    def teardown(self) -> None:
        self.stack.close()

    @initialize(acl=st.booleans(), vectors=st.booleans())
    def begin(self, acl: bool, vectors: bool) -> None:
        self.acl, self.vectors = acl, vectors
        self.book = Book(acl)
        self.open()

    @rule()
    def open(self) -> None:
        """Begin anew over the same stores, as another process would."""
        self.archives: list[Archive] = [
            each.archive(acl=self.acl, admins=["root"], vectors=self.vectors) for each in self.stages
        ]

    @rule(days=st.sampled_from([0.001, 0.5, 2, 4]))
    def wait(self, days: float) -> None:
        self.now += timedelta(days=days)
        for each in self.stages:
            each.now = self.now

    @rule(down=st.booleans())
    def embedder(self, down: bool) -> None:
        for each in self.stages:
            each.embedder.fail()
            each.embedder.down = each.embedder.down if down else None

    @rule(who=asking, key=keys, content=contents, category=categories, tags=tags)
    def store(self, who: Principal, key: str, content: str, category: str, tags: list[str]) -> None:
        entry = Entry(key, content.strip(), category, tuple(tags), {}, who.agent, who.session, self.now, self.now)
        status = self.book.store(who, entry, self.now)
        answers = self.ask(lambda archive: archive.store(who, key, content.strip(), category=category, tags=tags))
        assert [kept.status for kept in answers] == [status] * 3

    @rule(who=asking, key=keys)
    def forget(self, who: Principal, key: str) -> None:
        meant = self.book.forget(who, key, self.now)
        assert self.ask(lambda archive: archive.forget(who, key)) == [meant] * 3

    @rule(who=asking, key=keys)
    def get(self, who: Principal, key: str) -> None:
        assert self.ask(lambda archive: archive.get(who, key)) == [self.book.meant(who, key, self.now)] * 3

    @rule(who=asking, query=queries, kind=kinds, limit=st.integers(1, 5), category=st.none() | categories, tags=tags)
    def search(self, who: Principal, query: str, limit: int, kind: Any, category: str | None, tags: list[str]) -> None:
        options = {"limit": limit, "search_type": kind, "category": category, "tags": tags}
        answers = self.ask(lambda archive: archive.search(who, query, **options))
        if None in answers:  # vectors asked for where there are none
            assert answers == [None] * 3
            return
        assert answers[0].hits == answers[1].hits == answers[2].hits
        wanted = {word.text for word in query_words(query)}
        for hit in answers[0].hits:
            assert hit.entry in self.book.entries
            assert self.book.sees(who, hit.entry, self.now)
            assert category in (None, hit.entry.category)
            assert set(tags) <= set(hit.entry.tags)
        if kind == "text" and limit == 5:
            exact = [
                each
                for each in self.book.entries
                if self.book.sees(who, each, self.now)
                and category in (None, each.category)
                and set(tags) <= set(each.tags)
                and wanted & analyse(each).counts.keys()
            ]
            found = [hit.entry for hit in answers[0].hits]
            assert len(found) == 5 or all(each in found for each in exact)

    @invariant()
    def all_hold_what_the_book_holds(self) -> None:
        if hasattr(self, "archives"):
            kept = sorted(self.book.entries, key=repr)
            for archive in self.archives:
                assert sorted(self.runner.run(everything(archive)).values(), key=repr) == kept

    def ask(self, work: Any) -> list[Any]:
        return [self.answer(work(archive)) for archive in self.archives]

    def answer(self, coroutine: Any) -> Any:
        try:
            return self.runner.run(coroutine)
        except ArchiveRefusal:
            return None


Backends.TestCase.settings = settings(
    max_examples=15, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
TestBackends = Backends.TestCase
