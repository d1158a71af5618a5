"""`react`: the loop of model and tools that makes one turn. It holds no state."""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agent.events import Emit, Event, Notice, StepStarted, ToolFinished, ToolStarted, ignore
from agent.failures import ContextOverflow, ModelFailure, SessionUnavailable
from agent.healing import unique_id
from agent.messages import Completion, Message, Model, ToolChoice, Usage, assistant_message, json_object, tool_message
from agent.retry import complete
from tools import ToolCall, ToolRegistry, ToolResult

__all__ = ["Outcome", "react"]

log = logging.getLogger(__name__)

CUT_ANSWERS = {
    "length": "The answer was truncated at the length limit",
    "content_filter": "The answer was truncated by the provider's content filter",
}
SEND_AGAIN = {"length": "in smaller parts", "content_filter": "in other words, or answer the user"}
INTERRUPTED = "The call was interrupted by the user before it finished; it may have taken effect in part."
NOT_SAVED = "The call was not run: the session could not be saved."
NOT_STARTED = "The call was interrupted by the user before it started."
LAST_WORD = "\n\n[Step limit reached: no more tool calls in this turn. Answer with what you have.]"
REPEATED = "\n\n[This very call has failed {count} times. Repeating it will not help: change it, or answer the user.]"
TOLD_AT, STOPPED_AT = 3, 5  # identical failing calls


@dataclass(slots=True)
class Outcome:
    """How a turn went."""

    text: str = ""
    finish_reason: str = "stop"
    # stop | length or content_filter (it was cut off) | limit (step limit) | repeat (the same call kept failing)
    steps: int = 0
    usage: Usage = field(default_factory=Usage)


async def react(
    model: Model,
    messages: Sequence[Message],
    registry: ToolRegistry,
    *,
    record: Callable[[Message], None],
    emit: Emit = ignore,
    max_steps: int = 50,
    max_retries: int = 4,
    make_room: Callable[[ContextOverflow | None], Awaitable[bool]] | None = None,
    weigh: Callable[[Completion], None] | None = None,
) -> Outcome:
    """Ask the model, run the tools it calls, and go on until it answers. Raises a `ModelFailure`.

    `messages` is a live view of the whole history; `record` adds to it. `make_room(overflow)` may shorten it before a
    step, or after the server found it too long, and says whether it did. `weigh` sees each completion. However the
    turn ends, every call that was recorded has its result and no empty answer was stored.
    """
    turn = _Turn(model, messages, registry, record, _guarded(emit), max_retries, make_room, weigh)
    return await turn.play(max_steps)


def _guarded(emit: Emit) -> Emit:
    """A watcher that fails must not end the turn."""

    def guarded(event: Event) -> None:
        try:
            emit(event)
        except Exception:
            log.exception("the watcher of the turn failed at %s", type(event).__name__)

    return guarded


def _cut(completion: Completion) -> str:
    """How the answer was cut, empty where it is whole."""
    told = CUT_ANSWERS.get(completion.finish_reason)
    return f"{told} (finish_reason={completion.finish_reason})" if told else ""


@dataclass(slots=True)
class _Turn:
    model: Model
    messages: Sequence[Message]
    registry: ToolRegistry
    record: Callable[[Message], None]
    emit: Emit
    max_retries: int
    make_room: Callable[[ContextOverflow | None], Awaitable[bool]] | None
    weigh: Callable[[Completion], None] | None
    outcome: Outcome = field(default_factory=Outcome)
    failed: dict[tuple[str, str, str | None], int] = field(default_factory=dict)
    stop: str = ""

    async def play(self, max_steps: int) -> Outcome:
        schemas = self.registry.schemas()
        ids = {call["id"] for message in self.messages for call in message.get("tool_calls") or ()}
        while not self.stop:
            completion = await self._ask(schemas)
            if not completion.calls:
                return self._finish(completion)
            number = len(self.messages)
            calls = [replace(call, id=unique_id(call.id, ids, number)) for call in completion.calls]
            try:
                self.record(assistant_message(completion.content, calls, completion.reasoning))
            except SessionUnavailable:
                self._record_all([tool_message(call.id, f"Error: {NOT_SAVED}") for call in calls])
                raise
            if cut := _cut(completion):
                self.emit(Notice("truncated", f"{cut}; its calls were not run"))
                told = f"Error: {cut}: this call was not run. Send it again {SEND_AGAIN[completion.finish_reason]}."
                self._record_all([tool_message(call.id, told) for call in calls])
            else:
                await self._run(calls, last=self.outcome.steps >= max_steps)
            if self.outcome.steps >= max_steps:
                self.stop = self.stop or "limit"
        return await self._last_word(schemas)

    async def _ask(self, schemas: Sequence[dict[str, Any]], tool_choice: ToolChoice = "auto") -> Completion:
        self.outcome.steps += 1
        partial: list[str] = []
        request = functools.partial(complete, self.model, self.messages, schemas, tool_choice=tool_choice)
        request = functools.partial(request, emit=self.emit, max_retries=self.max_retries, partial=partial)
        try:
            if self.make_room is not None:
                await self.make_room(None)
            self.emit(StepStarted(self.outcome.steps))
            try:
                completion = await request()
            except ContextOverflow as overflow:
                if self.make_room is None or not await self.make_room(overflow):
                    raise
                completion = await request()
        except asyncio.CancelledError:
            said = "".join(partial).rstrip()
            self.record(assistant_message(f"{said}\n\n[interrupted by the user]".lstrip()))
            raise
        except ModelFailure as failure:
            self.record(assistant_message(f"[no answer: {failure.kind} failure]"))
            raise
        if completion.usage is not None:
            self.outcome.usage += completion.usage
        if self.weigh is not None:
            self.weigh(completion)
        return completion

    def _finish(self, completion: Completion) -> Outcome:
        self.record(assistant_message(completion.content, (), completion.reasoning))
        self.outcome.text = completion.content
        cut = _cut(completion)
        self.outcome.finish_reason = self.stop or (completion.finish_reason if cut else "stop")
        if cut:
            self.emit(Notice("truncated", cut))
        return self.outcome

    async def _last_word(self, schemas: Sequence[dict[str, Any]]) -> Outcome:
        steps = self.outcome.steps
        if self.stop == "limit":
            text = f"The limit of max {steps} steps is reached; the model may answer once more, without tools"
            self.emit(Notice("limit", text))
        else:
            text = "The model kept repeating one failing call (a loop); it may answer once more, without tools"
            self.emit(Notice("repeat", text))
        completion = await self._ask(schemas, "none")
        self.outcome.steps = steps + 1
        if not completion.content.strip():
            self.record(assistant_message("[stopped before an answer]", (), completion.reasoning))
            self.outcome.finish_reason = self.stop
            return self.outcome
        return self._finish(replace(completion, calls=()))

    async def _run(self, calls: Sequence[ToolCall], *, last: bool) -> None:
        """Run the calls; record their results in call order, each as soon as those before it are there."""
        results: list[ToolResult | None] = [None] * len(calls)
        started = [False] * len(calls)
        told = 0

        def start(place: int) -> None:
            started[place] = True
            self.emit(ToolStarted(calls[place]))

        def finish(place: int, result: ToolResult, seconds: float) -> None:
            nonlocal told
            results[place] = result
            self.emit(ToolFinished(calls[place], result, seconds))
            while told < len(calls) and (ready := results[told]) is not None:
                told += 1
                self._tell(calls[told - 1], ready, last=last and told == len(calls))

        try:
            await self.registry.dispatch_batch(calls, started=start, finished=finish)
        finally:
            late = []
            for place in range(told, len(calls)):
                missing = ToolResult(ok=False, error=INTERRUPTED if started[place] else NOT_STARTED)
                late.append(tool_message(calls[place].id, (results[place] or missing).serialize()))
            self._record_all(late)

    def _record_all(self, messages: Sequence[Message]) -> None:
        """Record each, also after one that cannot be written: what is sent must be whole. Raises the last failure."""
        failure: SessionUnavailable | None = None
        for message in messages:
            try:
                self.record(message)
            except SessionUnavailable as error:
                failure = error
        if failure is not None:
            raise failure

    def _tell(self, call: ToolCall, result: ToolResult, *, last: bool) -> None:
        text = result.serialize()
        key = (call.name, json_object(call.arguments) or call.arguments, result.error)
        if result.ok:
            self.failed = {known: count for known, count in self.failed.items() if known[:2] != key[:2]}
        else:
            count = self.failed[key] = self.failed.get(key, 0) + 1
            if count == TOLD_AT:
                told = f"The same call of {call.name} keeps repeating and failing; the model was told"
                self.emit(Notice("repeat", told))
            if count >= TOLD_AT:
                text += REPEATED.format(count=count)
            if count >= STOPPED_AT:
                self.stop = "repeat"
        self.record(tool_message(call.id, text + (LAST_WORD if last else "")))
