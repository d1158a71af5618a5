"""`Screen`: where a chat writes. What is there stays; only the spinner's line is taken back."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from agent.app.plain import one_line, plain, shorten
from agent.app.style import DIM, paint

__all__ = ["Screen"]

FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
TICK_S = 0.1
PIPE_COLUMNS = 1_000
CLEAR_LINE = "\r\x1b[K"


class Screen:
    """Two streams: `out` for answers and what commands show, `side` for what is said beside them.

    In a terminal both are the same. `styled`: colours and Markdown. `terminal`: somebody looks at `out` as it grows.
    `live`: a spinner may turn, which needs a terminal that can go back to the beginning of a line. A stream that nobody
    reads any more swallows the rest without a word; where that is `out`, `lost` is called.
    """

    def __init__(self, out: TextIO, side: TextIO, *, styled: bool, terminal: bool, live: bool) -> None:
        self.styled = styled
        self.terminal = terminal
        self.live = live
        self.lost: Callable[[], None] = lambda: None
        self._out, self._side = out, side
        self._fresh = True
        # `out` is at the beginning of a line
        self._broken: set[int] = set()
        self._held: list[tuple[TextIO, str]] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._label = ""
        self._began = 0.0
        self._ticks = 0

    @property
    def columns(self) -> int:
        """The width of the terminal; on a pipe as wide as any line."""
        if not self.terminal:
            return PIPE_COLUMNS
        try:
            return os.get_terminal_size(self._out.fileno()).columns or 80
        except (OSError, ValueError):
            return 80

    def write(self, text: str) -> None:
        """Write to `out` as it stands. The text must be `plain`, or painted."""
        if text:
            self._put(self._out, text)
            self._fresh = text.endswith("\n")

    def show(self, text: str, style: str = "") -> None:
        """Write foreign text to `out`, as lines of their own."""
        self.end_line()
        self.write(self._painted(text, style) + "\n")

    def say(self, text: str, style: str = "") -> None:
        """Write foreign text beside the answer, as lines of their own."""
        self.say_painted(self._painted(text, style))

    def say_painted(self, text: str) -> None:
        """`say`, for a text that is `plain`, or painted."""
        if self._side is self._out:
            self.end_line()
        self._put(self._side, text + "\n")

    def prompt(self, text: str) -> None:
        """Write a prompt of our own at once, even while other output is held."""
        self.idle()
        self._send(self._side, text)
        self._fresh = True
        # Enter is echoed, and ends the line

    def end_line(self) -> None:
        """Go to the beginning of a line, if not there."""
        if not self._fresh:
            self.write("\n")

    def busy(self, label: str) -> None:
        """Let the spinner turn beside `label`, until something is written or `idle` is called."""
        if not self.live or self._held is not None or not self._fresh:
            return
        if self._timer is None:
            self._began = time.monotonic()
            self._timer = asyncio.get_running_loop().call_later(TICK_S, self._tick)
        self._label = label

    def idle(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._label = ""
        if self._ticks:
            self._ticks = 0
            self._send(self._out, CLEAR_LINE)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep what is written meanwhile for later: somebody is being asked."""
        label = self._label
        self.idle()
        self._held = []
        try:
            yield
        finally:
            held, self._held = self._held, None
            for stream, text in held:
                self._put(stream, text)
            if label:
                self.busy(label)

    def _tick(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(TICK_S, self._tick)
        seconds = time.monotonic() - self._began
        label = f"{self._label} {seconds:.0f} s" if seconds >= 2 else self._label
        text = shorten(f"{FRAMES[self._ticks % len(FRAMES)]} {one_line(label)}", self.columns - 1)
        self._ticks += 1
        self._send(self._out, CLEAR_LINE + (paint(text, DIM) if self.styled else text))

    def _painted(self, text: str, style: str) -> str:
        return paint(plain(text), style) if self.styled else plain(text)

    def _put(self, stream: TextIO, text: str) -> None:
        if self._held is not None:
            self._held.append((stream, text))
            return
        if self._timer is not None or self._ticks:
            self.idle()
        self._send(stream, text)

    def _send(self, stream: TextIO, text: str) -> None:
        if id(stream) in self._broken:
            return
        try:
            stream.write(text)
            stream.flush()
        except (OSError, ValueError):  # the reader of the pipe has left, or the terminal is gone
            self._broken.add(id(stream))
            with suppress(OSError, ValueError):
                _send_to_nowhere(stream)
            if stream is self._out:
                self.lost()


def _send_to_nowhere(stream: TextIO) -> None:
    """What is still in the buffer must not fail once more at the end of the program."""
    target = stream.fileno()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, target)
    os.close(nowhere)
