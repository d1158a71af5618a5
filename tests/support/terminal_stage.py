"""`Terminal`: a program on a pseudo-terminal, with a screen that can be read as a person would read it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyte

__all__ = ["Terminal"]

WAIT_S = 30.0
PASTE_ON, PASTE_OFF = b"\x1b[?2004h", b"\x1b[?2004l"
CURSOR_QUERY = b"\x1b[6n"


class Terminal:
    """Starts a program as the leader of a session whose terminal this is."""

    def __init__(
        self, command: Sequence[str], *, cwd: Path, env: Mapping[str, str], columns: int = 80, rows: int = 24
    ) -> None:
        self._ours, inner = pty.openpty()
        termios.tcsetwinsize(inner, (rows, columns))
        self.mode_before = termios.tcgetattr(inner)
        self._inner = inner
        self._open = True
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self.raw = bytearray()
        # All that the program wrote

        def take_terminal() -> None:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            list(command),
            cwd=cwd,
            env=dict(env),
            stdin=inner,
            stdout=inner,
            stderr=inner,
            start_new_session=True,
            preexec_fn=take_terminal,
        )

    def __enter__(self) -> Terminal:
        return self

    def hang_up(self) -> None:
        """Close the window."""
        os.close(self._inner)
        os.close(self._ours)
        self._open = False

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        if self._open:
            os.close(self._inner)
            os.close(self._ours)

    @property
    def mode(self) -> list[object]:
        """How the terminal is set at this moment."""
        return list(termios.tcgetattr(self._inner))

    @property
    def lines(self) -> list[str]:
        """The screen, without blank ends."""
        return [line.rstrip() for line in self._screen.display]

    @property
    def text(self) -> str:
        """All that was ever written, without escape sequences."""
        text = self.raw.decode(errors="replace").replace("\r\n", "\n")
        return re.sub(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*\x07|\x1b[@-Z\\-_=>]", "", text)

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def paste(self, text: str) -> None:
        """As a terminal that brackets what is pasted."""
        self.type(f"\x1b[200~{text}\x1b[201~".replace("\n", "\r"))

    def resize(self, columns: int, rows: int) -> None:
        termios.tcsetwinsize(self._inner, (rows, columns))
        self._screen.resize(rows, columns)

    def wait_for(self, text: str, *, after: int = 0) -> int:
        """Wait until `text` was written, from the place `after` of `text` on; return where it ends."""
        end = time.monotonic() + WAIT_S
        while (found := self.text.find(text, after)) < 0:
            assert self._read(end), f"{text!r} did not come; the screen:\n" + "\n".join(self.lines)
        return found + len(text)

    def wait_for_screen(self, text: str) -> None:
        """Wait until a line of the screen holds `text`."""
        end = time.monotonic() + WAIT_S
        while not any(text in line for line in self.lines):
            assert self._read(end), f"{text!r} did not come; the screen:\n" + "\n".join(self.lines)

    def wait_for_prompt(self) -> None:
        """Wait until the last line with text on the screen is an empty prompt."""
        end = time.monotonic() + WAIT_S
        while next((line for line in reversed(self.lines) if line), "") != ">":
            assert self._read(end), "no prompt came; the screen:\n" + "\n".join(self.lines)

    @property
    def prompts(self) -> int:
        """How often an editor has begun to read; it asks for pastes in brackets then, and ends that when it is left."""
        return self.raw.count(PASTE_ON)

    def wait_for_editor(self, *, more_than: int = 0) -> None:
        """Wait until an editor reads, and more than so many have begun."""
        end = time.monotonic() + WAIT_S
        while self.prompts <= more_than or self.raw.rfind(PASTE_ON) < self.raw.rfind(PASTE_OFF):
            assert self._read(end), "no editor began; the screen:\n" + "\n".join(self.lines)

    def settle(self, seconds: float = 0.05) -> None:
        """Wait until nothing has been written for so long."""
        while self._read(time.monotonic() + seconds):
            pass

    def wait_for_end(self) -> int:
        """Wait until the program has left; return its exit code."""
        end = time.monotonic() + WAIT_S
        while self.process.poll() is None:
            self._read(min(end, time.monotonic() + 0.05))
            assert time.monotonic() < end, "the program is still there; the screen:\n" + "\n".join(self.lines)
        while self._read(time.monotonic() + 0.05):
            pass
        return self.process.returncode

    def _read(self, end: float) -> bool:
        """Take what was written, waiting until `end` for it. A question about the cursor is answered."""
        left = max(0.0, end - time.monotonic())
        if not select.select([self._ours], [], [], left)[0]:
            return False
        data = os.read(self._ours, 65_536)
        self.raw += data
        self._stream.feed(data)
        for _ in range(data.count(CURSOR_QUERY)):
            self.type(f"\x1b[{self._screen.cursor.y + 1};{self._screen.cursor.x + 1}R")
        return True
