"""The agent: a frozen prompt, memory that shows next time, sub-agents that know nothing of it."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from agent import Agent, Completion, ContextOverflow, Notice, ProviderFailed, ScriptedModel, Session, Usage
from memory import MemoryStore
from tools import ToolCall, make_file_tools


def remember(number: int, text: str) -> Completion:
    arguments = json.dumps({"target": "memory", "action": "add", "content": text})
    return Completion(calls=(ToolCall(f"m{number}", "memory", arguments),), finish_reason="tool_calls")


def agent_of(script: Any, tmp_path: Path, **options: Any) -> tuple[Agent, ScriptedModel]:
    model = ScriptedModel(script)
    return Agent(model=model, cwd=tmp_path, **options), model


def test_thirty_requests_and_ten_writes_leave_the_prefix_untouched(tmp_path: Path) -> None:
    """Every request extends the one before it, byte for byte, until a reset; then the new memory is in."""
    script: list[Any] = []
    for turn in range(10):
        script += [remember(turn, f"fact number {turn}"), Completion(content=f"noted {turn}"), f"answer {turn}"]
    agent, model = agent_of([*script, "fresh"], tmp_path, memory_dir=tmp_path / "memory")

    async def talk() -> None:
        for turn in range(10):
            await agent.run(f"remember {turn}")
            await agent.run(f"question {turn}")
        agent.reset()
        await agent.run("what do you know?")

    asyncio.run(talk())
    before, after = model.requests[:-1], model.requests[-1]
    assert len(before) == 30
    assert len({json.dumps(request.messages[0]) for request in before}) == 1
    assert len({json.dumps(request.tools) for request in model.requests}) == 1
    for one, other in itertools.pairwise(before):
        assert [json.dumps(m) for m in other.messages[: len(one.messages)]] == [json.dumps(m) for m in one.messages]
    assert "fact number" not in before[-1].messages[0]["content"]
    assert all(f"fact number {turn}" in after.messages[0]["content"] for turn in range(10))
    assert [message["role"] for message in after.messages] == ["system", "user"]
    assert MemoryStore(tmp_path / "memory").mem_dir


def test_the_prompt_is_the_same_in_two_agents_over_the_same_memory(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "MEMORY.md").write_text("Uses uv.\n")
    one, _ = agent_of([], tmp_path, memory_dir="memory")
    other, _ = agent_of([], tmp_path, memory_dir="memory")
    assert one.system_prompt == other.system_prompt
    assert "Uses uv." in one.system_prompt
    assert one.registry.schemas() == other.registry.schemas()


@pytest.mark.parametrize(("setting", "there"), [(None, True), (False, False), ("elsewhere", False)])
def test_memory_dir_has_three_states(tmp_path: Path, setting: Any, there: bool) -> None:
    found = tmp_path / ".my_agent_core" / "memory"
    found.mkdir(parents=True)
    (found / "MEMORY.md").write_text("auto found")
    agent, _ = agent_of([], tmp_path, memory_dir=setting)
    assert ("auto found" in agent.system_prompt) is there
    assert ("memory" in agent.registry.names()) is (setting is not False)
    assert not (tmp_path / "elsewhere").exists()


def test_without_a_memory_folder_memory_is_off_and_none_is_made(tmp_path: Path) -> None:
    agent, _ = agent_of([], tmp_path)
    assert agent.memory_store is None
    assert "memory" not in agent.registry.names()
    assert list(tmp_path.iterdir()) == []


def test_a_reply_tells_what_was_written_and_spent(tmp_path: Path) -> None:
    script = [remember(1, "x"), Completion(content="ok", usage=Usage(10, 2, 8))]
    agent, _ = agent_of(script, tmp_path, memory_dir=tmp_path / "m")
    reply = asyncio.run(agent.run("remember x"))
    assert reply.memory_writes == [{"tool": "memory", "target": "memory", "action": "add", "content": "x"}]
    assert reply.usage == Usage(10, 2, 8) == agent.usage
    assert reply.steps == 2


def test_a_write_that_changed_nothing_is_no_write(tmp_path: Path) -> None:
    agent, _ = agent_of([remember(1, "x"), remember(2, "x"), "ok"], tmp_path, memory_dir=tmp_path / "m")
    assert len(asyncio.run(agent.run("remember x twice")).memory_writes) == 1


def test_the_journal_knows_who_wrote_in_which_turn(tmp_path: Path) -> None:
    session = Session.create(tmp_path / "sessions", cwd=tmp_path, model="scripted")
    agent, _ = agent_of(["hi", remember(7, "x"), "ok"], tmp_path, memory_dir=tmp_path / "m", session=session)

    async def talk() -> None:
        await agent.run("hello")
        await agent.run("remember x")

    asyncio.run(talk())
    event = json.loads((tmp_path / "m" / "journal.jsonl").read_text().splitlines()[0])
    assert (event["author"], event["agent"], event["session"]) == ("agent", "main", session.id)
    assert (event["turn"], event["call_id"], event["after"]) == (2, "m7", "x")


def test_an_empty_message_is_refused_before_anything_happens(tmp_path: Path) -> None:
    agent, model = agent_of([], tmp_path)
    with pytest.raises(ValueError, match="empty"):
        asyncio.run(agent.run(" \n "))
    assert model.requests == []
    assert agent.messages == []


def test_undo_takes_the_last_turn_out(tmp_path: Path) -> None:
    session = Session.create(tmp_path, cwd=tmp_path, model="scripted")
    agent, _ = agent_of(["one", "two"], tmp_path, session=session)

    async def talk() -> None:
        await agent.run("first")
        await agent.run("second")

    asyncio.run(talk())
    assert agent.undo() == "second"
    assert [message["content"] for message in agent.messages] == ["first", "one"]
    asyncio.run(agent.close())
    assert [message["content"] for message in Session.open(session.path).messages] == ["first", "one"]
    assert agent.undo() == "first"
    assert agent.undo() is None


def test_a_resumed_talk_is_sent_whole(tmp_path: Path) -> None:
    session = Session.create(tmp_path, cwd=tmp_path, model="scripted")
    first, _ = agent_of(["one"], tmp_path, session=session)
    asyncio.run(first.run("hello"))
    asyncio.run(first.close())
    again, model = agent_of(["two"], tmp_path, session=Session.open(session.path))
    asyncio.run(again.run("still there?"))
    assert [message["content"] for message in model.requests[0].messages[1:]] == ["hello", "one", "still there?"]


def test_a_failed_turn_keeps_the_session_valid(tmp_path: Path) -> None:
    session = Session.create(tmp_path, cwd=tmp_path, model="scripted")
    agent, model = agent_of([ProviderFailed("down"), "back"], tmp_path, session=session, max_retries=0)

    async def talk() -> None:
        with pytest.raises(ProviderFailed):
            await agent.run("one")
        await agent.run("two")

    asyncio.run(talk())
    roles = [message["role"] for message in model.requests[-1].messages]
    assert roles == ["system", "user", "assistant", "user"]


def test_a_talk_over_its_budget_is_compacted_once_and_goes_on(tmp_path: Path) -> None:
    script = [*[f"answer {n} " + "words " * 400 for n in range(6)], "SUMMARY: six answers", "still here"]
    model = ScriptedModel(script, check=False)
    session = Session.create(tmp_path, cwd=tmp_path, model="scripted")
    agent = Agent(model=model, cwd=tmp_path, session=session, context_budget=5_100, can_delegate=False)
    prefix = agent.system_prompt
    notices: list[str] = []

    async def talk() -> None:
        for number in range(7):
            await agent.run(
                f"question {number}", on_event=lambda e: notices.append(e.text) if isinstance(e, Notice) else None
            )

    asyncio.run(talk())
    assert any("compact" in notice for notice in notices)
    last = model.requests[-1].messages
    assert last[0]["content"] == prefix
    assert "SUMMARY: six answers" in last[1]["content"]
    assert last[-1]["content"] == "question 6"
    resumed = Session.open(session.path) if asyncio.run(agent.close()) is None else None
    assert resumed is not None
    assert resumed.messages == agent.messages


def test_a_window_smaller_than_the_budget_is_learned_from_the_server(tmp_path: Path) -> None:
    summaries, refused = 0, 0

    def answer(messages: Any, tools: Any) -> Any:
        nonlocal summaries, refused
        if not tools:
            summaries += 1
            return "SUMMARY"
        if len(json.dumps(list(messages))) > 20_000:
            refused += 1
            return ContextOverflow("maximum context length is 5000 tokens")
        return "answer " + "words " * 150

    agent = Agent(model=ScriptedModel(answer, check=False), cwd=tmp_path, context_budget=100_000)

    async def talk() -> None:
        for number in range(60):
            await agent.run(f"question {number} " + "words " * 100)

    asyncio.run(talk())
    assert refused == 1
    assert 2 <= summaries < 8


@pytest.mark.parametrize("window", [2_500, 5_000, 12_000])
@pytest.mark.parametrize("named", [True, False])
def test_a_talk_many_times_as_long_as_the_window_recovers(tmp_path: Path, window: int, named: bool) -> None:
    def answer(messages: Any, tools: Any) -> Any:
        size = len(json.dumps([list(messages), list(tools)])) // 4
        if size > window:
            limits = {"limit_tokens": window, "sent_tokens": size} if named else {}
            return ContextOverflow("too long", **limits)
        return "SUMMARY" if not tools else "fine"

    agent = Agent(model=ScriptedModel(lambda messages, tools: "words " * 1_500, check=False), cwd=tmp_path)

    async def talk() -> list[str]:
        for number in range(20):
            await agent.run(f"question {number}")
        agent.change_model(ScriptedModel(answer, check=False))
        return [(await agent.run(f"more {number}")).text for number in range(3)]

    assert asyncio.run(talk()) == ["fine"] * 3


@pytest.mark.parametrize("configured", [100_000, 3_000])
def test_a_long_prompt_leaves_room_for_a_compaction_after_an_overflow(tmp_path: Path, configured: int) -> None:
    def answer(messages: Any, tools: Any) -> Any:
        size = len(json.dumps([list(messages), list(tools)])) // 4
        return ContextOverflow("too long") if size > 9_500 else "SUMMARY" if not tools else "fine " * 300

    agent = Agent(
        model=ScriptedModel(answer, check=False),
        cwd=tmp_path,
        instructions="Be kind. " * 3_400,
        context_budget=configured,
    )

    async def talk() -> None:
        for number in range(20):
            await agent.run(f"question {number}")

    asyncio.run(talk())


def test_between_turns_a_compaction_keeps_the_last_turn(tmp_path: Path) -> None:
    agent, model = agent_of(["1", "2", "SUMMARY", "again"], tmp_path)

    async def talk() -> str | None:
        await agent.run("one")
        await agent.run("two")
        assert await agent.compact()
        return agent.undo()

    assert asyncio.run(talk()) == "two"
    assert "one" in json.dumps(model.requests[2].messages)


def test_another_model_has_a_window_of_its_own(tmp_path: Path) -> None:
    agent, _ = agent_of([ContextOverflow("too long", limit_tokens=4_000), "SUMMARY", "fine"], tmp_path)
    agent.change_model(agent.model)

    async def talk() -> int:
        await agent.run("one")
        return agent.context_budget

    with contextlib.suppress(ContextOverflow):
        asyncio.run(talk())
    assert agent.context_budget == 3_000
    agent.change_model(ScriptedModel([]))
    assert agent.context_budget == 100_000


def test_the_estimate_after_a_compaction_is_of_what_was_sent(tmp_path: Path) -> None:
    def answer(messages: Any, tools: Any) -> Any:
        if not tools:
            return "SUMMARY"
        size = len(json.dumps(list(messages), ensure_ascii=False)) // 3
        return Completion(content="answer " + "words " * 150, usage=Usage(prompt_tokens=size))

    agent = Agent(model=ScriptedModel(answer, check=False), cwd=tmp_path, context_budget=6_000)

    async def talk() -> None:
        for number in range(30):
            await agent.run(f"question {number} " + "words " * 100)
            estimated = agent.context_parts()["talk"]
            assert estimated == pytest.approx(len(json.dumps(agent.messages)) / 3, rel=0.25)

    asyncio.run(talk())


def test_no_summary_is_asked_for_where_prompt_and_tools_alone_are_over_the_budget(tmp_path: Path) -> None:
    model = ScriptedModel([f"answer {n}" for n in range(3)])
    agent = Agent(model=model, cwd=tmp_path, instructions="Be kind. " * 400, context_budget=500)
    notices: list[str] = []

    async def talk() -> None:
        for number in range(3):
            await agent.run(
                f"question {number}", on_event=lambda e: notices.append(e.text) if isinstance(e, Notice) else None
            )

    asyncio.run(talk())
    assert len(model.requests) == 3
    assert len(notices) == 3
    assert "system prompt and the tools" in notices[0]


def test_context_parts_add_up(tmp_path: Path) -> None:
    agent, _ = agent_of(["fine"], tmp_path, memory_dir=tmp_path / "m", tools=make_file_tools(tmp_path))
    asyncio.run(agent.run("hello"))
    parts = agent.context_parts()
    assert set(parts) == {"tools", "system", "memory", "talk"}
    assert parts["memory"] == 0
    assert min(parts["tools"], parts["system"], parts["talk"]) > 0
