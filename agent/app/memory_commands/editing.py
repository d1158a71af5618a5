"""`my-agent memory edit`: the entries of one target in the person's editor."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from agent.app.exits import UsageProblem
from agent.app.memory_commands.curated import Curated
from agent.app.options import Options
from agent.app.output import begin, is_terminal

if TYPE_CHECKING:
    from memory import Target

__all__ = ["edit"]


def edit(options: Options, target: Target) -> int:
    """Edit the entries; a line with only § divides them.

    The editor gets a copy. If the file changed meanwhile nothing is written, and the copy is kept.
    """
    from memory import MemoryRefusal, join_entries, parse_entries

    config, output = begin(options)
    store = Curated(config, options, output).store
    base = store.reread(target)
    if not (os.environ.get("VISUAL") or os.environ.get("EDITOR") or is_terminal(sys.stdin)):
        raise UsageProblem(
            "There is no terminal for an editor here; a program that edits files can be named in $EDITOR"
        )
    folder = Path(tempfile.mkdtemp(prefix="my-agent-edit-"))
    copy = folder / store.files[target]
    copy.write_text(join_entries(base) + ("\n" if base else ""), encoding="utf-8", newline="\n")
    _run_editor(copy, config.cwd)
    try:
        entries = parse_entries(copy.read_bytes().decode("utf-8-sig"))
        answer = "Nothing was changed" if entries == base else store.rewrite(target, entries, base=base)
    except UnicodeDecodeError as error:
        raise UsageProblem(f"The edited file is not UTF-8; nothing was stored. It is kept: {copy}") from error
    except (MemoryRefusal, OSError) as error:
        error.add_note(f"Your edited copy is kept: {copy}")
        raise
    copy.unlink()
    folder.rmdir()
    output.answer(answer)
    return 0


def _run_editor(path: Path, cwd: Path) -> None:
    from agent.app.editor import EditorProblem, find_editor

    try:
        words = find_editor()
        code = subprocess.call([*words, str(path)], cwd=cwd)
    except EditorProblem as error:
        raise UsageProblem(str(error)) from error
    except OSError as error:
        raise UsageProblem(f"The editor {words[0]!r} cannot be started: {error.strerror}; set $EDITOR") from error
    if code != 0:
        raise UsageProblem(f"The editor {words[0]!r} ended with code {code}; nothing was stored. The copy: {path}")
