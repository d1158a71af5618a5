"""`Answer`: what the loopback server plays for one request, and the functions that build one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

__all__ = ["Answer", "call", "chunk", "chunks", "deltas", "event", "http", "message", "raw"]

Close = Literal["clean", "abrupt", "reset"]
# clean: as HTTP allows, so that a dropped stream looks like a whole one; abrupt: before the body is over; reset: by RST
Framing = Literal["chunked", "length", "close"]
# How the body says where it ends; `close` = by the end of the connection


@dataclass(frozen=True)
class Answer:
    """What one request gets. Built by `message`, `deltas`, `chunks`, `raw` and `http`."""

    frames: tuple[bytes, ...] = ()
    # Pieces of the body, each sent by itself
    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/event-stream"),)
    whole: bytes | None = None
    # The body for a request that did not ask for a stream
    usage: dict[str, int] | None = None
    # Sent as a chunk of its own when the request asked for it
    tail: tuple[bytes, ...] = ()
    delay_s: float = 0.0
    gap_s: float = 0.0
    stall_after: int | None = None
    stall_s: float = 30.0
    close: Close = "clean"
    framing: Framing = "chunked"

    def timed(self, **changes: Any) -> Answer:
        """Return the same answer with other `delay_s`, `gap_s`, `stall_after`, `stall_s`, `close`, `framing`."""
        return replace(self, **changes)


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **fields: Any) -> dict[str, Any]:
    """Return one `chat.completion.chunk`; `fields` are added to it or replace its own."""
    choices = [{"index": 0, "delta": delta or {}, "finish_reason": finish}]
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": choices,
        **fields,
    }


def event(payload: dict[str, Any] | str) -> bytes:
    text = payload if isinstance(payload, str) else json.dumps(payload)
    return b"data: " + text.encode() + b"\n\n"


def chunks(payloads: Iterable[dict[str, Any] | str], *, done: bool = True, **timing: Any) -> Answer:
    """Answer with these chunks as they stand, text being sent as it is, then `[DONE]`."""
    return Answer(tuple(map(event, payloads)), tail=(event("[DONE]"),) if done else (), **timing)


def deltas(
    pieces: Iterable[dict[str, Any]],
    finish: str | None = "stop",
    *,
    usage: dict[str, int] | None = None,
    done: bool = True,
    **timing: Any,
) -> Answer:
    """Answer with one chunk a delta, then one with the finish reason (none if that is None), then `[DONE]`."""
    payloads = [chunk(piece) for piece in pieces] + ([chunk({}, finish)] if finish else [])
    return replace(chunks(payloads, done=done, **timing), usage=usage)


def call(name: str, arguments: dict[str, Any] | str, call_id: str = "call_1") -> dict[str, Any]:
    """Return one entry of `tool_calls`."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}


def message(
    content: str | None = None,
    calls: Sequence[dict[str, Any]] = (),
    *,
    finish: str | None = None,
    reasoning: str | None = None,
    usage: dict[str, int] | None = None,
    **timing: Any,
) -> Answer:
    """Answer with this message: streamed if the request asks for it, else as one JSON object."""
    finish = finish or ("tool_calls" if calls else "stop")
    words = {"role": "assistant", "content": content, "reasoning_content": reasoning}
    words = {name: value for name, value in words.items() if value is not None}
    pieces = [words] + [{"tool_calls": [{"index": index, **one}]} for index, one in enumerate(calls)]
    whole_message = {"content": None, **words} | ({"tool_calls": list(calls)} if calls else {})
    whole = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": whole_message, "finish_reason": finish}],
    } | ({"usage": usage} if usage else {})
    return replace(deltas(pieces, finish, usage=usage, **timing), whole=json.dumps(whole).encode())


def raw(*frames: bytes, content_type: str = "text/event-stream", **timing: Any) -> Answer:
    """Answer with these bytes as the body, each piece sent by itself."""
    return Answer(frames, headers=(("Content-Type", content_type),), **timing)


def http(
    status: int, body: dict[str, Any] | str | bytes = b"", *, headers: dict[str, str] | None = None, **timing: Any
) -> Answer:
    """Answer with a status and a body that has a length."""
    if isinstance(body, dict):
        body = json.dumps(body).encode()
    data = body.encode() if isinstance(body, str) else body
    found = {"Content-Type": "application/json"} | (headers or {})
    return Answer((data,) if data else (), status, tuple(found.items()), **{"framing": "length", **timing})
