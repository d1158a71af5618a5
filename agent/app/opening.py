"""`open_screen` and `open_reader`: the two ends of a chat, as fine as what they are connected to allows."""

from __future__ import annotations

import os
import sys
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
    side = output.stdout if terminal else output.stderr
    live = terminal and os.environ.get("TERM", "dumb") != "dumb"
    return Screen(output.stdout, side, styled=output.color_out, terminal=terminal, live=live)


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
    seen = interactive and (screen.terminal or is_terminal(sys.stderr))
    return LineReader(sys.stdin.fileno(), interactive=interactive, show=screen.prompt if seen else None)
