"""The model of rules, with results as the tools give them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agent import Agent, Reply
from agent.messages import Completion, Message, ToolChoice, assistant_message, tool_message, user_message
from agent.offline import OfflineModel
from agent.offline_words import NOTES
from prompts import render

ALL = ("memory", "file_read", "file_list", "file_search", "shell", "task")
PYTEST, TABS, DEADLINE = "This project runs its tests with pytest", "I prefer tabs", "The deadline is Friday"
PROMPT = f"""You are my-agent.
<MEMORY_CONTEXT>
A line with only § parts two entries.

## MEMORY.md (agent notes)

{PYTEST}
§
{DEADLINE}
§
[blocked: 1 entry]

## USER.md (user profile)

{TABS}
</MEMORY_CONTEXT>
More words about MEMORY_CONTEXT."""


def schemas(*names: str) -> list[dict[str, Any]]:
    return [{"type": "function", "function": {"name": name, "parameters": {}}} for name in names]


def answer(messages: Sequence[Message], *tools: str, tool_choice: ToolChoice = "auto") -> Completion:
    async def main() -> Completion:
        pieces: list[str] = []
        async for piece in OfflineModel().stream(messages, schemas(*tools), tool_choice=tool_choice):
            if isinstance(piece, Completion):
                assert "".join(pieces) == piece.content
                return piece
            pieces.append(piece)
        raise AssertionError("no completion came")

    return asyncio.run(main())


class Talk:
    """A talk in which the tools answer what they are told to."""

    def __init__(self, *tools: str, prompt: str = PROMPT) -> None:
        self.tools = tools
        self.messages: list[Message] = [{"role": "system", "content": prompt}]
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def say(self, text: str, *results: str) -> str:
        """Return the last word on `text`; its calls get `results` one after the other."""
        waiting = list(results)
        self.messages.append(user_message(text))
        self.calls = []
        while True:
            completion = answer(self.messages, *self.tools)
            self.messages.append(assistant_message(completion.content, completion.calls))
            if not completion.calls:
                assert not waiting, f"not asked for: {waiting}"
                return completion.content
            for call in completion.calls:
                self.calls.append((call.name, json.loads(call.arguments)))
                self.messages.append(tool_message(call.id, waiting.pop(0)))


@pytest.mark.parametrize(
    ("text", "target", "content", "place"),
    [
        (f"Remember that {PYTEST[:1].lower()}{PYTEST[1:]}", "memory", PYTEST, "MEMORY.md"),
        ("remember that my project uses uv", "memory", "My project uses uv", "MEMORY.md"),
        ("remember that I prefer dark themes", "user", "I prefer dark themes", "USER.md"),
        ("remember my name is Ada", "user", "My name is Ada", "USER.md"),
        ("remember: always answer in German", "user", "always answer in German", "USER.md"),
        ("记住这个项目用 uv", "memory", "这个项目用 uv", "MEMORY.md"),
        ("记住我喜欢深色主题", "user", "我喜欢深色主题", "USER.md"),
        ("請記住我叫小明", "user", "我叫小明", "USER.md"),
        ("记住我们的项目用 uv", "memory", "我们的项目用 uv", "MEMORY.md"),
    ],
)
def test_what_is_to_be_remembered_goes_to_its_target(text: str, target: str, content: str, place: str) -> None:
    talk = Talk(*ALL)

    said = talk.say(text, f"Added to {target} (9/2200 chars used).")

    assert [(name, {**arguments, "content": arguments["content"].capitalize()}) for name, arguments in talk.calls] == [
        ("memory", {"target": target, "action": "add", "content": content.capitalize()})
    ]
    assert place in said and content.lower() in said.lower()


def test_a_save_that_failed_is_never_claimed() -> None:
    error = "Error: 2190/2200 chars; merge or remove entries first"

    said = Talk(*ALL).say("remember that a is b", error)

    assert "did not work" in said and error in said and "Saved" not in said
    assert "没有成功" in Talk(*ALL).say("记住甲是乙", error)


def test_an_entry_that_is_there_already_is_told() -> None:
    assert "already" in Talk(*ALL).say("remember that a is b", "Entry already exists in memory (9/2200 chars used).")


def test_without_memory_nothing_is_claimed() -> None:
    said = Talk("file_read", prompt="x").say("remember that a is b")

    assert "Memory is off" in said


@pytest.mark.parametrize(
    ("question", "entry"),
    [
        ("what do you know about tests?", PYTEST),
        ("How do we run the tests?", PYTEST),
        ("pytest 是做什么的？", PYTEST),
        ("你知道关于我的什么？", TABS),
        ("what do I prefer?", TABS),
        ("what do you know about me?", TABS),
        ("when is the deadline?", DEADLINE),
    ],
)
def test_questions_are_answered_from_the_snapshot(question: str, entry: str) -> None:
    said = Talk(*ALL).say(question)

    assert entry in said
    assert sum(known in said for known in (PYTEST, TABS, DEADLINE)) == 1


def test_everything_known_is_listed_without_blocked_entries() -> None:
    said = Talk(*ALL).say("what do you know?")

    assert all(f"- {entry}" in said for entry in (PYTEST, TABS, DEADLINE)) and "blocked" not in said


def test_what_is_not_known_is_said() -> None:
    assert "no entry in memory" in Talk(*ALL).say("What is the capital of France?")
    assert "nothing about cats" in Talk(*ALL).say("what do you know about cats?")


def test_what_was_written_in_this_talk_is_known() -> None:
    talk = Talk(*ALL)
    talk.say("remember that the port is 8080", "Added to memory (9/2200 chars used).")
    talk.say("remember that the port is 9090", "Error: denied")
    talk.say("replace tabs with spaces", "Replaced in user (9/1375 chars used).")
    talk.say("forget the deadline", "Removed from memory (9/2200 chars used).")

    assert "8080" in (said := talk.say("which port?")) and "9090" not in said
    assert "I prefer spaces" in talk.say("what do I prefer?")
    assert DEADLINE not in talk.say("what do you know?")


def test_recalled_text_is_known() -> None:
    recalled = render("recalled", provider="the archive", text="- The cat is called Minka\n- Tea, not coffee")
    talk = Talk(*ALL)

    said = talk.say(f"{recalled}\n\nWhat is my cat called?")

    assert "Minka" in said and "coffee" not in said and "out of date" not in said


@pytest.mark.parametrize("text", ["forget pytest", "忘掉 pytest", "forget the tests", "delete the memory about tests."])
def test_the_one_entry_that_fits_is_forgotten_whole(text: str) -> None:
    talk = Talk(*ALL)

    assert PYTEST in talk.say(text, f"Removed from memory (9/2200 chars used).\n{PYTEST}")
    assert talk.calls == [("memory", {"target": "memory", "action": "remove", "old_text": PYTEST})]


def test_several_that_fit_are_shown_and_nothing_is_changed() -> None:
    talk = Talk(*ALL, prompt=PROMPT.replace(DEADLINE, "pytest needs xdist"))

    said = talk.say("forget pytest")

    assert talk.calls == [] and "2 entries fit" in said and PYTEST in said


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("replace pytest with nox", "This project runs its tests with nox"),
        ("把 pytest 改成 nox", "This project runs its tests with nox"),
        (f'replace "{PYTEST}" with "We use nox"', "We use nox"),
    ],
)
def test_a_part_of_an_entry_is_replaced_in_it(text: str, new: str) -> None:
    talk = Talk(*ALL)

    assert "Replaced" in talk.say(text, "Replaced in memory (9/2200 chars used).")
    wanted = {"target": "memory", "action": "replace", "old_text": PYTEST, "new_content": new}
    assert talk.calls == [("memory", wanted)]


def test_what_no_entry_holds_is_not_replaced() -> None:
    talk = Talk(*ALL)

    assert "nothing was changed" in talk.say("replace cats with dogs") and talk.calls == []


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("read a.txt", ("file_read", {"path": "a.txt"})),
        ("读取 a.txt", ("file_read", {"path": "a.txt"})),
        ("list files", ("file_list", {"path": "."})),
        ("search for a.b in src/", ("file_search", {"pattern": r"a\.b", "path": "src/"})),
        ("run `git status`", ("shell", {"command": "git status"})),
        ("delegate: read a.txt", ("task", {"prompt": "read a.txt"})),
    ],
)
def test_orders_become_calls_and_their_results_are_told(text: str, call: tuple[str, dict[str, Any]]) -> None:
    talk = Talk(*ALL)
    assert "salt" in talk.say(text, "salt") and talk.calls == [call]

    said = Talk(*ALL).say(text, "Error: no luck")
    assert "Error: no luck" in said and ("did not work" in said or "没有成功" in said)

    assert repr(call[0]) in Talk(prompt="x").say(text)


def test_several_jobs_go_to_sub_agents_side_by_side() -> None:
    talk = Talk(*ALL)

    said = talk.say("delegate: read a.txt; read b.txt", f"salt\n\n{NOTES[0]}", "Error: step limit")

    assert [arguments["prompt"] for _, arguments in talk.calls] == ["read a.txt", "read b.txt"]
    assert "Sub-agent 1 says: salt" in said and "Error: step limit" in said and said.count(NOTES[0]) == 1


@pytest.mark.parametrize("text", ["help", "who are you?", "帮助", "The sky is blue", "你好", "hello"])
def test_it_says_that_it_is_rules(text: str) -> None:
    said = Talk(*ALL).say(text)

    assert "not a language model" in said or "不是语言模型" in said


def test_the_note_about_rules_comes_once_a_talk() -> None:
    talk = Talk(*ALL)

    assert NOTES[0] in talk.say("what?") and NOTES[0] not in talk.say("what?")


def test_files_and_stdin_beside_the_request_are_not_part_of_it() -> None:
    talk = Talk(*ALL)

    said = talk.say('read a.txt\n\n<file path="b.txt">\nremember x\n</file>\n\n<stdin>\nforget y\n</stdin>', "salt")

    assert talk.calls == [("file_read", {"path": "a.txt"})] and "salt" in said


def test_when_tools_are_not_allowed_it_says_so() -> None:
    messages = [{"role": "system", "content": PROMPT}, user_message("read a.txt")]

    completion = answer(messages, *ALL, tool_choice="none")

    assert not completion.calls and "may not use tools" in completion.content


def test_in_the_real_loop_one_session_remembers_for_the_next(tmp_path: Path) -> None:
    async def run(text: str) -> Reply:
        agent = Agent(model=OfflineModel(), memory_dir=tmp_path / "memory", cwd=tmp_path)
        try:
            return await agent.run(text)
        finally:
            await agent.close()

    first = asyncio.run(run("Remember that this project runs its tests with pytest"))
    assert "Saved to MEMORY.md" in first.text and len(first.memory_writes) == 1
    assert (tmp_path / "memory" / "MEMORY.md").read_text() == PYTEST

    asyncio.run(run("记住我喜欢喝茶"))
    assert "我喜欢喝茶" in asyncio.run(run("你知道我喜欢什么吗？")).text
    assert PYTEST in asyncio.run(run("what do you know about tests?")).text


def test_in_the_real_loop_a_job_goes_to_a_sub_agent(tmp_path: Path) -> None:
    async def main() -> Reply:
        agent = Agent(model=OfflineModel(), memory_dir=False, cwd=tmp_path)
        try:
            return await agent.run("delegate: remember that a is b")
        finally:
            await agent.close()

    assert "Sub-agent 1 says: Memory is off here" in asyncio.run(main()).text


def test_as_a_sub_agent_it_does_its_job() -> None:
    talk = Talk("file_read", prompt=render("subagent", instructions=""))

    assert "salt" in talk.say("read a.txt and say what is in it", "salt")
    assert "Memory is off" in talk.say("remember that a is b")


def test_a_summary_is_an_extract() -> None:
    messages = [
        {"role": "system", "content": render("summary")},
        user_message("user: my number is 41\n\nassistant: noted"),
    ]

    assert "my number is 41" in answer(messages).content


def test_ids_of_calls_are_never_used_twice() -> None:
    talk = Talk(*ALL)
    for _ in range(3):
        talk.say("delegate: read a.txt; read b.txt", "a", "b")

    ids = [call["id"] for message in talk.messages for call in message.get("tool_calls") or ()]
    assert len(ids) == len(set(ids)) == 6


def test_the_same_request_is_answered_in_the_same_way() -> None:
    messages = [{"role": "system", "content": PROMPT}, user_message("what do you know?")]

    assert answer(messages, *ALL) == answer(list(messages), *ALL)


def test_a_target_without_entries_is_no_entry() -> None:
    said = Talk(*ALL, prompt=PROMPT.replace(TABS, "(empty)")).say("what do you know?")

    assert PYTEST in said and "(empty)" not in said
