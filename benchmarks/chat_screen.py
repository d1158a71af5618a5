"""What the chat's own side costs: a streamed answer on the screen, and the way to the first prompt.

    python benchmarks/chat_screen.py

The answer (4 KB of Markdown in 1,024 pieces) goes to a pseudo-terminal, with `write` and `flush` for each piece as the
yardstick: once as fast as the pieces can be made, and once with as many between two flushes as a server of 100 pieces a
second sends, which is told as a share of one processor too. The prompt is that of `my-agent chat` against that of two
lines with prompt_toolkit. CPU of this thread, and wall time of the child; goals: at most 2 times the plain writes, at
most 1.3 times the bare prompt.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pty
import statistics
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TextIO

from agent.app.render import FLUSH_S, Renderer
from agent.app.screen import Screen
from agent.events import TextDelta

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "support"))
from terminal_stage import Terminal

ROUNDS = 7
PROMPTS = 11
PIECES_A_FLUSH = round(100 * FLUSH_S)
PROSE = "The quick **brown** fox jumps over the `lazy` dog and runs on through 森林，没有停下来。 " * 6
ANSWER = (f"{PROSE}\n\n- item *one* is here\n- item two\n\n```python\nprint('code')\n```\n\n" * 9)[:4_096]
PIECES = [ANSWER[place : place + 4] for place in range(0, len(ANSWER), 4)]
BARE = "from prompt_toolkit import PromptSession\nPromptSession().prompt('> ')"


@contextlib.contextmanager
def open_terminal() -> Iterator[TextIO]:
    """A terminal that somebody else reads, in a process of its own."""
    ours, inner = pty.openpty()
    termios.tcsetwinsize(inner, (40, 100))
    with subprocess.Popen(["cat"], stdin=ours, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as reader:
        os.close(ours)
        with os.fdopen(inner, "w", encoding="utf-8") as stream:
            yield stream
        reader.wait()


def plain(stream: TextIO) -> None:
    for piece in PIECES:
        stream.write(piece)
        stream.flush()


def ours(stream: TextIO, pieces_a_flush: int) -> None:
    """Like `Renderer` in a loop whose timer runs out every so many pieces."""
    renderer = Renderer(Screen(stream, stream, styled=True, terminal=True, live=True))
    for number, piece in enumerate(PIECES, 1):
        renderer(TextDelta(piece))
        if number % pieces_a_flush == 0:
            renderer.flush()
    renderer.end()


def cpu_us(work: Callable[[TextIO], None]) -> float:
    """CPU of one piece, the least of some rounds."""

    async def once(stream: TextIO) -> float:
        began = time.thread_time()
        work(stream)
        return time.thread_time() - began

    with open_terminal() as stream, asyncio.Runner() as runner:
        return min(runner.run(once(stream)) for _ in range(ROUNDS)) / len(PIECES) * 1e6


def prompt_ms(command: list[str], folder: Path) -> float:
    """Wall time until an editor reads."""
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8", "TERM": "xterm-256color"}
    began = time.perf_counter()
    with Terminal(command, cwd=folder, env=env) as terminal:
        terminal.wait_for(">")
        return (time.perf_counter() - began) * 1e3


def main() -> None:
    base = cpu_us(plain)
    burst, slow = (cpu_us(partial(ours, pieces_a_flush=size)) for size in (len(PIECES), PIECES_A_FLUSH))
    print(f"a piece, all at once   plain {base:5.2f} us  chat {burst:5.2f} us  {burst / base:.2f}x (goal 2)")
    print(
        f"a piece, 100 a second  plain {base:5.2f} us  chat {slow:5.2f} us  {slow / base:.2f}x, {slow / 100:.2f} % CPU"
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        chat = [str(Path(sys.executable).with_name("my-agent")), "chat"]
        pairs = [(prompt_ms([sys.executable, "-c", BARE], folder), prompt_ms(chat, folder)) for _ in range(PROMPTS)]
    bare, ours_ms = (statistics.median(times) for times in zip(*pairs, strict=True))
    print(f"first prompt           bare {bare:5.0f} ms  chat {ours_ms:5.0f} ms  {ours_ms / bare:.2f}x (goal 1.3)")


if __name__ == "__main__":
    main()
