"""`Keyboard`: the terminal's settings while a turn runs: what is typed then is not echoed, and waits for the prompt."""

from __future__ import annotations

import signal
import termios
from contextlib import suppress
from typing import Any

__all__ = ["Keyboard"]


class Keyboard:
    """The settings of the terminal on file descriptor `fd`. Does nothing where there is no terminal."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._saved: list[Any] | None = None
        with suppress(termios.error):
            self._saved = termios.tcgetattr(fd)

    def quiet(self) -> None:
        """No echo, no line editing; Ctrl-C still is a signal. Enter arrives as Enter, not as a line feed."""
        if self._saved is None:
            return
        mode: list[Any] = [list(part) if isinstance(part, list) else part for part in self._saved]
        mode[0] &= ~termios.ICRNL
        mode[3] = (mode[3] & ~(termios.ECHO | termios.ICANON)) | termios.ISIG
        mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
        self._set(mode)

    def restore(self) -> None:
        if self._saved is not None:
            self._set(self._saved)

    def forget(self) -> None:
        """Drop what was typed and not read: it was not meant for the question that comes."""
        with suppress(termios.error):
            termios.tcflush(self._fd, termios.TCIFLUSH)

    def _set(self, mode: list[Any]) -> None:
        # A program in the background that sets the terminal would be stopped by SIGTTOU
        before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        with suppress(termios.error):
            termios.tcsetattr(self._fd, termios.TCSADRAIN, mode)
        signal.signal(signal.SIGTTOU, before)
