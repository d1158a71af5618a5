"""`Loopback`: a scripted OpenAI-compatible server on 127.0.0.1, for every test that needs a wire.

    with Loopback([message("hi"), http(429, headers={"Retry-After": "1"})]) as server:
        model = OpenAIModel("m", base_url=server.url)

One answer is played per request, in order; a request beyond the script gets a 500 and is noted in `server.problems`.
Instead of a list, `Loopback` takes a function `Request -> Answer`, called in the order of the requests.
`server.requests` records every request with its bytes, the time it came and the time its client hung up before the
answer was over.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

__all__ = [
    "Answer",
    "Loopback",
    "Request",
    "call",
    "chunk",
    "chunks",
    "deltas",
    "http",
    "message",
    "raw",
    "request_faults",
]

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


@dataclass
class Request:
    path: str
    headers: dict[str, str]
    body: bytes
    arrived: float
    data: dict[str, Any] = field(default_factory=dict)
    hung_up: float | None = None
    # When the client closed the connection before the answer was over (`time.monotonic()`)
    answered: float | None = None
    frames_sent: int = 0

    @property
    def messages(self) -> list[dict[str, Any]]:
        found = self.data.get("messages")
        return found if isinstance(found, list) else []


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


def _event(payload: dict[str, Any] | str) -> bytes:
    text = payload if isinstance(payload, str) else json.dumps(payload)
    return b"data: " + text.encode() + b"\n\n"


def chunks(payloads: Iterable[dict[str, Any] | str], *, done: bool = True, **timing: Any) -> Answer:
    """Answer with these chunks as they stand, text being sent as it is, then `[DONE]`."""
    return Answer(tuple(map(_event, payloads)), tail=(_event("[DONE]"),) if done else (), **timing)


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


class Loopback:
    """The server. Runs in a thread of its own from `__enter__` to `__exit__`."""

    def __init__(self, answers: Sequence[Answer] | Callable[[Request], Answer] = ()) -> None:
        self._script = None if callable(answers) else list(answers)
        self._choose = answers if callable(answers) else self._next
        self.requests: list[Request] = []
        self.problems: list[str] = []
        self.connections = 0
        self.port = 0
        self._changed = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._ready = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def add(self, *answers: Answer) -> None:
        """Append to the script of a running server."""
        assert self._script is not None, "this server answers by a function"
        self._script.extend(answers)

    def wait_until(self, true: Callable[[], Any], timeout_s: float = 10.0) -> None:
        """Wait until `true()` holds; it is asked again whenever something happened here."""
        with self._changed:
            assert self._changed.wait_for(true, timeout_s), f"did not come true within {timeout_s} s"

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10), "the loopback server did not start"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _next(self, request: Request) -> Answer:
        if self._script:
            return self._script.pop(0)
        self.problems.append(f"request {len(self.requests)} came after the script's end")
        return http(500, {"error": {"message": "script exhausted", "type": "server_error"}})

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        listening = self._loop.create_server(lambda: _Connection(self), "127.0.0.1", 0, backlog=256)
        server = self._loop.run_until_complete(listening)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        try:
            self._loop.run_forever()
        finally:
            server.close()
            tasks = asyncio.all_tasks(self._loop)
            for task in tasks:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            self._loop.close()

    @contextlib.contextmanager
    def changing(self) -> Iterator[None]:
        with self._changed:
            yield
            self._changed.notify_all()

    def answer_to(self, request: Request) -> Answer:
        with self.changing():
            self.requests.append(request)
            return self._choose(request)


class _Connection(asyncio.Protocol):
    """One client. Requests come one after the other; an answer is a task that a hang-up cancels."""

    def __init__(self, server: Loopback) -> None:
        self._server = server
        self._received = bytearray()
        self._request: Request | None = None
        self._playing: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._server.connections += 1

    def data_received(self, data: bytes) -> None:
        self._received += data
        if self._request is None:
            self._serve_next()

    def eof_received(self) -> bool:
        self._hang_up()
        return False

    def connection_lost(self, error: Exception | None) -> None:
        self._hang_up()

    def _hang_up(self) -> None:
        if self._request is not None and self._playing is not None:
            with self._server.changing():
                self._request.hung_up = time.monotonic()
            self._playing.cancel()
            self._request = self._playing = None

    def _serve_next(self) -> None:
        end = self._received.find(b"\r\n\r\n")
        if end < 0:
            return
        first, *lines = self._received[:end].decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        size = int(headers.get("content-length", 0))
        if len(self._received) < end + 4 + size:
            return
        body = bytes(self._received[end + 4 : end + 4 + size])
        del self._received[: end + 4 + size]
        request = Request(first.split()[1], headers, body, time.monotonic())
        with contextlib.suppress(ValueError):
            data = json.loads(body)
            request.data = data if isinstance(data, dict) else {}
        self._request = request
        self._playing = asyncio.ensure_future(self._play(request, self._server.answer_to(request)))

    async def _play(self, request: Request, answer: Answer) -> None:
        if answer.delay_s:
            await asyncio.sleep(answer.delay_s)
        frames = list(answer.frames)
        if request.data.get("stream") is not True and answer.whole is not None:
            answer = http(answer.status, answer.whole)
            frames = list(answer.frames)
        elif answer.usage and (request.data.get("stream_options") or {}).get("include_usage"):
            frames.append(_event(chunk(choices=[], usage=answer.usage)))
        frames += answer.tail
        keep = answer.close == "clean" and answer.framing != "close"
        self._transport.write(_head(answer, sum(map(len, frames)), keep))
        for number, frame in enumerate([*frames, b""]):
            if number == answer.stall_after:
                await asyncio.sleep(answer.stall_s)
            elif answer.gap_s and number:
                await asyncio.sleep(answer.gap_s)
            if frame:
                self._transport.write(b"%x\r\n%b\r\n" % (len(frame), frame) if answer.framing == "chunked" else frame)
                request.frames_sent = number + 1
            if answer.gap_s or answer.stall_after is not None:
                with self._server.changing():
                    pass  # whoever waits for a frame looks again
        if answer.framing == "chunked" and answer.close == "clean":
            self._transport.write(b"0\r\n\r\n")
        self._end(request, answer, keep)

    def _end(self, request: Request, answer: Answer, keep: bool) -> None:
        self._request = self._playing = None
        with self._server.changing():
            request.answered = time.monotonic()
        if answer.close == "reset":
            sock = self._transport.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._transport.abort()
        elif keep:
            self._serve_next()
        else:
            self._transport.close()


def _head(answer: Answer, size: int, keep: bool) -> bytes:
    lines = [f"HTTP/1.1 {answer.status} Scripted", *(f"{name}: {value}" for name, value in answer.headers)]
    if answer.framing == "chunked":
        lines.append("Transfer-Encoding: chunked")
    elif answer.framing == "length":
        lines.append(f"Content-Length: {size if answer.close == 'clean' else size + 1000}")
    if not keep:
        lines.append("Connection: close")
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


def request_faults(request: Request) -> list[str]:
    """Return what a strict server would answer 400 to, in words; empty when the request is valid."""
    faults = []
    try:
        text = request.body.decode()
    except UnicodeDecodeError as error:
        return [f"the body is not UTF-8: {error}"]
    if "\\u0000" in text and any("\0" in part for part in _strings(request.data)):
        faults.append("a NUL in a text")
    if "\\ud" in text.lower():
        odd = (part for part in _strings(request.data) if any("\ud800" <= letter <= "\udfff" for letter in part))
        faults.extend(f"a lone surrogate in {part[:40]!r}" for part in odd)
    if not request.messages:
        faults.append("no messages")
    return faults + list(_pairing_faults(request.messages))


def _pairing_faults(messages: Sequence[dict[str, Any]]) -> Iterator[str]:
    waiting: list[str] = []
    ids: Counter[str] = Counter()
    for number, entry in enumerate(messages):
        role = entry.get("role")
        if role == "tool":
            call_id = entry.get("tool_call_id")
            if not waiting or waiting.pop(0) != call_id:
                yield f"messages.{number}: result {call_id!r} answers no open call, or not in order"
            continue
        if waiting:
            yield f"messages.{number}: calls {waiting} have no result"
            waiting = []
        if role == "assistant":
            calls = entry.get("tool_calls") or []
            if not calls and not (entry.get("content") or ""):
                yield f"messages.{number}: an assistant message with neither text nor calls"
            for one in calls:
                ids[one.get("id", "")] += 1
                waiting.append(one.get("id", ""))
                if not one.get("id") or ids[one["id"]] > 1:
                    yield f"messages.{number}: call id {one.get('id')!r} is missing or used twice"
                yield from _argument_faults(number, one.get("function") or {})
        elif role == "system" and number:
            yield f"messages.{number}: a system message that is not the first"
        elif role not in {"user", "system", "developer"}:
            yield f"messages.{number}: unknown role {role!r}"
    if waiting:
        yield f"calls {waiting} at the end have no result"


def _argument_faults(number: int, function: dict[str, Any]) -> Iterator[str]:
    if not function.get("name"):
        yield f"messages.{number}: a call without a name"
    try:
        arguments = json.loads(function.get("arguments", ""))
    except ValueError:
        arguments = None
    if not isinstance(arguments, dict):
        yield f"messages.{number}: arguments {str(function.get('arguments'))[:40]!r} are not a JSON object"


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _strings(key)
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
