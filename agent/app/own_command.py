"""`run_own`: a command that the person typed after `!` or `!!`."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from agent.app.plain import plain
from agent.app.style import DIM, NOTE

if TYPE_CHECKING:
    from agent.app.chat import Chat

__all__ = ["is_own_command", "run_own", "shell"]

KEPT_CHARS = 20_000
TERM_WAIT_S = 0.3
DRAIN_S = 0.3


def is_own_command(text: str) -> bool:
    """`!ls` is one; a picture in Markdown and a pasted page that begins with ! are not."""
    return text.startswith("!") and "\n" not in text and not (text.startswith("![") and text[2:3] != " ")


async def run_own(chat: Chat, text: str) -> None:
    """Run the command; with `!!` its output goes to the model with the next message."""
    shared = text.startswith("!!")
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
    if shared:
        chat.attached.append(f"I ran `{command}`; it ended with code {code}. Its output:\n\n{output}")
        chat.say("(goes to the model with your next message)", DIM)


async def shell(command: str, cwd: Path, show: Callable[[str], None]) -> tuple[str, int]:
    """Run `command` in a shell and show its output as it comes; return the output, bounded, and the exit code.

    It has its own process group, which is killed whole on a cancel, and no input. The end of the shell is the end:
    what it left running in the background does not hold the chat.
    """
    process = await asyncio.create_subprocess_shell(
        command,
        cwd=cwd,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    kept: list[str] = []
    reading = asyncio.ensure_future(_read(process, kept, show))
    try:
        code = await process.wait()
        await asyncio.wait({reading}, timeout=DRAIN_S)
    except asyncio.CancelledError:
        await _kill(process)
        raise
    finally:
        reading.cancel()
    return "".join(kept), code


async def _read(process: asyncio.subprocess.Process, kept: list[str], show: Callable[[str], None]) -> None:
    stream = process.stdout
    assert stream is not None  # noqa: S101 - it was asked for
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    room = KEPT_CHARS
    while data := await stream.read(65_536):
        text = decoder.decode(data)
        show(text)
        if room > 0:
            kept.append(text[:room] if len(text) <= room else f"{text[:room]}\n[... cut here ...]")
            room -= len(text)


async def _kill(process: asyncio.subprocess.Process) -> None:
    for number, wait_s in ((signal.SIGTERM, TERM_WAIT_S), (signal.SIGKILL, TERM_WAIT_S)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), wait_s)
