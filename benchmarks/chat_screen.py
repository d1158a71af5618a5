"""What the chat's own side costs: a streamed answer on the screen, and the way to the first prompt.

    python benchmarks/chat_screen.py

The answer (4 KB of Markdown in 1,024 pieces) goes to a pseudo-terminal, with `write` and `flush` for each piece as the
yardstick; once as fast as the pieces can be made, once 100 pieces a second as a quick server sends them. The prompt is
that of `my-agent chat` against that of three lines with prompt_toolkit. CPU of this thread and wall time of the child;
goals: at most 2 times the plain writes, at most 1.3 times the bare prompt.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pty
import statistics
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TextIO

from agent.app.render import Renderer
from agent.app.screen import Screen
from agent.events import TextDelta

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "support"))
from terminal_stage import Terminal

ROUNDS = 7
PROMPTS = 11
SLOW_PIECES, GAP_S = 100, 0.01
PROSE = "The quick **brown** fox jumps over the `lazy` dog and runs on through 森林，没有停下来。 " * 6
ANSWER = (f"{PROSE}\n\n- item *one* is here\n- item two\n\n```python\nprint('code')\n```\n\n" * 9)[:4_096]
PIECES = [ANSWER[place : place + 4] for place in range(0, len(ANSWER), 4)]
BARE = "from prompt_toolkit import PromptSession\nPromptSession().prompt('> ')"


def open_terminal() -> TextIO:
    """A terminal that somebody reads."""
    ours, inner = pty.openpty()
    termios.tcsetwinsize(inner, (40, 100))

    def drain() -> None:
        with contextlib.suppress(OSError):
            while os.read(ours, 65_536):
                pass

    threading.Thread(target=drain, daemon=True).start()
    return os.fdopen(inner, "w", encoding="utf-8")


async def plain(stream: TextIO, pieces: list[str], gap_s: float) -> None:
    for piece in pieces:
        stream.write(piece)
        stream.flush()
        if gap_s:
            await asyncio.sleep(gap_s)


async def ours(stream: TextIO, pieces: list[str], gap_s: float) -> None:
    renderer = Renderer(Screen(stream, stream, styled=True, terminal=True, live=True))
    for piece in pieces:
        renderer(TextDelta(piece))
        if gap_s:
            await asyncio.sleep(gap_s)
    renderer.end()


def cpu_us(way: Callable[[TextIO, list[str], float], Awaitable[None]], pieces: list[str], gap_s: float) -> float:
    """CPU of one piece, without what the gaps cost; the least of some rounds."""

    async def gaps() -> None:
        for _ in pieces:
            if gap_s:
                await asyncio.sleep(gap_s)

    async def once(work: Callable[[], Awaitable[None]]) -> float:
        began = time.thread_time()
        await work()
        return time.thread_time() - began

    with open_terminal() as stream, asyncio.Runner() as runner:
        rounds = [
            runner.run(once(lambda: way(stream, pieces, gap_s))) - runner.run(once(gaps))
            for _ in range(ROUNDS if not gap_s else 3)
        ]
    return min(rounds) / len(pieces) * 1e6


def prompt_ms(command: list[str], folder: Path) -> float:
    """Wall time until an editor reads."""
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8", "TERM": "xterm-256color"}
    began = time.perf_counter()
    with Terminal(command, cwd=folder, env=env) as terminal:
        terminal.wait_for(">")
        return (time.perf_counter() - began) * 1e3


def main() -> None:
    for label, pieces, gap_s in (("at once", PIECES, 0.0), ("100 a second", PIECES[:SLOW_PIECES], GAP_S)):
        base, cost = (cpu_us(way, pieces, gap_s) for way in (plain, ours))
        print(f"pieces {label:<13} plain {base:5.2f} us  chat {cost:5.2f} us  {cost / base:.2f}x (goal 2)")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        chat = [str(Path(sys.executable).with_name("my-agent")), "chat"]
        pairs = [(prompt_ms([sys.executable, "-c", BARE], folder), prompt_ms(chat, folder)) for _ in range(PROMPTS)]
    bare, ours_ms = (statistics.median(times) for times in zip(*pairs, strict=True))
    print(f"first prompt         bare {bare:5.0f} ms  chat {ours_ms:5.0f} ms  {ours_ms / bare:.2f}x (goal 1.3)")


if __name__ == "__main__":
    main()
