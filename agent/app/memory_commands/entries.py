"""`my-agent memory list|search|get|stats|export|import`: what works on both layers, in each that is on or named."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from agent.app.build import curated_dir
from agent.app.config import Config
from agent.app.exits import Exit, UsageProblem
from agent.app.memory_commands.curated import TARGETS, Curated, split_target, target_lines
from agent.app.options import Options
from agent.app.output import Output, begin
from agent.app.plain import plain

if TYPE_CHECKING:
    from agent.app.memory_commands.archived import Archived
    from memory import Target

__all__ = ["export", "get", "import_entries", "list_entries", "search", "stats"]

Layer = Literal["curated", "archive"]


def list_entries(options: Options, target: Target | None, layer: Layer | None, category: str | None) -> int:
    """Show the entries, and how full the files are."""
    config, output = begin(options)
    if layer == "archive" or (layer is None and category is not None):
        rows = _archived(config, output).entries(category)
        lines = [f"{_head(row, output)}\n    {_text(row, output)}" for row in rows]
        return output.result({"entries": rows}, "\n".join(lines) or "(empty)")
    curated = Curated(config, options, output)
    found = {one: curated.overview(one) for one in ((target,) if target else TARGETS)}
    lines = [target_lines(one, part, output) for one, part in found.items()]
    output.result({**found, "folder": str(curated.store.mem_dir)}, "\n".join(lines))
    return Exit.BUSY if any("error" in part for part in found.values()) else Exit.DONE


def search(options: Options, query: Sequence[str], layer: Layer | None, category: str | None, limit: int) -> int:
    """Find entries that hold all words."""
    config, output = begin(options)
    words = " ".join(query)
    if not words.strip():
        raise UsageProblem("The words to look for are missing or empty")
    layers = _layers(config, options, output, layer)
    found = {name: one.search(words, limit, category) for name, one in layers}
    lines = [
        f"{_head(row, output)}: {output.styled(row['content'], 'plain')}" for rows in found.values() for row in rows
    ]
    return output.result(found, "\n".join(lines) or "(nothing found)")


def get(options: Options, text: Sequence[str], layer: Layer | None, target: Target | None) -> int:
    """Show one entry, whole."""
    config, output = begin(options)
    target, words = split_target(text, target)
    if layer == "archive" or (layer is None and target is None and config.settings.memory.backend):
        entry = _archived(config, output).do(lambda archive, who: archive.get(who, words))
        return output.result(entry.as_json(), plain(entry.content))
    curated = Curated(config, options, output)
    target = target or curated.holder_of(words)
    content = curated.store.find(target, words)
    return output.result({"target": target, "content": content}, plain(content))


def stats(options: Options, layer: Layer | None) -> int:
    config, output = begin(options)
    found: dict[str, Any] = {}
    for _, one in _layers(config, options, output, layer):
        found |= one.stats()
    parts = {name: ", ".join(f"{key} {value}" for key, value in part.items()) for name, part in found.items()}
    lines = [f"{output.styled(name, 'bold')}  {output.styled(text, 'plain')}" for name, text in parts.items()]
    return output.result(found, "\n".join(lines))


def export(options: Options, to: str | None, layer: Layer | None) -> int:
    """Write all entries as JSON Lines."""
    config, output = begin(options)
    rows = [{"layer": name, **row} for name, one in _layers(config, options, output, layer) for row in one.rows()]
    text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    if to is not None:
        write_new(config.cwd / Path(to).expanduser(), text)
        output.progress(f"{len(rows)} entries written to {to}")
    elif text:
        output.show(text)
    return 0


def import_entries(options: Options, source: str, layer: Layer | None) -> int:
    """Add entries from JSON Lines. All lines are checked before anything is stored."""
    config, output = begin(options)
    rows = list(_rows(_source_text(config, source)))
    found: dict[str, Any] = {}
    curated, archived = [row for row in rows if "key" not in row], [row for row in rows if "key" in row]
    if curated and layer != "archive":
        found |= Curated(config, options, output).put(curated)
    if archived and layer != "curated":
        found |= _archived(config, output).put(archived)
    parts = [f"{name}: {', '.join(f'{count} {what}' for what, count in part.items())}" for name, part in found.items()]
    return output.result(found, "; ".join(parts) or "There was nothing to import")


def write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet. Raises `UsageProblem` where it is."""
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError as error:
        raise UsageProblem(f"{str(path)!r} exists already; nothing was written") from error


def _layers(
    config: Config, options: Options, output: Output, layer: Layer | None
) -> Iterator[tuple[str, Curated | Archived]]:
    """Yield the layer that is named, or each that is on. Where both are off, the error is that of the curated one."""
    archive_on = bool(config.settings.memory.backend)
    curated_on = not archive_on or curated_dir(config, options) is not None
    if layer == "curated" or (layer is None and curated_on):
        yield "curated", Curated(config, options, output)
    if layer == "archive" or (layer is None and archive_on):
        yield "archive", _archived(config, output)


def _archived(config: Config, output: Output) -> Archived:
    from agent.app.memory_commands.archived import Archived  # asyncio, and all that an archive needs

    return Archived(config, output)


def _head(row: dict[str, Any], output: Output) -> str:
    where = row.get("target")
    if where is None:
        tags = f" [{', '.join(row['tags'])}]" if row["tags"] else ""
        where = f"{row['key']} ({row['category']}, {row.get('score', row['updated'][:10])}){tags}"
    return output.styled(where, "cyan")


def _text(row: dict[str, Any], output: Output) -> str:
    return output.styled(row["content"], "plain").replace("\n", "\n    ")


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
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise UsageProblem(f"Line {number} is not JSON ({error}); nothing was imported") from error
        if not isinstance(row, dict) or not isinstance(row.get("content"), str) or not row["content"].strip():
            raise UsageProblem(f"Line {number} is no entry: it needs a text under 'content'; nothing was imported")
        if "key" not in row and row.setdefault("target", "memory") not in TARGETS:
            raise UsageProblem(f"Line {number}: target {row['target']!r} is not one of {', '.join(TARGETS)}")
        yield row
