"""`task`: a job goes out, a bounded answer comes back."""

from __future__ import annotations

from tool_calls import call_tool

from tools import ToolResult, make_task_tool


async def delegate(prompt: str, agent_type: str | None) -> ToolResult | str:
    if prompt == "broken":
        return ToolResult(False, error="the sub-agent failed")
    return f"{agent_type}: {prompt}"


def test_the_prompt_reaches_the_delegate() -> None:
    task = make_task_tool(delegate)
    assert task.name == "task"
    assert task.parallel
    assert task.inheritable is False
    assert call_tool(task, prompt="look").data == "None: look"
    assert call_tool(task, prompt="look", agent_type="explorer").data == "explorer: look"


def test_a_failure_looks_like_one() -> None:
    assert call_tool(make_task_tool(delegate), prompt="broken").serialize() == "Error: the sub-agent failed"


def test_an_empty_job_is_refused() -> None:
    assert not call_tool(make_task_tool(delegate), prompt=" \n").ok


def test_a_long_answer_is_cut_and_told() -> None:
    data = call_tool(make_task_tool(delegate), prompt="word " * 60_000).data
    assert len(data) <= 20_000
    assert "truncated" in data
