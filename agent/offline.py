"""`OfflineModel`: a model made of rules, for a machine without one. It drives the same loop, tools and memory."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Sequence
from typing import Any

from agent.chinese import is_chinese
from agent.messages import Completion, Message, ToolChoice, text_of
from agent.offline_knowledge import Done, done_calls, entries_in, plain_request
from agent.offline_rules import Request, understand
from agent.offline_steps import HANDLERS
from agent.offline_turn import Call, Step, Turn
from agent.offline_words import NOTES, say
from prompts import render
from tools import ToolCall

__all__ = ["OfflineModel"]

SUMMARY_PIECE_CHARS, SUMMARY_CHARS = 300, 4_000
ONE_STEP = {"remember", "replace", "edit", "delegate", "list", "search", "write", "read", "run"}
# Kinds that are done with one batch of calls, so that several lines of them can be one request
MOST_LINES = 20


class OfflineModel:
    """Answers by rules (`offline_rules`), in English and Chinese, and says so. Everything it claims was done was done:
    it goes by the results of its calls. It needs no network and keeps no state between requests."""

    name = "offline"

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[dict[str, Any]], *, tool_choice: ToolChoice = "auto"
    ) -> AsyncIterator[str | Completion]:
        """Yield the answer in pieces, then the whole `Completion`."""
        completion = _complete(list(messages), tools, tool_choice)
        for piece in re.findall(r"\S+\s*|\s+", completion.content):
            yield piece
        yield completion

    async def close(self) -> None:
        """Nothing to close."""


def _complete(messages: list[Message], tools: Sequence[dict[str, Any]], tool_choice: ToolChoice) -> Completion:
    if len(messages) == 2 and not tools and (summary := _summary(messages)):
        return Completion(summary)
    asked = max((place for place, message in enumerate(messages) if message.get("role") == "user"), default=-1)
    text = plain_request(text_of(messages[asked])) if asked >= 0 else ""
    offered = frozenset(tool["function"]["name"] for tool in tools)
    turn = Turn(is_chinese(text), offered, entries_in(messages[: asked + 1]), entries_in(messages))
    requests = _requests(text)
    step = _next_step(turn, requests, done_calls(messages[asked + 1 :]))
    if isinstance(step, str) or tool_choice == "none":
        answer = step if isinstance(step, str) else turn.say("no_tools_now")
        told = requests[0].kind == "help" or any(
            message.get("role") == "assistant" and text_of(message) for message in messages
        )
        return Completion(answer if told else f"{answer}\n\n{NOTES[turn.chinese]}")
    calls = [
        ToolCall(f"offline_{len(messages)}_{number}", name, json.dumps(arguments, ensure_ascii=False))
        for number, (name, arguments) in enumerate(step)
    ]
    return Completion(calls=tuple(calls), finish_reason="tool_calls")


def _requests(text: str) -> list[Request]:
    """One request, or one a line where every line is one of its own."""
    lines = [line for line in text.split("\n") if line.strip()]
    requests = [understand(line) for line in lines] if 1 < len(lines) <= MOST_LINES else []
    if requests and all(request.kind in ONE_STEP for request in requests):
        return requests
    return [understand(text)]


def _next_step(turn: Turn, requests: list[Request], done: list[Done]) -> Step:
    if len(requests) == 1:
        return HANDLERS[requests[0].kind](turn, requests[0], done)
    calls: list[Call] = []
    answers: list[str] = []
    for request in requests:
        planned = HANDLERS[request.kind](turn, request, [])
        if isinstance(planned, str):
            answers.append(planned)
            continue
        results = done[len(calls) : len(calls) + len(planned)]
        calls += planned
        answer = HANDLERS[request.kind](turn, request, results) if results else ""
        answers += [answer] if isinstance(answer, str) else []
    return calls if calls and not done else "\n".join(answer for answer in answers if answer)


def _summary(messages: list[Message]) -> str:
    """The answer to a request for a summary, which has a system prompt of its own."""
    if text_of(messages[0]) != render("summary"):
        return ""
    pieces = [piece[:SUMMARY_PIECE_CHARS] for piece in text_of(messages[1]).split("\n\n")]
    extract = "\n".join(pieces)[-SUMMARY_CHARS:]
    return say("summary", chinese=is_chinese(extract), extract=extract)
