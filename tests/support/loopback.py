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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from request_faults import request_faults
from wire_answers import Answer, call, chunk, chunks, deltas, event, http, message, raw

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

    def __exit__(self, *_: object) -> None:
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
        if self._received[:1] and not self._received[:1].isalpha():  # a client that speaks TLS
            self._transport.write(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
            self._transport.close()
            return
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
            frames.append(event(chunk(choices=[], usage=answer.usage)))
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
