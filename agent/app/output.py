"""`Output`: the two streams of a command. The answer goes to stdout, everything else to stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TextIO, get_args

from agent.app.exits import UsageProblem
from agent.app.plain import plain
from agent.app.style import BOLD, CODE, DIM, ERROR, NOTE, PLAIN, paint

__all__ = ["ColorChoice", "Output", "is_terminal", "open_output", "wants_color"]

ColorChoice = Literal["auto", "always", "never"]

_STYLES = {"plain": PLAIN, "dim": DIM, "bold": BOLD, "red": ERROR, "yellow": NOTE, "cyan": CODE}


def is_terminal(stream: TextIO | None) -> bool:
    """Say whether a person looks at (or types into) this stream. A closed one is none."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def wants_color(stream: TextIO | None, choice: ColorChoice, env: Mapping[str, str]) -> bool:
    """Decide, once a stream, whether escape codes may be written to it.

    The flag or the configuration first, then NO_COLOR, then: a terminal that is not dumb. FORCE_COLOR does not make
    a pipe a terminal.
    """
    if choice != "auto":
        return choice == "always"
    if env.get("NO_COLOR"):
        return False
    return is_terminal(stream) and env.get("TERM", "") != "dumb"


@dataclass(slots=True)
class Output:
    """Where a command speaks. Foreign text is made harmless here, and nowhere is it read as markup."""

    stdout: TextIO
    stderr: TextIO
    color_out: bool = False
    color_err: bool = False
    quiet: bool = False
    verbose: int = 0

    def answer(self, text: str) -> None:
        """Print foreign text that was asked for, defused, and a line end if it has none."""
        self.show(plain(text))

    def show(self, text: str) -> None:
        """Print lines of our own, in which foreign parts went through `styled` or `plain`."""
        self.stdout.write(text if text.endswith("\n") else f"{text}\n")
        self.stdout.flush()

    def data(self, value: Any) -> None:
        """Print one JSON value, readable to a person and safe in any encoding."""
        self.stdout.write(json.dumps(scrubbed(value), ensure_ascii=False, indent=2) + "\n")
        self.stdout.flush()

    def line(self, value: Any) -> None:
        """Print one JSON value on one line."""
        self.stdout.write(json.dumps(scrubbed(value), ensure_ascii=False) + "\n")
        self.stdout.flush()

    def progress(self, text: str, style: str = "dim") -> None:
        """Tell a person what goes on; nothing with --quiet."""
        if not self.quiet:
            self._tell(text, style)

    def show_progress(self, text: str) -> None:
        """`progress`, for a line of our own in which foreign parts are defused already."""
        if not self.quiet:
            self._write_err(text)

    def notice(self, text: str) -> None:
        """Tell a person what he should know; nothing with --quiet."""
        self.progress(text, "yellow")

    def show_question(self, text: str, end: str = "\n") -> None:
        """Show a person what he has to decide on, also with --quiet. Foreign parts are defused already."""
        self._write_err(text, end)

    def problem(self, text: str) -> None:
        """Tell what went wrong, in any case."""
        self._tell(text, "red")

    def styled(self, text: str, style: str, *, err: bool = False) -> str:
        """Return `text`, defused, in a style where the stream may have one."""
        return paint(plain(text), _STYLES[style] if (self.color_err if err else self.color_out) else "")

    def _tell(self, text: str, style: str) -> None:
        self._write_err(self.styled(text, style, err=True))

    def _write_err(self, text: str, end: str = "\n") -> None:
        try:
            self.stderr.write(f"{text}{end}")
            self.stderr.flush()
        except (OSError, ValueError):
            # Nobody reads stderr; that must not cost the answer
            self.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115


def scrubbed(value: Any) -> Any:
    """Return JSON data without halves of characters, which no encoding can write."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {scrubbed(key): scrubbed(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [scrubbed(inner) for inner in value]
    return value


def open_output(color: str | None = None, *, quiet: bool = False, verbose: int = 0) -> Output:
    """Make the output of this process. `color` comes from --color or `ui.color`."""
    choice = color or "auto"
    if choice not in get_args(ColorChoice):
        raise UsageProblem(f"--color {choice!r} is unknown; choose {', '.join(get_args(ColorChoice))}")
    out, err = sys.stdout, sys.stderr
    color_out, color_err = (wants_color(stream, choice, os.environ) for stream in (out, err))  # type: ignore[arg-type]
    return Output(out, err, color_out, color_err, quiet, verbose)
