"""Sub-agents: no memory, no talk of the parent, bounded, side by side."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
from pathlib import Path
from typing import Any

import pytest

from agent import Agent, AgentLimits, Completion, RequestRefused, ScriptedModel, Session, ToolFinished
from memory import MemoryStore
from tools import Tool, ToolCall, ToolPolicy, make_file_tools, make_shell_tool


def call(name: str, call_id: str, **arguments: Any) -> Completion:
    return Completion(calls=(ToolCall(call_id, name, json.dumps(arguments)),), finish_reason="tool_calls")


def tasks(*prompts: str) -> Completion:
    found = tuple(ToolCall(f"t{n}", "task", json.dumps({"prompt": prompt})) for n, prompt in enumerate(prompts))
    return Completion(calls=found, finish_reason="tool_calls")


class Family:
    """A model that tells the sub-agents from the parent by the words of their job."""

    def __init__(self, parent: list[Any], child: Any) -> None:
        self.parent, self.child = iter(parent), child
        self.model = ScriptedModel(self.answer)

    def answer(self, messages: Any, tools: Any) -> Any:
        first = next(message["content"] for message in messages if message["role"] == "user")
        if not first.startswith("job"):
            return next(self.parent)
        return self.child(messages) if callable(self.child) else self.child

    def of_children(self) -> list[Any]:
        return [request for request in self.model.requests if request.messages[1]["content"].startswith("job")]


def play(agent: Agent, text: str = "go") -> list[tuple[str, bool, str]]:
    done: list[tuple[str, bool, str]] = []

    def watch(event: Any) -> None:
        if isinstance(event, ToolFinished):
            done.append((event.call.id, event.result.ok, event.result.serialize()))

    asyncio.run(agent.run(text, on_event=watch))
    return sorted(done)


def test_no_planted_word_reaches_any_of_twenty_sub_agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = [secrets.token_hex(8) for _ in range(6)]
    in_memory, in_user, in_talk, in_environment, in_write, in_session = words
    memory_dir = tmp_path / "inside" / "memory"
    store = MemoryStore(memory_dir)
    store.add("memory", f"the canary is {in_memory}")
    store.add("user", f"the user is called {in_user}")
    monkeypatch.setenv("MEMORY_TOOL_CANARY", in_environment)
    (tmp_path / "notes.txt").write_text("harmless")
    (tmp_path / "way_in").symlink_to(memory_dir)
    session = Session.create(tmp_path / "inside" / "sessions", cwd=tmp_path, model="scripted")
    paths = [
        "inside/memory/MEMORY.md",
        str(memory_dir / "USER.md"),
        "way_in/MEMORY.md",
        "inside/../inside/memory/MEMORY.md",
        "inside/memory/journal.jsonl",
        str(session.path),
    ]

    def child(messages: Any) -> Any:
        asked = sum(message["role"] == "assistant" for message in messages)
        if asked < len(paths):
            return call("file_read", f"r{asked}", path=paths[asked])
        if asked == len(paths):
            return call("file_search", "s", pattern="canary is|is called|a secret of")
        if asked == len(paths) + 1:
            return call("file_write", "w", path="inside/memory/MEMORY.md", content="overwritten")
        return "nothing found"

    jobs = [f"job {number}" for number in range(20)]
    talk = [call("memory", "m", target="memory", action="add", content=in_write), "noted", tasks(*jobs), "all done"]
    family = Family(talk, child)
    agent = Agent(
        model=family.model,
        cwd=tmp_path,
        tools=make_file_tools(tmp_path),
        memory_dir=memory_dir,
        session=session,
        limits=AgentLimits(max_agents=20, side_by_side=3),
    )
    assert in_memory in agent.system_prompt
    asyncio.run(agent.run(f"a secret of the talk: {in_talk} {in_session}"))
    asyncio.run(agent.run("delegate"))
    requests = family.of_children()
    assert len(requests) == 20 * (len(paths) + 3)
    for request in requests:
        text = json.dumps([request.messages, request.tools])
        assert not [word for word in words if word in text]
        assert "memory" not in {tool["function"]["name"] for tool in request.tools}
    assert in_memory in (memory_dir / "MEMORY.md").read_text()
    assert os.environ["MEMORY_TOOL_CANARY"] == in_environment


def test_results_come_back_in_call_order_and_one_failure_is_its_own(tmp_path: Path) -> None:
    async def child(messages: Any) -> Any:
        job = messages[1]["content"]
        if "slow" in job:
            await asyncio.sleep(0.05)
        return RequestRefused("child is broken", status=400) if "broken" in job else f"{job} done"

    family = Family([tasks("job slow", "job broken", "job fast"), "two of three"], child)
    done = play(Agent(model=family.model, cwd=tmp_path, max_retries=0))
    assert [(call_id, ok) for call_id, ok, _ in done] == [("t0", True), ("t1", False), ("t2", True)]
    assert "job slow done" in done[0][2]
    assert "child is broken" in done[1][2]


def test_sub_agents_run_side_by_side_and_no_more_than_allowed(tmp_path: Path) -> None:
    running, most = 0, 0

    async def child(messages: Any) -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.02)
        running -= 1
        return "done"

    family = Family([tasks(*[f"job {n}" for n in range(7)]), "ok"], child)
    play(Agent(model=family.model, cwd=tmp_path, limits=AgentLimits(side_by_side=3)))
    assert most == 3


def test_the_number_of_sub_agents_is_capped(tmp_path: Path) -> None:
    family = Family([tasks(*[f"job {n}" for n in range(8)]), "ok"], "done")
    done = play(Agent(model=family.model, cwd=tmp_path, limits=AgentLimits(max_agents=5)))
    assert [ok for _, ok, _ in done].count(True) == 5
    assert all("limit of 5" in text for _, ok, text in done if not ok)


def test_a_sub_agent_cannot_delegate(tmp_path: Path) -> None:
    seen: list[Any] = []

    def child(messages: Any) -> Any:
        seen.append(list(messages))
        return call("task", "k", prompt="job deeper") if len(seen) == 1 else "did it myself"

    family = Family([tasks("job one"), "ok"], child)
    play(Agent(model=family.model, cwd=tmp_path))
    assert len(seen) == 2
    assert "Error" in seen[1][-1]["content"]


def test_a_long_result_is_bounded_and_says_so(tmp_path: Path) -> None:
    family = Family([tasks("job long"), "ok"], "word " * 60_000)
    ((_, ok, text),) = play(Agent(model=family.model, cwd=tmp_path))
    assert ok
    assert len(text) < 20_200
    assert "truncated" in text


def test_a_step_limit_is_told_as_one(tmp_path: Path) -> None:
    counter = iter(range(100))

    def child(messages: Any) -> Any:
        if messages[-1]["role"] == "tool" and "Step limit" in messages[-1]["content"]:
            return "this far"
        return call("file_list", f"l{next(counter)}")

    family = Family([tasks("job loop"), "ok"], child)
    agent = Agent(model=family.model, cwd=tmp_path, tools=make_file_tools(tmp_path), limits=AgentLimits(max_steps=4))
    ((_, ok, text),) = play(agent)
    assert not ok
    assert "limit of max 4 steps" in text
    assert "this far" in text
    assert len(family.of_children()) == 5


def test_a_time_limit_is_told_as_one(tmp_path: Path) -> None:
    async def child(messages: Any) -> str:
        await asyncio.sleep(60)
        return "never"

    family = Family([tasks("job for ever"), "ok"], child)
    ((_, ok, text),) = play(Agent(model=family.model, cwd=tmp_path, limits=AgentLimits(timeout_s=0.05)))
    assert not ok
    assert "time limit" in text


def test_a_cancel_reaches_every_sub_agent(tmp_path: Path) -> None:
    stopped: list[str] = []

    async def child(messages: Any) -> str:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            stopped.append(messages[1]["content"])
            raise
        return "never"

    family = Family([tasks("job a", "job b")], child)
    agent = Agent(model=family.model, cwd=tmp_path)

    async def talk() -> None:
        turn = asyncio.create_task(agent.run("go"))
        while len(family.of_children()) < 2:
            await asyncio.sleep(0.001)
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn

    asyncio.run(talk())
    assert sorted(stopped) == ["job a", "job b"]
    assert [message["role"] for message in agent.messages] == ["user", "assistant", "tool", "tool"]


def test_the_shell_is_given_only_under_supervision_or_on_purpose(tmp_path: Path) -> None:
    tools: list[Tool] = [make_shell_tool(tmp_path), *make_file_tools(tmp_path)]
    model = ScriptedModel([])
    free = Agent(model=model, cwd=tmp_path, tools=tools)
    assert "shell" not in free.spawn().registry.names()
    assert "shell" in free.spawn(tools=tools).registry.names()
    watched = Agent(model=model, cwd=tmp_path, tools=tools, policy=ToolPolicy({"shell": "supervised"}))
    assert "shell" in watched.spawn().registry.names()


def test_a_sub_agent_cannot_be_made_with_memory(tmp_path: Path) -> None:
    (tmp_path / ".my_agent_core" / "memory").mkdir(parents=True)
    agent = Agent(model=ScriptedModel([]), cwd=tmp_path)
    assert agent.memory_store is not None
    child = agent.spawn()
    assert child.memory_store is None
    assert child.session is None
    with pytest.raises(TypeError):
        agent.spawn(memory_dir=tmp_path)  # type: ignore[call-arg]


def test_sub_agents_ask_their_questions_one_after_the_other(tmp_path: Path) -> None:
    asking: list[int] = [0]

    async def approve(call: ToolCall, preview: str) -> bool:
        asking[0] += 1
        alone = asking[0] == 1
        await asyncio.sleep(0.05)
        asking[0] -= 1
        return alone

    family = Family(
        [tasks("job a", "job b"), "done"],
        lambda messages: (
            "written" if messages[-1]["role"] == "tool" else call("file_write", "w", path="f", content="x")
        ),
    )
    agent = Agent(
        model=family.model,
        cwd=tmp_path,
        tools=make_file_tools(tmp_path),
        policy=ToolPolicy({"file_write": "supervised"}),
        approve=approve,
    )
    play(agent)
    told = [request.messages[-1]["content"] for request in family.of_children() if len(request.messages) > 2]
    assert len(told) == 2
    assert not any("denied" in text for text in told)


def test_a_sub_agent_cannot_read_a_memory_that_is_switched_off(tmp_path: Path) -> None:
    kept = tmp_path / ".my_agent_core" / "memory" / "MEMORY.md"
    kept.parent.mkdir(parents=True)
    kept.write_text("canary")
    family = Family(
        [tasks("job a"), "done"],
        lambda messages: (
            "read" if messages[-1]["role"] == "tool" else call("file_read", "r", path=str(kept.relative_to(tmp_path)))
        ),
    )
    play(Agent(model=family.model, cwd=tmp_path, tools=make_file_tools(tmp_path), memory_dir=False))
    assert "canary" not in json.dumps([request.messages for request in family.of_children()])
