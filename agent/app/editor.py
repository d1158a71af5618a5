"""`find_editor`: the person's own editor."""

from __future__ import annotations

import os
import shlex
import shutil

__all__ = ["EditorProblem", "find_editor"]

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
