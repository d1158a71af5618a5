"""`open_screen` and `open_reader`: the two ends of a chat, as fine as what they are connected to allows."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from agent.app.output import Output, is_terminal
from agent.app.reader import WARNING, LineReader, Reader
from agent.app.screen import Screen
from agent.app.style import DIM, NOTE

if TYPE_CHECKING:
    from agent.app.completion import Choices

__all__ = ["open_reader", "open_screen"]


def open_screen(output: Output) -> Screen:
    """Return the screen. In a terminal that knows no escape codes nothing ever goes back; on a pipe neither."""
    terminal = is_terminal(output.stdout)
    return Screen(
        output.stdout,
        output.stdout if terminal else output.stderr,
        styled=output.color_out,
        terminal=terminal,
        live=terminal and os.environ.get("TERM", "dumb") != "dumb",
    )


def open_reader(screen: Screen, *, choices: Choices, root: Path) -> Reader:
    """Return the editor where both ends are a terminal that can move its cursor, else the reader of plain lines."""
    interactive = is_terminal(sys.stdin)
    if interactive and screen.live:
        from agent.app.input_history import InputHistory, history_path  # these two load prompt_toolkit
        from agent.app.prompt_reader import PromptReader

        reader = PromptReader(
            sys.stdin.fileno(),
            choices=choices,
            root=root,
            history=InputHistory(history_path, lambda text: reader.print_above(lambda: screen.say(text, NOTE))),
            warn=lambda: screen.say(WARNING, DIM),
            look="bold" if screen.styled else "",
        )
        return reader
    return LineReader(sys.stdin.fileno(), interactive=interactive, show=_prompter(screen) if interactive else None)


def _prompter(screen: Screen) -> Callable[[str], None] | None:
    """Show prompts on the terminal that is there: standard output, else standard error, else nowhere."""
    if screen.terminal:
        return screen.prompt
    stream = sys.stderr
    if not is_terminal(stream):
        return None

    def show(text: str) -> None:
        stream.write(text)
        stream.flush()

    return show
