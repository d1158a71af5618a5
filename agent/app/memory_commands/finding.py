"""`my-agent memory search|get`: entries found, in both layers."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Annotated, Any

from agent.app.exits import UsageProblem
from agent.app.memory_commands.curated import TARGETS, begin, has_curated, holder_of, open_curated, split_target
from agent.app.memory_commands.entries import InTarget, OfLayer
from agent.app.options import Options
from agent.app.output import Output
from agent.app.parameters import Arg, AsJson, Opt

if TYPE_CHECKING:
    from memory import MemoryStore

__all__ = ["get", "search"]


def search(
    options: Options,
    query: Annotated[list[str], Arg("Words; an entry must hold all of them.")],
    layer: OfLayer = None,
    limit: Annotated[int, Opt("--limit", "-n", low=1, help="Hits at most.")] = 10,
    category: Annotated[str | None, Opt("--category", help="Of the archive: only this category.")] = None,
    json: AsJson = False,
) -> int:
    """Find entries, in both layers where --layer names none."""
    config, output = begin(options)
    words = " ".join(query)
    if not words.strip():
        raise UsageProblem("The words to look for are missing or empty")
    archive_on = bool(config.settings.memory.backend)
    found: dict[str, Any] = {}
    if layer == "curated" or (layer is None and category is None and has_curated(config, options, archive_on)):
        found["curated"] = _matching(open_curated(config, options, output, whole=True), words)[:limit]
    if layer == "archive" or (layer is None and archive_on):
        from agent.app.memory_commands.archive import search_archive

        found["archive"] = search_archive(config, output, words, limit=limit, category=category)
    if json:
        output.data(found)
        return 0
    lines = [_hit(one["target"], one["content"], output) for one in found.get("curated", [])]
    lines += [
        _hit(f"{one['key']} ({one['category']}, {one['score']})", one["content"], output)
        for one in found.get("archive", [])
    ]
    output.show("\n".join(lines) if lines else "(nothing found)")
    return 0


def get(
    options: Options,
    text: Annotated[list[str], Arg("The key in the archive, or a text that one entry holds.")],
    layer: OfLayer = None,
    target: InTarget = None,
    json: AsJson = False,
) -> int:
    """Show one entry, whole."""
    config, output = begin(options)
    chosen, words = split_target(text, target, "The key or text")
    if layer == "archive" or (layer is None and chosen is None and config.settings.memory.backend):
        from agent.app.memory_commands.archive import get_archived

        return get_archived(config, output, words, as_json=json)
    store = open_curated(config, options, output)
    where = chosen or holder_of(store, words)
    entry = store.find(where, words)
    if json:
        output.data({"target": where, "content": entry})
    else:
        output.answer(entry)
    return 0


def _hit(where: str, content: str, output: Output) -> str:
    return f"{output.styled(where, 'cyan')}: {output.styled(content, 'plain')}"


def _matching(store: MemoryStore, words: str) -> list[dict[str, str]]:
    wanted = _folded(words).split()
    return [
        {"target": target, "content": entry}
        for target in TARGETS
        for entry in store.entries(target)
        if all(word in _folded(entry) for word in wanted)
    ]


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
