"""What the chat's own side costs: a streamed answer on the screen, and the way to the first prompt.

    python benchmarks/chat_screen.py

The answer (4 KB of Markdown in 1,024 pieces) goes to a pseudo-terminal, with `write` and `flush` for each piece as the
yardstick: once without colours, and once drawn block by block. The prompt is that of `my-agent chat` against two lines
with prompt_toolkit. CPU of this thread, and wall time of the child; goals: at most 2 times the plain writes while a
block is open, at most 1.3 times the bare prompt.
"""

from __future__ import annotations

import asyncio
import os
import pty
import statistics
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TextIO

from agent.app.render import Renderer
from agent.app.screen import Screen
from agent.events import TextDelta

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "support"))
from terminal_stage import Terminal

ROUNDS = 7
PROMPTS = 11
PROSE = "The quick **brown** fox jumps over the `lazy` dog and runs on through 森林，没有停下来。 " * 6
ANSWER = (f"{PROSE}\n\n- item *one* is here\n- item two\n\n```python\nprint('code')\n```\n\n" * 9)[:4_096]
BARE = "from prompt_toolkit import PromptSession\nPromptSession().prompt('> ')"


def pieces_of(text: str) -> list[str]:
    return [text[place : place + 4] for place in range(0, len(text), 4)]


def plain(stream: TextIO, pieces: list[str]) -> None:
    for piece in pieces:
        stream.write(piece)
        stream.flush()


def ours(stream: TextIO, pieces: list[str], *, styled: bool) -> None:
    renderer = Renderer(Screen(stream, stream, styled=styled, terminal=True, live=True))
    for piece in pieces:
        renderer(TextDelta(piece))
    renderer.end()


def cpu_us(work: Callable[[TextIO, list[str]], None], text: str = ANSWER) -> float:
    """CPU of one piece, the least of some rounds, on a terminal that another process reads."""
    pieces = pieces_of(text)

    async def once(stream: TextIO) -> float:
        began = time.thread_time()
        work(stream, pieces)
        return time.thread_time() - began

    reader_end, inner = pty.openpty()
    termios.tcsetwinsize(inner, (40, 100))
    with subprocess.Popen(["cat"], stdin=reader_end, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        os.close(reader_end)
        with os.fdopen(inner, "w", encoding="utf-8") as stream, asyncio.Runner() as runner:
            return min(runner.run(once(stream)) for _ in range(ROUNDS)) / len(pieces) * 1e6


def prompt_ms(command: list[str], folder: Path) -> float:
    """Wall time until an editor reads."""
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8", "TERM": "xterm-256color"}
    began = time.perf_counter()
    with Terminal(command, cwd=folder, env=env) as terminal:
        terminal.wait_for(">")
        return (time.perf_counter() - began) * 1e3


def main() -> None:
    base = cpu_us(plain)
    open_block = "x" * len(ANSWER) + "\n\n"
    for name, work, text in (
        ("without colours", partial(ours, styled=False), ANSWER),
        ("open block", partial(ours, styled=True), open_block),
        ("drawn blocks", partial(ours, styled=True), ANSWER),
    ):
        found = cpu_us(work, text)
        print(f"a piece, {name:<16} plain {base:5.2f} us  chat {found:5.2f} us  {found / base:.2f}x")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        chat = [str(Path(sys.executable).with_name("my-agent")), "chat"]
        pairs = [(prompt_ms([sys.executable, "-c", BARE], folder), prompt_ms(chat, folder)) for _ in range(PROMPTS)]
    bare, ours_ms = (statistics.median(times) for times in zip(*pairs, strict=True))
    print(f"first prompt              bare {bare:5.0f} ms  chat {ours_ms:5.0f} ms  {ours_ms / bare:.2f}x (goal 1.3)")


if __name__ == "__main__":
    main()
