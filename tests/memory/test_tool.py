"""The tool `memory`: forgiving, brief when it repeats itself, and under the policy of forgetting."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from memory import MemoryStore, make_memory_tool
from tools import Tool, ToolCall, ToolPolicy, ToolRegistry, ToolResult


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    store = MemoryStore(tmp_path)
    store.add("memory", "alpha runs Caddy")
    store.add("memory", "beta runs Caddy")
    return store


@pytest.fixture
def tool(store: MemoryStore) -> Tool:
    return make_memory_tool(store)


def call(tool: Tool, **arguments: Any) -> ToolResult:
    return asyncio.run(tool.execute(json.dumps(arguments)))


def refused(result: ToolResult) -> str:
    assert not result.ok
    return str(result.error)


@pytest.mark.parametrize(
    "arguments",
    [
        {"action": "ADD ", "target": "Memory", "content": "gamma"},
        {"action": "add", "target": "MEMORY.md", "new_content": "gamma"},
        {"action": "add", "target": "memory", "content": "gamma", "reason": "the user said so", "old_text": None},
    ],
)
def test_what_is_meant_is_done(tool: Tool, store: MemoryStore, arguments: dict[str, Any]) -> None:
    assert (call(tool, **arguments)).ok
    assert store.entries("memory")[-1] == "gamma"


def test_what_is_missing_is_named(tool: Tool) -> None:
    assert "content is missing" in refused(call(tool, action="add", target="user"))
    assert "new_content is missing" in refused(call(tool, action="replace", target="memory", old_text="beta"))
    assert "alpha runs Caddy" in refused(call(tool, action="remove", target="memory"))
    assert "There is no entry in user" in refused(call(tool, action="remove", target="user"))
    assert "add, replace, remove" in refused(call(tool, target="user"))
    assert "memory, user" in refused(call(tool, action="add", content="x"))


def test_the_same_failing_call_is_answered_ever_more_briefly(tool: Tool) -> None:
    answers = [refused(call(tool, action="remove", target="memory", old_text="runs Caddy")) for _ in range(4)]
    assert "alpha runs Caddy" in answers[0]
    assert answers[1].startswith("The same call as before")
    assert "alpha" not in answers[1]
    assert answers[2] == answers[3]
    assert answers[2].startswith("Stop")
    assert "\n" not in answers[2]


def test_other_failing_calls_between_do_not_hide_the_repetition(tool: Tool) -> None:
    for _ in range(2):
        first = refused(call(tool, action="remove", target="memory", old_text="runs"))
        call(tool, action="add", target="nowhere", content="x")
    assert first.startswith("The same call as before")


def test_a_call_that_works_at_last_is_done_and_forgets_the_failures(tool: Tool, store: MemoryStore) -> None:
    for _ in range(3):
        call(tool, action="remove", target="memory", old_text="runs Caddy")
    store.remove("memory", "alpha")
    assert (call(tool, action="remove", target="memory", old_text="runs Caddy")).ok
    assert refused(call(tool, action="remove", target="memory", old_text="runs Caddy")).startswith("Text 'runs")


def test_a_disk_that_refuses_is_an_answer(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    tool = make_memory_tool(MemoryStore(tmp_path / "file"))
    assert "it is a file" in refused(call(tool, action="add", target="user", content="x"))


@pytest.mark.parametrize("word", ["remove", " Remove ", "REMOVE"])
def test_the_policy_of_forgetting_governs_remove(tool: Tool, store: MemoryStore, word: str) -> None:
    registry = ToolRegistry([tool], policy=ToolPolicy({"memory_forget": "deny"}))
    arguments = {"action": word, "target": "memory", "old_text": "beta"}
    result = asyncio.run(registry.dispatch(ToolCall("1", "memory", json.dumps(arguments))))
    assert "denies" in refused(result)
    assert len(store.entries("memory")) == 2
    arguments = {"action": "add", "target": "memory", "content": "gamma"}
    assert asyncio.run(registry.dispatch(ToolCall("2", "memory", json.dumps(arguments)))).ok


def test_the_person_who_is_asked_sees_what_would_be_lost(tool: Tool) -> None:
    def preview(**arguments: Any) -> str:
        return asyncio.run(tool.preview_of(json.dumps(arguments)))

    assert preview(action="remove", target="memory", old_text="beta") == "beta runs Caddy"
    assert preview(action="Replace", target="Memory.md", old_text="alpha", content="x") == "alpha runs Caddy"
    assert preview(action="add", target="memory", content="x") == ""
    assert "found 2 entries" in preview(action="remove", target="memory", old_text="runs")


def test_the_description_has_its_parts(tool: Tool) -> None:
    for word in ("WHEN", "PRIORITY", "TARGETS", "SKIP", "saying it twice"):
        assert word in tool.description
