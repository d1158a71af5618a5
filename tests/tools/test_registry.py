"""`ToolRegistry`: one gate, and batches in order."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from tools import Tool, ToolCall, ToolPolicy, ToolRegistry, ToolResult


class Person:
    """Answers, and remembers what it was asked."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[tuple[str, str]] = []

    async def __call__(self, call: ToolCall, preview: str) -> bool:
        self.asked.append((call.arguments, preview))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer  # type: ignore[no-any-return]


def act(action: str) -> str:
    return f"did {action}"


def make_act(**options: Any) -> Tool:
    return Tool(act, **options)


CALL = ToolCall("1", "act", '{"action": "go"}')


def dispatched(registry: ToolRegistry, call: ToolCall = CALL) -> ToolResult:
    return asyncio.run(registry.dispatch(call))


def test_an_unknown_tool_is_named_with_those_that_exist() -> None:
    result = dispatched(ToolRegistry([make_act()]), ToolCall("1", "read_the_file", "{}"))
    assert result.serialize() == "Error: unknown tool 'read_the_file'; available tools: act"


def test_names_and_schemas_come_sorted() -> None:
    registry = ToolRegistry([make_act(name="b"), make_act(name="a")])
    assert registry.names() == ["a", "b"]
    assert [schema["function"]["name"] for schema in registry.schemas()] == ["a", "b"]


def test_a_name_is_given_once() -> None:
    with pytest.raises(ValueError, match="'act' is registered already"):
        ToolRegistry([make_act(), make_act()])


def test_a_denied_tool_does_not_run() -> None:
    result = dispatched(ToolRegistry([make_act()], policy=ToolPolicy({"act": "deny"})))
    assert result.error == "Tool 'act' is not allowed: the policy denies it"


def test_a_supervised_tool_runs_after_a_yes_to_its_arguments_and_preview() -> None:
    person = Person(True)
    tool = make_act(preview=lambda arguments: f"would {arguments['action']}")
    result = dispatched(ToolRegistry([tool], policy=ToolPolicy({"act": "supervised"}), approve=person))

    assert result.data == "did go"
    assert person.asked == [('{"action": "go"}', "would go")]


@pytest.mark.parametrize("answer", [False, None, "no", 1, RuntimeError("terminal gone")])
def test_anything_but_true_is_a_no(answer: Any) -> None:
    registry = ToolRegistry([make_act()], policy=ToolPolicy({"act": "supervised"}), approve=Person(answer))
    assert dispatched(registry).error == "Tool 'act' was denied: approval was not given"


def test_without_anybody_to_ask_the_answer_is_no() -> None:
    assert not dispatched(ToolRegistry([make_act()], policy=ToolPolicy({"act": "supervised"}))).ok


def test_the_stricter_of_the_two_rules_governs_a_call() -> None:
    tool = make_act(rule=lambda arguments: "forget" if arguments["action"] == "remove" else "act")
    registry = ToolRegistry([tool], policy=ToolPolicy({"forget": "deny"}))

    assert dispatched(registry).ok
    assert not dispatched(registry, ToolCall("1", "act", '{"action": "remove"}')).ok
    own = ToolRegistry([tool], policy=ToolPolicy({"act": "deny", "forget": "allow"}))
    assert not dispatched(own, ToolCall("1", "act", '{"action": "remove"}')).ok


def test_a_call_whose_rule_fails_is_denied() -> None:
    def failing(arguments: Mapping[str, Any]) -> str:
        raise LookupError("no rule")

    assert "not allowed" in dispatched(ToolRegistry([make_act(rule=failing)])).serialize()


def test_nobody_is_asked_about_a_call_that_cannot_run() -> None:
    person = Person(True)
    registry = ToolRegistry([make_act()], policy=ToolPolicy({"act": "supervised"}), approve=person)

    assert "'action' is missing" in dispatched(registry, ToolCall("1", "act", "{}")).serialize()
    assert person.asked == []


def test_questions_are_asked_one_after_the_other_also_across_registries() -> None:
    open_questions, most = 0, 0

    async def ask(call: ToolCall, preview: str) -> bool:
        nonlocal open_questions, most
        open_questions += 1
        most = max(most, open_questions)
        await asyncio.sleep(0)
        open_questions -= 1
        return True

    async def main() -> None:
        policy = ToolPolicy({"act": "supervised"})
        one = ToolRegistry([make_act()], policy=policy, approve=ask)
        other = ToolRegistry([make_act()], policy=policy, approve=one.approve)
        await asyncio.gather(*[registry.dispatch(CALL) for registry in (one, other, one, other)])

    asyncio.run(main())
    assert most == 1


def test_a_supervised_inheritance_needs_a_supervising_policy() -> None:
    tools = [make_act(), make_act(name="own", inheritable=False), make_act(name="shell", inheritable="supervised")]

    assert [tool.name for tool in ToolRegistry(tools).inheritable()] == ["act"]
    supervised = ToolRegistry(tools, policy=ToolPolicy({"shell": "supervised"}))
    assert [tool.name for tool in supervised.inheritable()] == ["act", "shell"]
    denied = ToolRegistry(tools, policy=ToolPolicy({"shell": "deny"}))
    assert [tool.name for tool in denied.inheritable()] == ["act"]


class Track:
    """Two tools, one of them parallel, that tell when they come and go."""

    def __init__(self) -> None:
        self.news: list[str] = []
        self.hold = asyncio.Event()

    async def beside(self, name: str, wait: int = 1) -> str:
        return await self._run(name, wait)

    async def alone(self, name: str, wait: int = 1) -> str:
        return await self._run(name, wait)

    async def _run(self, name: str, wait: int) -> str:
        self.news.append(f"+{name}")
        for _ in range(wait):
            await asyncio.sleep(0)
        self.news.append(f"-{name}")
        return name

    def registry(self) -> ToolRegistry:
        return ToolRegistry([Tool(self.beside, parallel=True), Tool(self.alone)])


def calls(*names: str) -> list[ToolCall]:
    """b... is parallel, a... is not; a digit behind tells how many turns of the loop it takes."""
    kinds = {"a": "alone", "b": "beside"}
    return [ToolCall(name, kinds[name[0]], f'{{"name": "{name}", "wait": {int(name[2:] or 1)}}}') for name in names]


def test_results_are_in_call_order_whatever_ends_first() -> None:
    async def main() -> list[ToolResult]:
        return await Track().registry().dispatch_batch(calls("b19", "b21", "a3", "b4"))

    assert [result.data for result in asyncio.run(main())] == ["b19", "b21", "a3", "b4"]


def test_parallel_neighbours_overlap_and_any_other_call_is_a_barrier() -> None:
    track = Track()

    async def main() -> None:
        await track.registry().dispatch_batch(calls("b1", "b2", "a3", "b4", "b5"))

    asyncio.run(main())
    assert set(track.news[:2]) == {"+b1", "+b2"}
    assert set(track.news[2:4]) == {"-b1", "-b2"}
    assert track.news[4:6] == ["+a3", "-a3"]
    assert set(track.news[6:8]) == {"+b4", "+b5"}


def test_each_call_is_told_when_it_starts_and_ends() -> None:
    started: list[int] = []
    finished: list[tuple[int, str, bool]] = []

    async def main() -> None:
        await (
            Track()
            .registry()
            .dispatch_batch(
                [*calls("b1", "a2"), ToolCall("x", "none", "")],
                started=started.append,
                finished=lambda index, result, seconds: finished.append((index, result.serialize()[:12], seconds >= 0)),
            )
        )

    asyncio.run(main())
    assert started == [0, 1, 2]
    assert finished == [(0, "b1", True), (1, "a2", True), (2, "Error: unkno", True)]


def test_a_listener_that_fails_does_not_take_the_batch_with_it() -> None:
    def fail(*news: Any) -> None:
        raise RuntimeError("display gone")

    async def main() -> list[ToolResult]:
        return await Track().registry().dispatch_batch(calls("b1", "b2"), started=fail, finished=fail)

    assert all(result.ok for result in asyncio.run(main()))


def test_a_cancel_stops_all_running_calls_and_those_done_were_told() -> None:
    running: list[str] = []
    stopped: list[str] = []
    finished: list[int] = []

    async def hang(name: str) -> str:
        running.append(name)
        try:
            await asyncio.sleep(30)
        finally:
            stopped.append(name)
        return ""

    async def quick() -> str:
        return "done"

    async def main() -> None:
        registry = ToolRegistry([Tool(hang, parallel=True), Tool(quick)])
        batch = asyncio.create_task(
            registry.dispatch_batch(
                [
                    ToolCall("0", "quick", ""),
                    ToolCall("1", "hang", '{"name": "a"}'),
                    ToolCall("2", "hang", '{"name": "b"}'),
                    ToolCall("3", "quick", ""),
                ],
                finished=lambda index, result, seconds: finished.append(index),
            )
        )
        while len(running) < 2:
            await asyncio.sleep(0)
        batch.cancel()
        with pytest.raises(asyncio.CancelledError):
            await batch

    asyncio.run(main())
    assert sorted(stopped) == ["a", "b"]
    assert finished == [0]
