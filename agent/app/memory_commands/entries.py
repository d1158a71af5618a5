"""`my-agent memory list|show|add|remove|path|stats`: the curated memory, seen and changed by a person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from agent.app.exits import Exit, UsageProblem
from agent.app.memory_commands.curated import (
    TARGETS,
    Target,
    begin,
    entry_lines,
    fill,
    has_curated,
    holder_of,
    open_curated,
    overview,
    split_target,
)
from agent.app.options import Options
from agent.app.output import Output
from agent.app.parameters import Arg, AsJson, Opt

if TYPE_CHECKING:
    from memory import MemoryStore

__all__ = ["Layer", "add", "list_entries", "path", "remove", "show", "stats"]

Layer = Literal["curated", "archive"]

OfLayer = Annotated[Layer | None, Opt("--layer", help="curated (MEMORY.md, USER.md) or archive.")]
InTarget = Annotated[Target | None, Opt("--target", "-t", help="memory (agent notes) or user (profile).")]
OneTarget = Annotated[Target | None, Arg("memory or user; both if left out.")]
HEADINGS = {"memory": "MEMORY.md (agent notes)", "user": "USER.md (user profile)"}


def list_entries(
    options: Options,
    target: OneTarget = None,
    layer: OfLayer = None,
    category: Annotated[str | None, Opt("--category", help="Of the archive: only this category.")] = None,
    json: AsJson = False,
) -> int:
    """Show the entries, and how full the files are."""
    config, output = begin(options)
    if layer == "archive" or (layer is None and category is not None):
        from agent.app.memory_commands.archive import list_archive

        return list_archive(config, output, category, as_json=json)
    store = open_curated(config, options, output)
    chosen: tuple[Target, ...] = TARGETS if target is None else (target,)
    found = {one: overview(store, one) for one in chosen}
    if json:
        output.data(found | {"folder": str(store.mem_dir)})
    else:
        for one, part in found.items():
            head = f"{output.styled(HEADINGS[one], 'bold')}  {fill(part['used'], part['limit'])}"
            lines = ["      (cannot be read)"] if "error" in part else entry_lines(part["entries"], output)
            output.show("\n".join([head, *lines]))
    return Exit.BUSY if any("error" in part for part in found.values()) else Exit.DONE


def show(options: Options, target: OneTarget = None, json: AsJson = False) -> int:
    """Show the memory as the model gets it at the start of a session."""
    config, output = begin(options)
    store = open_curated(config, options, output, whole=True)
    text = store.format_all_for_system_prompt() if target is None else store.format_for_system_prompt(target)
    if json:
        output.data({"text": text})
    else:
        output.answer(text or "(memory is empty: nothing is in the prompt)")
    return 0


def add(
    options: Options,
    text: Annotated[list[str], Arg("[memory|user] and the entry; - reads it from standard input.")],
    target: InTarget = None,
    json: AsJson = False,
) -> int:
    """Add an entry."""
    config, output = begin(options)
    chosen, entry = split_target(text, target, "The text of the entry")
    if entry == "-":
        entry = _piped(output)
    store = open_curated(config, options, output)
    return _told(output, store, chosen or "memory", store.add(chosen or "memory", entry), json)


def remove(
    options: Options,
    text: Annotated[list[str], Arg("[memory|user] and a text that only this entry holds.")],
    target: InTarget = None,
    json: AsJson = False,
) -> int:
    """Remove the entry that holds a text."""
    config, output = begin(options)
    chosen, old = split_target(text, target, "The text of the entry")
    store = open_curated(config, options, output)
    where = chosen or holder_of(store, old)
    return _told(output, store, where, store.remove(where, old), json)


def path(options: Options, target: OneTarget = None, json: AsJson = False) -> int:
    """Print the folder of the memory, or the file of a target."""
    config, output = begin(options)
    store = open_curated(config, options, output)
    found = store.mem_dir if target is None else store.mem_dir / store.files[target]
    if json:
        output.data({"path": str(found), "exists": found.exists()})
    else:
        output.answer(str(found))
    return 0


def stats(options: Options, layer: OfLayer = None, json: AsJson = False) -> int:
    """Show figures about the memory."""
    config, output = begin(options)
    found: dict[str, Any] = {}
    if layer != "archive" and (
        layer == "curated" or has_curated(config, options, bool(config.settings.memory.backend))
    ):
        found = _curated_stats(open_curated(config, options, output))
    if layer != "curated" and (layer == "archive" or config.settings.memory.backend):
        from agent.app.memory_commands.archive import archive_stats

        found["archive"] = archive_stats(config)
    if json:
        output.data(found)
        return 0
    for name, part in found.items():
        output.show(f"{output.styled(name, 'bold')}  " + ", ".join(f"{key} {value}" for key, value in part.items()))
    return 0


def _curated_stats(store: MemoryStore) -> dict[str, Any]:
    from memory import Journal

    found: dict[str, Any] = {}
    changes = Journal(store.mem_dir).read()
    for target in TARGETS:
        part = overview(store, target)
        mine = [change for change in changes if change.target == target]
        found[target] = {
            "entries": len(part["entries"]),
            "used": part["used"],
            "limit": part["limit"],
            "changes": len(mine),
            "changed": mine[-1].at if mine else None,
        }
    return found


def _told(output: Output, store: MemoryStore, target: Target, answer: str, as_json: bool) -> int:
    """Show what the store answered to a change."""
    if as_json:
        output.data({"message": answer, target: overview(store, target)})
    else:
        output.answer(answer)
    return 0


def _piped(output: Output) -> str:
    from agent.app.stdin import read_stdin

    piped = read_stdin(needed=True)
    if piped.replaced:
        raise UsageProblem("Standard input is not UTF-8; nothing was stored")
    if not piped.text.strip():
        raise UsageProblem("The text of the entry is empty")
    return piped.text
