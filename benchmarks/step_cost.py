"""What a step of a tool loop and a streamed chunk cost the client: ours against the plain `openai` package.

    python benchmarks/step_cost.py

Prints the CPU of this process, in milliseconds a step and microseconds a chunk, with the server in a process of its
own. Every number of one run comes from the same machine in the same minutes, so compare the ratios, not the times.
"""

from __future__ import annotations

import asyncio
import gc
import json
import multiprocessing
import os
import socket
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any

from agent.events import ignore
from agent.messages import Message
from agent.model import OpenAIModel
from agent.retry import complete

STEPS = (50, 200, 400, 1000)
CHUNKS = 20_000
REPEATS = 3
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": f"tool_{number}",
            "description": "Reads a file and returns its lines, numbered.",
            "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
        },
    }
    for number in range(12)
]


def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
    value = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices}
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def serve(listener: socket.socket) -> None:
    """Answer every request of every connection: with one call, or with `CHUNKS` chunks when the model is `long`."""
    call = {"index": 0, "id": "k", "type": "function", "function": {"name": "tool_1", "arguments": '{"path": "a"}'}}
    end = chunk({}, "tool_calls") + b"data: [DONE]\n\n"
    short = chunk({"role": "assistant", "content": None}) + chunk({"tool_calls": [call]}) + end
    long = b"".join(chunk({"content": f"word{number} "}) for number in range(CHUNKS)) + chunk({}, "stop") + end[-14:]

    def talk(connection: socket.socket) -> None:
        stream = connection.makefile("rb")
        while stream.readline():
            size = 0
            while (line := stream.readline()) not in (b"\r\n", b""):
                if line.lower().startswith(b"content-length:"):
                    size = int(line[15:])
            body = long if b'"model":"long"' in stream.read(size) else short
            head = f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {len(body)}\r\n\r\n"
            connection.sendall(head.encode() + body)

    while True:
        connection, _ = listener.accept()
        threading.Thread(target=talk, args=(connection,), daemon=True).start()


def grown(history: list[Message], number: int) -> list[Message]:
    """The history after one more step: a call and its result of about 400 characters."""
    call = {"id": f"call_{number}", "type": "function", "function": {"name": "tool_1", "arguments": '{"path": "a"}'}}
    history.append({"role": "assistant", "content": None, "tool_calls": [call]})
    history.append({"role": "tool", "tool_call_id": f"call_{number}", "content": f"{number} " + "line of text\n" * 30})
    return history


def opening() -> list[Message]:
    return [{"role": "system", "content": "You are a careful agent. " * 100}, {"role": "user", "content": "Do it."}]


def ours(url: str) -> Callable[[str, list[Message]], Awaitable[object]]:
    models = {name: OpenAIModel(name, base_url=url, api_key="k") for name in ("short", "long")}
    return lambda name, history: complete(models[name], history, TOOLS, emit=ignore)


def plain(url: str) -> Callable[[str, list[Message]], Awaitable[object]]:
    import openai

    client = openai.AsyncOpenAI(base_url=url, api_key="k", max_retries=0)

    async def ask(name: str, history: list[Message]) -> object:
        text, calls = [], []
        stream: Any = await client.chat.completions.create(
            model=name, messages=history, tools=TOOLS, stream=True, stream_options={"include_usage": True}
        )
        async for piece in stream:
            for choice in piece.choices:
                text.append(choice.delta.content or "")
                calls += choice.delta.tool_calls or []
        return "".join(text), calls

    return ask


async def cost_of_steps(ask: Callable[[str, list[Message]], Awaitable[object]], steps: int) -> float:
    """CPU of the client in milliseconds a step, over the last 20 of a loop of so many."""
    history = opening()
    for number in range(steps - 20):
        grown(history, number)
    await ask("short", history)
    began = time.process_time()
    for number in range(steps - 20, steps):
        await ask("short", grown(history, number))
    return (time.process_time() - began) / 20 * 1000


async def cost_of_chunks(ask: Callable[[str, list[Message]], Awaitable[object]]) -> float:
    """CPU of the client in microseconds a chunk."""
    await ask("short", opening())
    began = time.process_time()
    await ask("long", opening())
    return (time.process_time() - began) / CHUNKS * 1e6


async def measure(url: str) -> None:
    clients = {"ours": ours(url), "plain openai": plain(url)}
    for ask in clients.values():
        await ask("short", opening())
    gc.freeze()
    print(f"{'':<16}{'ours':>12}{'plain openai':>15}{'ratio':>9}")
    for steps in STEPS:
        costs = [min([await cost_of_steps(ask, steps) for _ in range(REPEATS)]) for ask in clients.values()]
        print(f"{f'step {steps}':<16}{costs[0]:>9.2f} ms{costs[1]:>12.2f} ms{costs[0] / costs[1]:>9.3f}")
    costs = [min([await cost_of_chunks(ask) for _ in range(REPEATS)]) for ask in clients.values()]
    print(f"{'chunk':<16}{costs[0]:>9.2f} us{costs[1]:>12.2f} us{costs[0] / costs[1]:>9.3f}")


def main() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    server = multiprocessing.get_context("fork").Process(target=serve, args=(listener,), daemon=True)
    server.start()
    try:
        asyncio.run(measure(f"http://127.0.0.1:{listener.getsockname()[1]}/v1"))
    finally:
        server.kill()
    sys.stdout.flush()
    os._exit(0)  # the clients are not worth tearing down


if __name__ == "__main__":
    main()
