"""`Output`: the two streams of a command. The answer goes to stdout, everything else to stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

from agent.app.exits import UsageProblem
from agent.app.plain import plain
from agent.app.style import BOLD, CODE, DIM, ERROR, NOTE, PLAIN, paint

if TYPE_CHECKING:
    from agent.app.config import Config
    from agent.app.options import Options

__all__ = ["Output", "begin", "is_terminal", "open_output", "wants_color"]

COLOR_CHOICES = ("auto", "always", "never")
_STYLES = {"plain": PLAIN, "dim": DIM, "bold": BOLD, "red": ERROR, "yellow": NOTE, "cyan": CODE}


def is_terminal(stream: TextIO | None) -> bool:
    """Say whether a person looks at (or types into) this stream. A closed one is none."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def wants_color(stream: TextIO | None, choice: str, env: Mapping[str, str]) -> bool:
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
    json: bool = False

    def result(self, value: Any, text: str) -> int:
        """Print what a command found: `value` with --json, else `text`, whose foreign parts are defused already."""
        if self.json:
            self.data(value)
        elif text:
            self.show(text)
        return 0

    def answer(self, text: str) -> None:
        """Print foreign text that was asked for, defused, and a line end if it has none."""
        self.show(plain(text))

    def show(self, text: str) -> None:
        """Print lines of our own, in which foreign parts went through `styled` or `plain`."""
        self.stdout.write(text if text.endswith("\n") else f"{text}\n")
        self.stdout.flush()

    def data(self, value: Any) -> None:
        """Print one JSON value, readable to a person and safe in any encoding."""
        self.show(json.dumps(_scrubbed(value), ensure_ascii=False, indent=2))

    def line(self, value: Any) -> None:
        """Print one JSON value on one line."""
        self.show(json.dumps(_scrubbed(value), ensure_ascii=False))

    def progress(self, text: str, style: str = "dim") -> None:
        """Tell a person what goes on; nothing with --quiet."""
        self.show_progress(self.styled(text, style, err=True))

    def show_progress(self, text: str) -> None:
        """`progress`, for a line of our own in which foreign parts are defused already."""
        if not self.quiet:
            self.show_question(text)

    def notice(self, text: str) -> None:
        """Tell a person what he should know; nothing with --quiet."""
        self.progress(text, "yellow")

    def problem(self, text: str) -> None:
        """Tell what went wrong, in any case."""
        self.show_question(self.styled(text, "red", err=True))

    def show_question(self, text: str, end: str = "\n") -> None:
        """Show a person what he has to decide on, also with --quiet. Foreign parts are defused already."""
        try:
            self.stderr.write(f"{text}{end}")
            self.stderr.flush()
        except (OSError, ValueError):
            # Nobody reads stderr; that must not cost the answer
            self.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115

    def styled(self, text: str, style: str, *, err: bool = False) -> str:
        """Return `text`, defused, in a style where the stream may have one."""
        return paint(plain(text), _STYLES[style] if (self.color_err if err else self.color_out) else "")


def _scrubbed(value: Any) -> Any:
    """Return JSON data without halves of characters, which no encoding can write."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_scrubbed(key): _scrubbed(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_scrubbed(inner) for inner in value]
    return value


def open_output(color: str | None = None, *, quiet: bool = False, verbose: int = 0, json: bool = False) -> Output:
    """Make the output of this process. `color` comes from --color or `ui.color`."""
    choice = color or "auto"
    if choice not in COLOR_CHOICES:
        raise UsageProblem(f"--color {choice!r} is unknown; choose {', '.join(COLOR_CHOICES)}")
    color_out, color_err = (wants_color(stream, choice, os.environ) for stream in (sys.stdout, sys.stderr))
    return Output(sys.stdout, sys.stderr, color_out, color_err, quiet, verbose, json)


def begin(options: Options, *, tell: bool = True) -> tuple[Config, Output]:
    """Read the configuration, and tell its warnings: what every command does first."""
    from agent.app.config import load_config

    config = load_config(options)
    output = open_output(config.settings.ui.color, quiet=options.quiet, verbose=options.verbose, json=options.json)
    for warning in config.warnings if tell else ():
        output.notice(warning)
    return config, output
