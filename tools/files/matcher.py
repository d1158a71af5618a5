"""`Matcher`: a regular expression tried on files by a process of its own, which ends at its deadline."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["DEADLINE_S", "Hit", "Matcher", "MatcherStopped"]

WORKER = Path(__file__).with_name("matcher_worker.py")
DEADLINE_S = 10
LINE_CHARS = 300

Hit = tuple[int, str]
# The number of a line, and the part of it that holds the match.


class MatcherStopped(Exception):
    """The deadline came, or `stop` was called."""


class Matcher:
    """Used by one thread; `stop` may be called by any."""

    def __init__(self, pattern: str, *, ignore_case: bool, deadline_s: int = DEADLINE_S) -> None:
        self._job = {
            "pattern": pattern,
            "ignore_case": ignore_case,
            "deadline_s": deadline_s,
            "line_chars": LINE_CHARS,
        }
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False
        self._starting = threading.Lock()

    def __enter__(self) -> Matcher:
        """Start the process. Raises ValueError when the pattern is no regular expression."""
        with self._starting:
            if self._stopped:
                raise MatcherStopped
            # -I and -S: start in 10 ms, and nothing of the workspace is imported. No environment: it needs no keys.
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", WORKER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={},
                start_new_session=True,
            )
        answer = self._ask(self._job)
        if "error" in answer:
            self.__exit__()
            raise ValueError(
                f"pattern {self._job['pattern']!r} is no regular expression: {answer['error']}; "
                "put a backslash before a character that is meant as it is"
            )
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        if self._process is not None:
            self._process.communicate()

    def stop(self) -> None:
        with self._starting:
            self._stopped = True
            if self._process is not None:
                self._process.kill()

    def hits(self, raw: bytes, codec: str, most: int) -> list[Hit]:
        """Return the first lines of a file that match, at most so many. Raises `MatcherStopped`."""
        found = self._ask({"size": len(raw), "codec": codec, "most": most}, raw)
        return [(number, text) for number, text in found]

    def _ask(self, question: Mapping[str, Any], raw: bytes = b"") -> Any:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise MatcherStopped
        try:
            process.stdin.write(json.dumps(question).encode() + b"\n" + raw)
            process.stdin.flush()
            answer = process.stdout.readline()
        except BrokenPipeError:
            raise MatcherStopped from None
        if not answer.endswith(b"\n"):
            raise MatcherStopped
        return json.loads(answer)
