"""`my-agent memory edit|export|import`: the entries as a file."""

from __future__ import annotations

import json as jsonlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from agent.app.exits import UsageProblem
from agent.app.memory_commands.curated import TARGETS, Target, begin, open_curated
from agent.app.memory_commands.entries import Layer, OfLayer
from agent.app.options import Options
from agent.app.output import is_terminal
from agent.app.parameters import Arg, AsJson

if TYPE_CHECKING:
    from agent.app.config import Config
    from agent.app.output import Output
    from memory import MemoryStore

__all__ = ["edit", "export", "import_entries"]


def edit(
    options: Options,
    target: Annotated[Target, Arg("memory or user.")] = "memory",
) -> int:
    """Edit the entries in $EDITOR; a line with only § divides them.

    The editor gets a copy. If the file changed meanwhile nothing is written, and the copy is kept.
    """
    from memory import MemoryRefusal, join_entries, parse_entries

    config, output = begin(options)
    store = open_curated(config, options, output)
    base = store.reread(target)
    _check_editor()
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


def export(
    options: Options,
    to: Annotated[str | None, Arg("A new file; else standard output.", metavar="[FILE]")] = None,
    layer: OfLayer = None,
) -> int:
    """Write all entries as JSON Lines: of both layers, where --layer names none."""
    config, output = begin(options)
    lines = [jsonlib.dumps(one, ensure_ascii=False) for one in _all(config, options, output, layer)]
    text = "".join(f"{line}\n" for line in lines)
    if to is None:
        if text:
            output.show(text)
        return 0
    path = config.cwd / Path(to).expanduser()
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError as error:
        raise UsageProblem(f"{str(path)!r} exists already; nothing was written") from error
    output.progress(f"{len(lines)} entries written to {path}")
    return 0


def import_entries(
    options: Options,
    source: Annotated[str, Arg("JSON Lines; - reads standard input.", metavar="FILE")],
    layer: OfLayer = None,
    json: AsJson = False,
) -> int:
    """Add entries from JSON Lines. All lines are checked before anything is stored; doubles are left out."""
    config, output = begin(options)
    rows = list(_rows(_text(config, source)))
    curated = [row for row in rows if "key" not in row]
    archived = [row for row in rows if "key" in row]
    found: dict[str, Any] = {}
    if curated and layer != "archive":
        found |= _import_curated(open_curated(config, options, output, whole=True), curated)
    if archived and layer != "curated":
        from agent.app.memory_commands.archive import import_archive

        found["archive"] = import_archive(config, archived)
    if json:
        output.data(found)
    else:
        parts = [
            f"{name}: {', '.join(f'{count} {what}' for what, count in part.items())}" for name, part in found.items()
        ]
        output.answer("; ".join(parts) or "There was nothing to import")
    return 0


def _check_editor() -> None:
    if not (os.environ.get("VISUAL") or os.environ.get("EDITOR") or is_terminal(sys.stdin)):
        raise UsageProblem(
            "There is no terminal for an editor here; a program that edits files can be named in $EDITOR"
        )


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


def _all(config: Config, options: Options, output: Output, layer: Layer | None) -> Iterator[dict[str, Any]]:
    from agent.app.build import curated_dir

    archive_on = bool(config.settings.memory.backend)
    if layer == "curated" or (layer is None and (not archive_on or curated_dir(config, options) is not None)):
        store = open_curated(config, options, output, whole=True)
        for target in TARGETS:
            for text in store.entries(target):
                yield {"layer": "curated", "target": target, "content": text}
    if layer == "archive" or (layer is None and archive_on):
        from agent.app.memory_commands.archive import all_archived

        for entry in all_archived(config):
            yield {"layer": "archive", **entry}


def _text(config: Config, source: str) -> str:
    from agent.app.stdin import read_stdin

    if source == "-":
        piped = read_stdin(needed=True)
        if piped.replaced:
            raise UsageProblem("Standard input is not UTF-8; nothing was imported")
        return piped.text
    path = config.cwd / Path(source).expanduser()
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageProblem(f"{str(path)!r} is not UTF-8; nothing was imported") from error
    except OSError as error:
        raise UsageProblem(f"{str(path)!r} cannot be read: {error.strerror}") from error


def _rows(text: str) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = jsonlib.loads(line)
        except ValueError as error:
            raise UsageProblem(f"Line {number} is not JSON ({error}); nothing was imported") from error
        if not isinstance(row, dict) or not isinstance(row.get("content"), str) or not row["content"].strip():
            raise UsageProblem(f"Line {number} is no entry: it needs a text under 'content'; nothing was imported")
        if "key" not in row and row.setdefault("target", "memory") not in TARGETS:
            raise UsageProblem(f"Line {number}: target {row['target']!r} is not one of {', '.join(TARGETS)}")
        yield row


def _import_curated(store: MemoryStore, rows: list[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for target in TARGETS:
        base = store.entries(target)
        mine = dict.fromkeys(row["content"].strip() for row in rows if row["target"] == target)
        fresh = [entry for entry in mine if entry not in base]
        if fresh:
            store.rewrite(target, [*base, *fresh], base=base, action="import")
        if mine:
            found[target] = {"added": len(fresh), "there already": len(mine) - len(fresh)}
    return found
