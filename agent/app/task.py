"""`read_task`: what a run is asked to do: the words of the command line, and what is piped in."""

from __future__ import annotations

import os
import sys

from agent.app.exits import UsageProblem
from agent.app.options import Options
from agent.app.output import Output, is_terminal
from agent.app.stdin import FIRST_BYTE_S, read_stdin

__all__ = ["read_task"]


def read_task(task: str | None, options: Options, output: Output, deadline: float | None) -> str:
    """Return the user's message. Without a task, or with `-`, it is what is piped in; else that is context below it.

    Raises `UsageProblem` where nothing is asked, and `TimedOut`.
    """
    if task is not None:
        task = _whole(task, output)
    wanted = task is None or task == "-"
    if wanted and is_terminal(sys.stdin):
        output.notice("Type the task; Ctrl-D on an empty line ends it")
    text = "" if options.no_stdin else _piped(output, needed=wanted, deadline=deadline)
    if wanted:
        task = text
    elif text.strip():
        task = f"{task}\n\n<stdin>\n{text.rstrip()}\n</stdin>"
    if not task or not task.strip():
        raise UsageProblem("There is nothing to do: the task is empty. Give it as an argument, or pipe it in")
    return task


def _piped(output: Output, *, needed: bool, deadline: float | None) -> str:
    piped = read_stdin(needed=needed, deadline=deadline)
    if piped.replaced:
        output.notice("standard input is not UTF-8; what could not be read was replaced by \ufffd")
    if piped.silent:
        output.notice(f"nothing came on stdin for {FIRST_BYTE_S:g} s; going on without it (--no-stdin does not wait)")
    return piped.text


def _whole(task: str, output: Output) -> str:
    """Return the task without the halves that stand for bytes of the command line which are not UTF-8."""
    try:
        task.encode("utf-8")
    except UnicodeEncodeError:
        output.notice("the task is not UTF-8; what could not be read was replaced by \ufffd")
        return os.fsencode(task).decode("utf-8", "replace")
    return task
