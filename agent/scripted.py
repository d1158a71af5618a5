"""`ScriptedModel`: answers from a list, and objects when a conversation does not simply grow."""

from __future__ import annotations

import asyncio
import copy
import inspect
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from agent.messages import Completion, Message, ToolChoice

__all__ = ["ScriptedAnswer", "ScriptedModel", "ScriptedRequest"]

ScriptedAnswer: TypeAlias = (
    "Completion | str | BaseException | Callable[[Sequence[Message], Sequence[dict[str, Any]]], Any]"
)
# A text is a whole answer, an exception is raised, a function gets messages and tools and gives one of those


class ScriptedRequest(NamedTuple):
    messages: list[Message]
    tools: list[dict[str, Any]]
    tool_choice: ToolChoice


class ScriptedModel:
    """A model for tests and examples: request `n` gets `script[n]`.

    Raises `AssertionError` when the script is over and when a request breaks the prefix: its messages must extend those
    of the last request of the same conversation, and its tools must be the same bytes. Conversations are told apart by
    their first user message and their prefix; a request without an assistant message begins one.
    """

    name = "scripted"

    def __init__(
        self, script: Sequence[ScriptedAnswer] | Callable[..., Any], *, check: bool = True, delay_s: float = 0.0
    ) -> None:
        """Play `script`: a list of answers, or one function that answers every request.

        `check=False` allows requests that do not extend the last one: after an undo, or when a session is resumed with
        another system prompt. `delay_s` is waited before each answer.
        """
        self.requests: list[ScriptedRequest] = []
        # Copies, in the order they came
        self._always = script if callable(script) else None
        self._script = [] if callable(script) else list(script)
        self._played = 0
        self._check = check
        self._delay_s = delay_s
        self._conversations: dict[str, list[tuple[list[str], str]]] = {}

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[dict[str, Any]], *, tool_choice: ToolChoice = "auto"
    ) -> AsyncIterator[str | Completion]:
        self.requests.append(ScriptedRequest(copy.deepcopy(list(messages)), copy.deepcopy(list(tools)), tool_choice))
        if self._check:
            self._follow(messages, tools)
        answer = self._next_answer()  # before any wait, so that parallel requests are answered in the order they came
        await asyncio.sleep(self._delay_s)
        while callable(answer) and not isinstance(answer, BaseException):
            answer = answer(messages, tools)
            if inspect.isawaitable(answer):
                answer = await _awaited(answer)
        if isinstance(answer, BaseException):
            raise answer
        completion = Completion(content=answer) if isinstance(answer, str) else answer
        if not isinstance(completion, Completion):
            raise AssertionError(f"the script has {completion!r} where a Completion or a text must be")
        for piece in re.findall(r"\S+\s*|\s+", completion.content):
            yield piece
        yield completion

    async def close(self) -> None:
        """Nothing to close."""

    def _next_answer(self) -> Any:
        if self._always is not None:
            return self._always
        self._played += 1
        if self._played > len(self._script):
            last = json.dumps(self.requests[-1].messages[-1:], ensure_ascii=False)
            raise AssertionError(
                f"request {self._played} came, but the script has {len(self._script)} answers; its last message: "
                f"{last:.500}"
            )
        return self._script[self._played - 1]

    def _follow(self, messages: Sequence[Message], tools: Sequence[dict[str, Any]]) -> None:
        # As text, because a message that was changed in place equals itself
        texts = [json.dumps(message, ensure_ascii=False) for message in messages]
        tools_text = json.dumps(list(tools), ensure_ascii=False)
        opening = next((text for text, one in zip(texts, messages, strict=True) if one.get("role") == "user"), "")
        conversations = self._conversations.setdefault(opening, [])
        begins = all(message.get("role") != "assistant" for message in messages)
        name = f"request {len(self.requests)} to the scripted model"
        if conversations:
            before, tools_before = max(conversations, key=lambda known: _common(known[0], texts))
            at = _common(before, texts)
            if at == len(before) and tools_before != tools_text:
                raise AssertionError(f"{name} changes the tools:\n{_difference(tools_before, tools_text)}")
            if at < len(before) and not begins:
                after = texts[at] if at < len(texts) else "(nothing)"
                where = f"{name} does not extend the one before it, from message {at} on"
                raise AssertionError(f"{where}:\n{_difference(before[at], after)}")
            if at == len(before) and not (begins and before == texts):  # the same again may be a second conversation
                conversations.remove((before, tools_before))
        conversations.append((texts, tools_text))


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    return next((at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))


def _difference(before: str, after: str) -> str:
    start = max(0, _common(before, after) - 60)
    return f"  before: ...{before[start : start + 260]}\n  after:  ...{after[start : start + 260]}"


async def _awaited(answer: Awaitable[Any]) -> Any:
    return await answer
