"""`edit_text`: a text in the person's own editor."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import tempfile
from pathlib import Path

__all__ = ["EditorProblem", "edit_text", "find_editor"]

CANDIDATES = ("nano", "vi", "vim", "emacs")


class EditorProblem(RuntimeError):
    """No editor could be used; the text says why and what to do."""


def find_editor() -> list[str]:
    """Return the command of $VISUAL, of $EDITOR, or the first usual editor that is installed."""
    named = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    try:
        words = shlex.split(named) if named else [name for name in CANDIDATES if shutil.which(name)][:1]
    except ValueError as error:
        raise EditorProblem(f"$EDITOR is {named!r}, which is no command: {error}") from error
    if not words:
        raise EditorProblem("No editor was found; name one in $EDITOR")
    return words


async def edit_text(text: str) -> str:
    """Let the person edit `text` and return what was saved, without the newline at its end. Raises `EditorProblem`."""
    words = find_editor()
    with tempfile.TemporaryDirectory(prefix="my-agent-") as folder:
        path = Path(folder) / "message.md"
        path.write_text(text, encoding="utf-8", errors="replace")
        try:
            process = await asyncio.create_subprocess_exec(*words, str(path))
        except OSError as error:
            raise EditorProblem(f"The editor {words[0]!r} cannot be started: {error.strerror}; set $EDITOR") from error
        try:
            code = await process.wait()
        except asyncio.CancelledError:
            process.terminate()  # the program is to end, and the editor has its terminal
            raise
        if code != 0:
            raise EditorProblem(f"The editor {words[0]!r} ended with code {code}; the text was left as it was")
        return path.read_bytes().decode("utf-8", "replace").removesuffix("\n")
