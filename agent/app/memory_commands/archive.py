"""The archive on the command line: `my-agent memory store|forget|reindex`, and the archive's part of the others."""

from __future__ import annotations

import asyncio
import json as jsonlib
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from agent.app.archive_setup import build_archive
from agent.app.config import Config
from agent.app.exits import UsageProblem
from agent.app.memory_commands.curated import begin
from agent.app.options import Options
from agent.app.output import Output, is_terminal
from agent.app.parameters import Arg, AsJson, Opt

if TYPE_CHECKING:
    from memory.archive import Archive, Entry, Principal

__all__ = [
    "all_archived",
    "archive_stats",
    "forget",
    "get_archived",
    "import_archive",
    "list_archive",
    "reindex",
    "search_archive",
    "store",
]

T = TypeVar("T")

Tags = Annotated[list[str] | None, Opt("--tag", help="A tag (repeatable).")]


def store(
    options: Options,
    key: Annotated[str, Arg("Name of the entry.")],
    content: Annotated[str, Arg("The fact; - reads it from standard input.")],
    category: Annotated[str, Opt("--category", help="core, daily, or a name of your own.")] = "core",
    tag: Tags = None,
    metadata: Annotated[str | None, Opt("--metadata", help="A JSON object.")] = None,
    json: AsJson = False,
) -> int:
    """Store an entry of the archive under a key; one of the same key is replaced."""
    config, output = begin(options)
    fields = _object(metadata)
    text = _piped() if content == "-" else content

    async def work(archive: Archive, who: Principal) -> Any:
        return await archive.store(who, key, text, category=category, tags=tag or (), metadata=fields)

    kept = _with_archive(config, work)
    if kept.warning:
        output.notice(kept.warning)
    if json:
        output.data({"status": kept.status, "entry": kept.entry.as_json(), "warning": kept.warning or None})
    else:
        output.answer(f"{kept.status} {kept.entry.key} ({kept.entry.category})")
    return 0


def forget(options: Options, key: Annotated[str, Arg("Name of the entry.")], json: AsJson = False) -> int:
    """Remove an entry of the archive, and show what it held."""
    config, output = begin(options)

    async def work(archive: Archive, who: Principal) -> Entry:
        return await archive.forget(who, key)

    entry = _with_archive(config, work)
    if json:
        output.data({"forgotten": entry.as_json()})
    else:
        output.answer(f"forgot {entry.key} ({entry.category}):\n{entry.content}")
    return 0


def reindex(options: Options, json: AsJson = False) -> int:
    """Compute the missing vectors of the archive, and its word index anew."""
    config, output = begin(options)
    shown = is_terminal(output.stderr) and not output.quiet

    def progress(done: int, total: int) -> None:
        if shown:
            output.show_question(f"\r{done}/{total} entries", end="\n" if done >= total else "")

    async def work(archive: Archive, who: Principal) -> int:
        return await archive.reindex(progress)

    count = _with_archive(config, work)
    if json:
        output.data({"embedded": count})
    else:
        output.answer(f"{count} entr{'y' if count == 1 else 'ies'} got vectors; the word index is new")
    return 0


def list_archive(config: Config, output: Output, category: str | None, *, as_json: bool) -> int:
    async def work(archive: Archive, who: Principal) -> list[Entry]:
        return [entry async for entry in archive.entries(who, category=category)]

    entries = _with_archive(config, work)
    if as_json:
        output.data({"entries": [entry.as_json() for entry in entries]})
        return 0
    for entry in entries:
        tags = f" [{', '.join(entry.tags)}]" if entry.tags else ""
        head = output.styled(f"{entry.key} ({entry.category}, {entry.updated:%Y-%m-%d}){tags}", "cyan")
        output.show(f"{head}\n{_indented(entry.content, output)}")
    if not entries:
        output.show("(empty)")
    return 0


def get_archived(config: Config, output: Output, key: str, *, as_json: bool) -> int:
    async def work(archive: Archive, who: Principal) -> Entry:
        return await archive.get(who, key)

    entry = _with_archive(config, work)
    if as_json:
        output.data(entry.as_json())
    else:
        output.answer(entry.content)
    return 0


def search_archive(
    config: Config, output: Output, query: str, *, limit: int, category: str | None
) -> list[dict[str, Any]]:
    async def work(archive: Archive, who: Principal) -> Any:
        return await archive.search(who, query, limit=limit, category=category)

    found = _with_archive(config, work)
    if found.warning:
        output.notice(found.warning)
    return [{**hit.entry.as_json(), "score": hit.score} for hit in found.hits]


def archive_stats(config: Config) -> dict[str, Any]:
    async def work(archive: Archive, who: Principal) -> dict[str, Any]:
        return await archive.stats(who)

    return _with_archive(config, work)


def all_archived(config: Config) -> list[dict[str, Any]]:
    """Return all entries with all their fields; under access control those that this agent may see."""

    async def work(archive: Archive, who: Principal) -> list[Entry]:
        asking = who if archive.access.enabled else None
        return [entry async for entry in archive.entries(asking)]

    return [{**entry.as_json(), "session": entry.session} for entry in _with_archive(config, work)]


def import_archive(config: Config, rows: list[dict[str, Any]]) -> dict[str, int]:
    """Keep exported entries as they were, owner and times included."""

    async def work(archive: Archive, who: Principal) -> dict[str, int]:
        entries = [_entry(row, who) for row in rows]
        strange = [entry for entry in entries if entry.owner != who.agent]
        if strange and archive.access.enabled and who.agent not in archive.access.admins:
            raise UsageProblem(f"{strange[0].key!r} belongs to {strange[0].owner!r}; access control keeps it from you")
        created, updated = await archive.put_all(entries)
        return {"created": created, "updated": updated}

    return _with_archive(config, work)


def _with_archive(config: Config, work: Callable[[Archive, Principal], Awaitable[T]]) -> T:
    """Open the archive for this agent, do the work, close it."""
    from memory.archive import Principal

    async def play() -> T:
        archive = build_archive(config)
        try:
            return await work(archive, Principal(config.settings.agent.name))
        finally:
            await archive.close()

    return asyncio.run(play())


def _entry(row: dict[str, Any], who: Principal) -> Entry:
    from memory.archive import Entry

    key = row.get("key")
    entry = Entry(key=str(key), content=row["content"], owner=who.agent)
    try:
        now = datetime.now(UTC)
        return replace(
            entry,
            category=str(row.get("category", entry.category)),
            tags=tuple(row.get("tags", ())),
            metadata=dict(row.get("metadata") or {}),
            owner=str(row.get("owner") or who.agent),
            session=str(row.get("session", "")),
            created=_moment(row.get("created"), now),
            updated=_moment(row.get("updated"), now),
        )
    except (TypeError, ValueError) as error:
        raise UsageProblem(f"The entry {key!r} cannot be imported: {error}; nothing was imported") from error


def _moment(text: Any, otherwise: datetime) -> datetime:
    if text is None:
        return otherwise
    found = datetime.fromisoformat(str(text))
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)


def _object(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    try:
        found = jsonlib.loads(text)
    except ValueError as error:
        raise UsageProblem(f"--metadata {text!r} is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise UsageProblem(f"--metadata {text!r} must be a JSON object")
    return found


def _indented(text: str, output: Output) -> str:
    return "\n".join(f"    {output.styled(line, 'plain')}" for line in text.split("\n"))


def _piped() -> str:
    from agent.app.stdin import read_stdin

    piped = read_stdin(needed=True)
    if piped.replaced:
        raise UsageProblem("Standard input is not UTF-8; nothing was stored")
    return piped.text
