"""`my-agent memory import`: JSON Lines into both layers, all of them checked before anything is stored."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from reprlib import repr as short
from typing import Any

from agent.app.config import Config
from agent.app.exits import UsageProblem
from agent.app.memory_commands.curated import TARGETS, Curated
from agent.app.memory_commands.entries import Layer
from agent.app.options import Options
from agent.app.output import begin
from agent.app.plain import plain

__all__ = ["import_entries"]

LAYERS = ("curated", "archive")
TEXTS = ("layer", "target", "key", "content", "category", "owner", "session", "created", "updated")
KINDS: dict[str, tuple[type[Any], str]] = {
    **dict.fromkeys(TEXTS, (str, "a text")),
    "tags": (list, "a list of texts"),
    "metadata": (dict, "an object"),
}


def import_entries(options: Options, source: str, layer: Layer | None) -> int:
    """Add entries from JSON Lines. All are checked before anything is stored."""
    config, output = begin(options)
    rows = [row for row in _rows(_source_text(config, source)) if layer in (None, row["layer"])]
    curated, archived = ([row for row in rows if row["layer"] == name] for name in LAYERS)
    plans = []
    if archived:
        from agent.app.memory_commands.archived import Archived  # asyncio, and all that an archive needs

        plans.append(Archived(config, output).plan(archived))
    if curated:
        plans.append(Curated(config, options, output).plan(curated))
    found: dict[str, Any] = {}
    for store in plans:
        found |= store()
    parts = [f"{name}: {', '.join(f'{count} {what}' for what, count in part.items())}" for name, part in found.items()]
    return output.result(found, plain("; ".join(parts)) or "There was nothing to import")


def _source_text(config: Config, source: str) -> str:
    if source == "-":
        from agent.app.stdin import read_text

        return read_text()
    path = config.cwd / Path(source).expanduser()
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageProblem(f"{str(path)!r} is not UTF-8; nothing was imported") from error
    except OSError as error:
        raise UsageProblem(f"{str(path)!r} cannot be read: {error.strerror}") from error


def _rows(text: str) -> Iterator[dict[str, Any]]:
    """Yield each entry with its `line`, its layer and its target. Raises `UsageProblem` for what is none."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UsageProblem(f"Line {number} is not JSON ({error}); nothing was imported") from error
        if not isinstance(row, dict):
            raise UsageProblem(f"Line {number} is no entry but {short(row)}; nothing was imported")
        row = {name: value for name, value in row.items() if value is not None}
        row = {"layer": "archive" if "key" in row else "curated", "target": "memory", **row}
        if problem := _problem(row):
            raise UsageProblem(f"Line {number}: {problem}; nothing was imported")
        yield row | {"line": number}


def _problem(row: dict[str, Any]) -> str:
    """Return what is wrong with an entry, with the field and its value; else nothing."""
    for name, (kind, wanted) in KINDS.items():
        value: Any = row.get(name, kind())
        if not isinstance(value, kind) or (kind is list and not all(isinstance(one, str) for one in value)):
            return f"{name} = {short(value)} must be {wanted}"
    for name, choices in (("layer", LAYERS), ("target", TARGETS)):
        if row[name] not in choices:
            return f"{name} = {row[name]!r} is not one of {', '.join(choices)}"
    needed = ("key", "content") if row["layer"] == "archive" else ("content",)
    missing = [name for name in needed if not row.get(name, "").strip()]
    return f"{missing[0]} is missing or blank" if missing else ""
