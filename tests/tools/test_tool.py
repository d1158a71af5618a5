"""`Tool`: whatever a model sends and a function does, a result comes back."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, Field
from tool_calls import call_tool

from tools import Tool, ToolResult, tool


class Step(BaseModel):
    """One step."""

    title: str
    minutes: int | None = None


@tool
def plan(
    name: Annotated[str, Field(description="what it is called")],
    steps: list[Step],
    mode: Literal["fast", "slow"] = "fast",
    schema: int | None = None,
    ratio: Annotated[float, Field(ge=0, le=1)] = 0.5,
) -> dict[str, Any]:
    """Make a plan."""
    return {"name": name, "steps": [step.title for step in steps], "mode": mode, "schema": schema, "ratio": ratio}


def sent(tool: Tool, text: str) -> ToolResult:
    return asyncio.run(tool.execute(text))


def test_the_schema_comes_from_the_signature() -> None:
    function = plan.schema()["function"]

    assert function["name"] == "plan"
    assert function["description"] == "Make a plan."
    assert function["parameters"] == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "what it is called"},
            "steps": {
                "type": "array",
                "items": {
                    "type": "object",
                    "description": "One step.",
                    "properties": {
                        "title": {"type": "string"},
                        "minutes": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                    },
                    "required": ["title"],
                },
            },
            "mode": {"type": "string", "enum": ["fast", "slow"], "default": "fast"},
            "schema": {"type": "integer"},
            "ratio": {"type": "number", "default": 0.5, "maximum": 1, "minimum": 0},
        },
        "required": ["name", "steps"],
        "additionalProperties": False,
    }


def test_two_processes_write_the_same_schema() -> None:
    code = (
        "import json; from tools import make_file_tools; print(json.dumps([t.schema() for t in make_file_tools('.')]))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def test_typed_values_and_defaults_reach_the_function() -> None:
    result = call_tool(plan, name="p", steps=[{"title": "one"}])
    assert result == ToolResult(
        True, data={"name": "p", "steps": ["one"], "mode": "fast", "schema": None, "ratio": 0.5}
    )


def test_null_for_an_optional_argument_is_its_absence() -> None:
    result = call_tool(plan, name="p", steps=[], mode=None, schema=None, ratio=None)
    assert result.data["mode"] == "fast"
    assert result.data["ratio"] == 0.5


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["'name' is missing", "'steps' is missing"]),
        ("{", ["not valid JSON", "one JSON object"]),
        ("null", ["JSON object", "null"]),
        ("[1, 2]", ["JSON object", "a list"]),
        ('"text"', ["JSON object"]),
        ('{"name": 5, "steps": []}', ["'name' must be text, not 5"]),
        ('{"name": null, "steps": []}', ["'name' must be text, not null"]),
        ('{"name": "x", "steps": {}}', ["'steps' must be a list, not {}"]),
        ('{"name": "x", "steps": [{"title": "a"}, {"titel": "b"}]}', ["'steps[1].title' is missing"]),
        ('{"name": "x", "steps": [7]}', ["'steps[0]' must be an object, not 7"]),
        ('{"name": "x", "steps": [], "mode": "FAST"}', ["'mode' must be one of 'fast' or 'slow'", '"FAST"']),
        ('{"name": "x", "steps": [], "schema": true}', ["'schema' must be a whole number, not true"]),
        ('{"name": "x", "steps": [], "schema": "5"}', ["'schema' must be a whole number"]),
        ('{"name": "x", "steps": [], "ratio": 2}', ["'ratio' must be at most 1, not 2"]),
        ('{"name": "x", "steps": [], "ratio": NaN}', ["'ratio'", "no JSON number"]),
        ('{"name": "x", "steps": [], "ratio": 1e999}', ["'ratio'", "no JSON number"]),
        ('{"name": "\\ud800", "steps": []}', ["'name'", "half a character"]),
        ('{"nam": "x", "steps": []}', ["unknown argument 'nam'", "it takes: name, steps", "'name' is missing"]),
        ('{"steps": [], "name": ' + "[" * 300 + "]" * 300 + "}", ["nested too deeply"]),
        ('{"a":' * 100_000, ["nested too deeply"]),
        ('{"schema": ' + "1" * 5000 + "}", ["too many digits"]),
    ],
    ids=lambda part: part[:40] if isinstance(part, str) else part[0],
)
def test_wrong_arguments_come_back_as_a_sentence_that_names_them(text: str, words: list[str]) -> None:
    result = sent(plan, text)

    assert not result.ok
    assert all(word in result.serialize() for word in words), result.error
    assert not any(jargon in result.serialize() for jargon in ("pydantic", "http", "Input", "_type", "argument_"))


@settings(max_examples=200, deadline=None)
@given(
    st.one_of(
        st.text(),
        st.from_regex(r"[\[\]{}\":,0-9a-z\\]*"),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
            lambda inner: (
                st.lists(inner)
                | st.dictionaries(st.sampled_from(["name", "steps", "title", "mode"]) | st.text(), inner)
            ),
        ).map(json.dumps),
    )
)
def test_no_text_makes_a_call_raise_or_its_answer_unsendable(text: str) -> None:
    answer = sent(plan, text).serialize()
    answer.encode()
    assert "\0" not in answer


def test_a_validator_may_fail_in_any_way() -> None:
    def broken(value: str) -> str:
        raise TypeError("validator is broken")

    def picky(value: str) -> str:
        raise ValueError("only Tuesdays")

    def act(a: Annotated[str, AfterValidator(picky)] = "x", b: Annotated[str, AfterValidator(broken)] = "x") -> str:
        return a + b

    assert call_tool(Tool(act), a="y").error == "argument 'a': only Tuesdays"
    assert call_tool(Tool(act), b="y").error == "TypeError: validator is broken"


def test_unknown_arguments_are_dropped_where_the_function_says_so() -> None:
    def greet(name: str, **ignored: object) -> str:
        return name

    greeting = Tool(greet)
    assert call_tool(greeting, name="Li", mood="glad").data == "Li"
    assert "additionalProperties" not in greeting.schema()["function"]["parameters"]


def test_a_refusal_of_the_function_is_told_in_its_words() -> None:
    @tool
    def refuse_all() -> str:
        raise ValueError("not today")

    assert call_tool(refuse_all).serialize() == "Error: not today"


def test_any_other_error_is_told_with_its_type_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    @tool
    async def broken() -> str:
        return {}["key"]

    with caplog.at_level(logging.WARNING):
        result = call_tool(broken)

    assert result.error == "KeyError: 'key'"
    assert "tool broken failed: KeyError: 'key'" in caplog.text
    assert "Traceback" not in caplog.text


def test_a_function_that_ends_the_program_only_ends_its_call() -> None:
    @tool
    def leave() -> str:
        sys.exit(3)

    assert not call_tool(leave).ok


def test_a_missing_file_is_told_without_an_error_number(tmp_path: Any) -> None:
    @tool
    def look() -> str:
        return (tmp_path / "gone").read_text()

    assert call_tool(look).error == f"No such file or directory: '{tmp_path / 'gone'}'"


def test_an_answer_holds_nothing_that_cannot_be_sent() -> None:
    @tool
    def odd() -> dict[str, Any]:
        return {"nul": "a\0b", "half": "\ud800", "nan": float("nan"), "step": Step(title="t"), "set": {1}}

    data = json.loads(call_tool(odd).serialize())
    assert data == {"nul": "a�b", "half": "�", "nan": "nan", "step": {"title": "t", "minutes": None}, "set": [1]}


def test_an_answer_that_is_no_data_is_an_error() -> None:
    @tool
    def bad() -> object:
        loop: list[object] = []
        loop.append(loop)
        return loop

    assert "not JSON data" in call_tool(bad).serialize()


def test_a_result_is_passed_on_as_it_is() -> None:
    @tool
    def half() -> ToolResult:
        return ToolResult(False, error="a\0b")

    assert call_tool(half) == ToolResult(False, error="a�b")


def test_the_time_limit_is_told_apart_from_a_timeout_of_the_function() -> None:
    async def slow() -> str:
        await asyncio.sleep(30)
        return ""

    async def own() -> str:
        raise TimeoutError("the printer did not answer")

    assert call_tool(Tool(slow, timeout_s=0.02)).error == "slow was given up: it took longer than 0.02 s"
    assert call_tool(Tool(own, timeout_s=5)).error == "the printer did not answer"


def test_a_cancel_passes() -> None:
    started = asyncio.Event()

    @tool
    async def wait() -> str:
        started.set()
        await asyncio.sleep(30)
        return ""

    async def cancelled() -> bool:
        call = asyncio.create_task(wait.execute(""))
        await started.wait()
        call.cancel()
        try:
            await call
        except asyncio.CancelledError:
            return True
        return False

    assert asyncio.run(cancelled())


def test_a_cancel_inside_the_function_is_an_error_of_the_function() -> None:
    @tool
    async def tangled() -> str:
        inner = asyncio.ensure_future(asyncio.sleep(30))
        inner.cancel()
        await inner
        return ""

    assert call_tool(tangled).error == "CancelledError"


def test_a_plain_function_leaves_the_loop_free() -> None:
    release = threading.Event()

    @tool
    def blocked() -> bool:
        return release.wait(20)

    async def both() -> ToolResult:
        call = asyncio.create_task(blocked.execute(""))
        await asyncio.sleep(0.01)
        release.set()
        return await call

    assert asyncio.run(both()).data is True


def test_a_function_that_never_ends_does_not_hold_the_program() -> None:
    code = (
        "import asyncio, time; from tools import Tool\n"
        "def hang() -> None: time.sleep(600)\n"
        "print(asyncio.run(Tool(hang, timeout_s=0.05).execute('')).error)"
    )
    begun = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert "took longer" in done.stdout
    assert time.monotonic() - begun < 60


def test_a_rule_sees_the_arguments_and_broken_ones_are_its_own() -> None:
    def act(action: str) -> str:
        return action

    ruled = Tool(act, rule=lambda arguments: "forget" if arguments.get("action") == "remove" else "act")
    assert ruled.rule_for('{"action": "remove"}') == "forget"
    assert ruled.rule_for('{"action": "add"}') == "act"
    assert ruled.rule_for("{") == "act"


def test_a_preview_is_plain_or_awaited_and_its_failure_is_words() -> None:
    def act(action: str) -> str:
        return action

    async def later(arguments: Mapping[str, Any]) -> str:
        return f"later {arguments['action']}"

    def failing(arguments: Mapping[str, Any]) -> str:
        raise RuntimeError("no view")

    async def shown(preview: Any, text: str = '{"action": "x"}') -> str:
        return await Tool(act, preview=preview).preview_of(text)

    assert asyncio.run(shown(lambda arguments: f"now {arguments['action']}")) == "now x"
    assert asyncio.run(shown(later)) == "later x"
    assert asyncio.run(shown(failing)) == "(no preview: RuntimeError: no view)"
    assert asyncio.run(shown(later, "{")).startswith("(no preview: arguments are not valid JSON")
    assert asyncio.run(shown(None)) == ""


@pytest.mark.parametrize(
    ("func", "name", "words"),
    [
        (lambda: "", None, "'<lambda>' is no tool name"),
        (lambda: "", "two words", "'two words' is no tool name"),
        (lambda *parts: "", "parts", "'parts' cannot be given by name"),
        (lambda a, /: "", "first", "'a' cannot be given by name"),
        (lambda **others: "", "others", "'others' cannot be given by name"),
    ],
)
def test_a_function_that_cannot_be_a_tool_is_refused_when_built(func: Any, name: str | None, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Tool(func, name=name)


def test_annotations_may_name_what_is_local_where_the_tool_is_built() -> None:
    class Point(BaseModel):
        x: int

    usual = 5

    @tool
    def move(to: Point, by: Annotated[int, Field(le=usual)] = usual) -> int:
        return to.x + by

    assert call_tool(move, to={"x": 1}).data == 6
    assert call_tool(move, to={"x": 1}, by=6).error == "argument 'by' must be at most 5, not 6"


def test_importing_the_package_loads_no_pydantic() -> None:
    code = "import sys; from tools import ToolCall, ToolResult, ToolPolicy, refuse; sys.exit('pydantic' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
