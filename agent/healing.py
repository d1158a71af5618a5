"""`Healing`: a history as it was found, made valid to send."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agent.messages import Message, call_name, json_object, scrub, text_of, tool_message

__all__ = ["NO_RESULT", "Healing", "unique_id"]

NO_RESULT = "Error: no result was recorded; the call was interrupted and may have taken effect in part."


def unique_id(wanted: str, taken: set[str], number: int) -> str:
    """Return `wanted` if it is usable and free, else an id made from `number`; the id is taken afterwards."""
    chosen = scrub(wanted).strip()
    while not chosen or chosen in taken:
        chosen = f"call_{number}"
        number += 1
    taken.add(chosen)
    return chosen


@dataclass(slots=True)
class _OpenCall:
    found: Any
    # The id in the history as it was found; several calls may share it
    id: str
    result: Message | None = None


class Healing:
    """Takes a history, message by message, and keeps what a strict server takes, in order.

    A user begins. Every call has one result, in call order, before anything else; results without a call, empty
    answers and what is no message of a user or an assistant is left out, and so is every field that a message of its
    role has not. Arguments are JSON objects, ids unique, text is UTF-8. Messages that are valid stay the same objects.
    """

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._ids: set[str] = set()
        self._open: list[_OpenCall] = []
        # The calls of the last message, while results may still come

    def add(self, message: Any) -> bool:
        """Take the next message; False says that nothing of it can be sent and it was left out."""
        role = message.get("role") if isinstance(message, dict) else None
        opened: list[_OpenCall] = []
        if role == "tool":
            return self._answer(message)
        if role == "user":
            mended = _user(message)
        elif role == "assistant" and self._messages:  # strict servers want the user to begin
            mended = _assistant(message, self._ids, opened, len(self._messages) + len(self._open))
        else:
            return False
        if mended is None:
            return False
        self.settled().append(mended)
        self._open = opened
        return True

    def settled(self) -> list[Message]:
        """Return the history, in which each call that is still open has got its result."""
        for call in self._open:
            mended = tool_message(call.id, NO_RESULT if call.result is None else text_of(call.result))
            self._messages.append(call.result if call.result == mended else mended)
        self._open.clear()
        return self._messages

    def rewind(self, to: int) -> None:
        """Keep the first `to` messages only. Calls whose results are cut off are open again."""
        messages = self.settled()
        start = to
        while 0 < start < len(messages) and messages[start]["role"] == "tool":
            start -= 1
        again = messages[start:to]
        for message in messages[start:]:
            self._ids.difference_update(call["id"] for call in message.get("tool_calls") or ())
        del messages[start:]
        for message in again:
            self.add(message)

    def _answer(self, message: Message) -> bool:
        if not isinstance(message.get("content"), str | list):
            return False
        found = message.get("tool_call_id")
        call = next((call for call in self._open if call.result is None and call.found == found), None)
        if call is not None:
            call.result = message
        return call is not None


def _user(message: Message) -> Message | None:
    text = scrub(text_of(message))
    if not text and message.get("content") != "":
        return None
    mended = {"role": "user", "content": text}
    return message if mended == message else mended


def _assistant(message: Message, taken: set[str], opened: list[_OpenCall], number: int) -> Message | None:
    text = scrub(text_of(message))
    calls = []
    found = message.get("tool_calls")
    for call in found if isinstance(found, list) else []:
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            continue
        old = call.get("id")
        new = unique_id(old if isinstance(old, str) else "", taken, number)
        arguments = function.get("arguments")
        arguments = json_object(scrub(arguments)) if isinstance(arguments, str) else "{}"
        function = {"name": call_name(function["name"]), "arguments": arguments or "{}"}
        calls.append({"id": new, "type": "function", "function": function})
        opened.append(_OpenCall(old, new))
    if not calls and not text.strip():
        return None
    mended: Message = {"role": "assistant", "content": text or None}
    if isinstance(message.get("reasoning_content"), str):
        mended["reasoning_content"] = scrub(message["reasoning_content"])
    if calls:
        mended["tool_calls"] = calls
    return message if mended == message else mended
