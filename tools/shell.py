"""`make_shell_tool`: commands in the workspace, without a terminal, without keys, and gone when they are over."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
from collections.abc import Collection
from pathlib import Path
from typing import Annotated

from pydantic import Field

from tools.bound import Output
from tools.environment import child_environment, keys_in
from tools.process import run_process
from tools.tool import Tool, ToolResult
from tools.words import with_notes

__all__ = ["make_shell_tool"]

LONGEST_S = 86_400


def make_shell_tool(
    root: Path | str, *, timeout_s: float = 120.0, spill_dir: Path | None = None, env_allow: Collection[str] = ()
) -> Tool:
    """Make `shell`, which runs commands in `root`. Sub-agents get it only where the policy asks before each command.

    spill_dir: where the whole of an output is saved that is too long for the model; env_allow: names of variables a
    command gets although they look like keys.
    """
    interpreter = shutil.which("bash") or "/bin/sh"
    usual_s = timeout_s

    async def shell(
        command: Annotated[str, Field(description="a command line or script for bash")],
        timeout_s: Annotated[
            float | None, Field(gt=0, le=LONGEST_S, description=f"seconds it may take, else {usual_s:g}")
        ] = None,
    ) -> ToolResult:
        """Run a shell command in the workspace and return what it printed, errors too, and its exit status.

        There is no input and no terminal: nothing can ask. Each command has a new shell. What it leaves running in the
        background is stopped when it ends, save what was started with setsid.
        """
        if not command.strip():
            raise ValueError("command is empty")
        limit_s = usual_s if timeout_s is None else timeout_s
        spill = None if spill_dir is None else spill_dir / f"shell-{secrets.token_hex(4)}.txt"
        output = Output(spill, hidden=keys_in(os.environ))
        try:
            status, left_behind = await run_process(
                [interpreter, "-c", command.encode("utf-8", "surrogateescape")],  # whatever the locale
                cwd=Path(root),
                environment=child_environment(os.environ, env_allow),
                timeout_s=limit_s,
                feed=output.feed,
            )
        finally:
            printed = output.text()
        if status is not None:
            return ToolResult(True, data=report(status, left_behind, printed))
        error = f"the command was stopped after {limit_s:g} s with everything it started; set timeout_s for more"
        return ToolResult(False, error=f"{error}. Output until then:\n{printed}" if printed else error)

    return Tool(shell, inheritable="supervised")


def report(status: int, left_behind: bool, printed: str) -> str:
    notes = []
    if status < 0:
        notes.append(f"ended by signal {-status} ({signal.strsignal(-status)})")
    elif status or not printed:
        notes.append(f"exit status {status}")
    if not printed:
        notes.append("no output")
    if left_behind:
        notes.append("what it left running in the background was stopped")
    return with_notes(printed, notes)
