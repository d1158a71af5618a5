"""`run_own`: a command that the person typed after `!` or `!!`."""

from __future__ import annotations

import codecs
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from agent.app.plain import plain
from agent.app.style import DIM, NOTE

if TYPE_CHECKING:
    from agent.app.repl import Chat

__all__ = ["is_own_command", "run_own", "shell"]


def is_own_command(text: str) -> bool:
    """`!ls` is one; a picture in Markdown and a pasted page that begins with ! are not."""
    return text.startswith("!") and "\n" not in text and not (text.startswith("![") and text[2:3] != " ")


async def run_own(chat: Chat, text: str) -> None:
    """Run the command; with `!!` its output goes to the model with the next message."""
    command = text.lstrip("!").strip()
    if not command:
        chat.say("A command goes after the !, as in `!git status`", NOTE)
        return

    def show(output: str) -> None:
        chat.screen.write(plain(output.replace("\r\n", "\n").replace("\r", "\n")))

    try:
        output, code = await chat.interrupts.run(shell(command, chat.parts.cwd, show))
    finally:
        chat.screen.end_line()
    if code:
        chat.say(f"(exit code {code})", NOTE)
    if text.startswith("!!"):
        chat.attached.append(f"I ran `{command}`; it ended with code {code}. Its output:\n\n{output}")
        chat.say("(goes to the model with your next message)", DIM)


async def shell(command: str, cwd: Path, show: Callable[[str], None]) -> tuple[str, int]:
    """Run `command` without input and show its output as it comes; return the output, bounded, and the exit code.

    What it leaves running is stopped, and so is all of it on a cancel.
    """
    from tools import Output, run_process  # not before somebody types a command

    kept = Output()
    decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(chunk: bytes) -> None:
        kept.feed(chunk)
        show(decoder.decode(chunk))

    status, _ = await run_process(
        ["/bin/sh", "-c", command.encode("utf-8", "surrogateescape")],
        cwd=cwd,
        environment=os.environ,
        timeout_s=math.inf,
        feed=feed,
    )
    return kept.text(), status or 0
