"""`heal`: a history as it was found, made valid to send."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agent.messages import Message, call_name, json_object, scrub, text_of

__all__ = ["NO_RESULT", "heal", "unique_id"]

NO_RESULT = "Error: no result was recorded; the call was interrupted and may have taken effect in part."


def unique_id(wanted: str, taken: set[str], number: int) -> str:
    """Return `wanted` if it is usable and free, else an id made from `number`; the id is taken afterwards."""
    chosen = scrub(wanted).strip()
    while not chosen or chosen in taken:
        chosen = f"call_{number}"
        number += 1
    taken.add(chosen)
    return chosen


def heal(messages: Iterable[Any]) -> list[Message]:
    """Return the messages that a strict server takes, in order.

    Every call has one result, in call order, before anything else; results without a call, messages that are not
    messages and empty answers are left out; arguments are JSON objects, ids unique, text is UTF-8. Messages that
    are valid stay the same objects.
    """
    healed: list[Message] = []
    taken: set[str] = set()
    results: dict[str, Message] = {}
    waiting: list[tuple[str, str]] = []  # (id in the file, id in the healed history) of calls not answered yet

    def settle() -> None:
        for old, new in waiting:
            found = results.pop(old, None)
            text = NO_RESULT if found is None else scrub(text_of(found))
            mended = {"role": "tool", "tool_call_id": new, "content": text}
            healed.append(found if found == mended else mended)
        waiting.clear()
        results.clear()

    for message in messages:
        role = message.get("role") if isinstance(message, dict) else None
        if role == "tool":
            call_id = message.get("tool_call_id")
            if isinstance(call_id, str) and any(old == call_id for old, _ in waiting):
                results.setdefault(call_id, message)
            continue
        if role not in ("user", "assistant", "system"):
            continue
        settle()
        mended = _assistant(message, taken, waiting, len(healed)) if role == "assistant" else _plain(message)
        if mended is not None:
            healed.append(mended)
    settle()
    return healed


def _plain(message: Message) -> Message | None:
    content = message.get("content")
    if isinstance(content, str):
        clean = scrub(content)
        return message if clean == content else {**message, "content": clean}
    text = scrub(text_of(message))
    return {**message, "content": text} if text else None


def _assistant(message: Message, taken: set[str], waiting: list[tuple[str, str]], number: int) -> Message | None:
    text = scrub(text_of(message))
    calls = []
    found = message.get("tool_calls")
    for call in found if isinstance(found, list) else []:
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            continue
        old = call.get("id") if isinstance(call.get("id"), str) else ""
        new = unique_id(old, taken, number)
        arguments = function.get("arguments")
        arguments = json_object(scrub(arguments)) if isinstance(arguments, str) else "{}"
        function = {"name": call_name(function["name"]), "arguments": arguments or "{}"}
        calls.append({"id": new, "type": "function", "function": function})
        waiting.append((old, new))
    if not calls and not text.strip():
        return None
    mended: Message = {"role": "assistant", "content": text or None}
    if isinstance(message.get("reasoning_content"), str):
        mended["reasoning_content"] = scrub(message["reasoning_content"])
    if calls:
        mended["tool_calls"] = calls
    return message if mended == message else mended
