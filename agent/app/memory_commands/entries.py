"""`my-agent memory list|search|get|stats|export`: what works on both layers, in each that is on or named."""

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

__all__ = ["Layer", "export", "get", "list_entries", "search", "stats", "worded", "write_new"]

Layer = Literal["curated", "archive"]


def list_entries(options: Options, target: Target | None, layer: Layer | None, category: str | None) -> int:
    """Show the entries, and how full the files are."""
    config, output = begin(options)
    layer = layer or ("archive" if category is not None else "curated" if target else None)
    found: dict[str, Any] = {}
    lines: list[str] = []
    layers = list(_layers(config, options, output, layer))
    for name, one in layers:
        if isinstance(one, Curated):
            for held in (target,) if target else TARGETS:
                found[held] = one.overview(held)
                lines.append(target_lines(held, found[held], output))
            found["folder"] = str(one.store.mem_dir)
        else:
            rows = found[name] = one.entries(category)
            lines.append(f"{output.styled(name, 'bold')}  entries {len(rows)}")
            lines += [f"{_head(row, output)}\n    {_text(row, output)}" for row in rows]
    output.result(found, "\n".join(lines))
    return Exit.BUSY if any("error" in found.get(held, ()) for held in TARGETS) else _code(layers)


def search(options: Options, query: Sequence[str], layer: Layer | None, category: str | None, limit: int) -> int:
    """Find entries: curated ones that hold all words, and the archive's best by words and meaning."""
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
    """Show one entry, whole: that of the archive under this key, else the curated one that holds the text."""
    config, output = begin(options)
    target, words = split_target(text, target)
    layers = list(_layers(config, options, output, layer or ("curated" if target else None)))
    for _, one in reversed(layers):
        try:
            found = one.find(target, words) if isinstance(one, Curated) else one.get(words)
        except ValueError as error:  # a refusal of either layer
            problem = error
        else:
            return output.result(found, plain(found["content"]))
    if len(layers) > 1:
        problem = type(problem)(f"No entry of the archive has the key {words!r}. {problem}")
    raise problem


def stats(options: Options, layer: Layer | None) -> int:
    config, output = begin(options)
    found: dict[str, Any] = {}
    layers = list(_layers(config, options, output, layer))
    for _, one in layers:
        found |= one.stats()
    lines = [f"{output.styled(name, 'bold')}  {output.styled(worded(part), 'plain')}" for name, part in found.items()]
    output.result(found, "\n".join(lines))
    return _code(layers)


def worded(figures: dict[str, Any]) -> str:
    """Return figures as words; what there is none of is left out."""
    there = {name: value for name, value in figures.items() if value not in (None, "", {})}
    parts = {name: f"({worded(value)})" if isinstance(value, dict) else value for name, value in there.items()}
    return ", ".join(f"{name} {value}" for name, value in parts.items())


def export(options: Options, to: str | None, layer: Layer | None) -> int:
    """Write all entries as JSON Lines."""
    config, output = begin(options)
    layers = list(_layers(config, options, output, layer))
    rows = [{"layer": name, **row} for name, one in layers for row in one.rows()]
    text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    if to is not None:
        write_new(config.cwd / Path(to).expanduser(), text)
        output.progress(f"{len(rows)} entries written to {to}")
    elif text:
        output.show(text)
    return _code(layers)


def write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet, whole or not at all. Raises `UsageProblem` where it is."""
    try:
        file = path.open("x", encoding="utf-8", newline="\n")
    except FileExistsError as error:
        raise UsageProblem(f"{str(path)!r} exists already; nothing was written") from error
    try:
        with file:
            file.write(text)
    except OSError as error:
        path.unlink()
        raise OSError(error.errno, error.strerror, str(path)) from error


def _layers(
    config: Config, options: Options, output: Output, layer: Layer | None
) -> Iterator[tuple[str, Curated | Archived]]:
    """Yield the layer that is named, or each that is on. Where both are off, the error is that of the curated one."""
    archive_on = bool(config.settings.memory.backend)
    curated_on = not archive_on or curated_dir(config, options) is not None
    if layer == "curated" or (layer is None and curated_on):
        yield "curated", Curated(config, options, output)
    if layer == "archive" or (layer is None and archive_on):
        from agent.app.memory_commands.archived import Archived  # asyncio, and all that an archive needs

        yield "archive", Archived(config, output)


def _code(layers: Sequence[tuple[str, Curated | Archived]]) -> int:
    return max((one.code for _, one in layers if not isinstance(one, Curated)), default=Exit.DONE)


def _head(row: dict[str, Any], output: Output) -> str:
    where = row.get("target")
    if where is None:
        tags = f" [{', '.join(row['tags'])}]" if row["tags"] else ""
        where = f"{row['key']} ({row['category']}, {row.get('score', row['updated'][:10])}){tags}"
    return output.styled(where, "cyan")


def _text(row: dict[str, Any], output: Output) -> str:
    return output.styled(row["content"], "plain").replace("\n", "\n    ")
