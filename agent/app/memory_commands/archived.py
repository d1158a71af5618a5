"""`Archived`: the archive as the command line opens it, and `my-agent memory store|forget|reindex`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from agent.app.archive_setup import build_archive
from agent.app.config import Config
from agent.app.exits import UsageProblem
from agent.app.options import Options
from agent.app.output import Output, begin, is_terminal
from agent.app.plain import plain

if TYPE_CHECKING:
    from memory.archive import Archive, Entry, Principal

__all__ = ["Archived", "forget", "reindex", "store"]

T = TypeVar("T")


class Archived:
    """The layer of keyed entries. Each call opens the archive, for this agent, and closes it."""

    def __init__(self, config: Config, output: Output) -> None:
        self._config = config
        self._output = output

    def do(self, work: Callable[[Archive, Principal], Awaitable[T]]) -> T:
        from memory.archive import Principal

        async def play() -> T:
            archive = build_archive(self._config)
            try:
                return await work(archive, Principal(self._config.settings.agent.name))
            finally:
                await archive.close()

        return asyncio.run(play())

    def rows(self) -> list[dict[str, Any]]:
        """Return all entries with all their fields; under access control those that this agent may see."""

        async def work(archive: Archive, who: Principal) -> list[Entry]:
            return [entry async for entry in archive.entries(who if archive.access.enabled else None)]

        return [{**entry.as_json(), "session": entry.session} for entry in self.do(work)]

    def entries(self, category: str | None) -> list[dict[str, Any]]:
        async def work(archive: Archive, who: Principal) -> list[dict[str, Any]]:
            return [entry.as_json() async for entry in archive.entries(who, category=category)]

        return self.do(work)

    def search(self, query: str, limit: int, category: str | None) -> list[dict[str, Any]]:
        found = self.do(lambda archive, who: archive.search(who, query, limit=limit, category=category))
        if found.warning:
            self._output.notice(found.warning)
        return [{**hit.entry.as_json(), "score": hit.score} for hit in found.hits]

    def stats(self) -> dict[str, Any]:
        return {"archive": self.do(lambda archive, who: archive.stats(who))}

    def put(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Keep exported entries as they were, owner and times included."""

        async def work(archive: Archive, who: Principal) -> tuple[int, int]:
            entries = [_entry(row, who) for row in rows]
            strange = [entry for entry in entries if entry.owner != who.agent]
            if strange and archive.access.enabled and who.agent not in archive.access.admins:
                one = strange[0]
                raise UsageProblem(f"{one.key!r} belongs to {one.owner!r}; access control keeps it from you")
            return await archive.put_all(entries)

        created, updated = self.do(work)
        return {"archive": {"created": created, "updated": updated}}


def store(
    options: Options, key: str, content: str, category: str, tag: Sequence[str] | None, metadata: str | None
) -> int:
    config, output = begin(options)
    try:
        fields = json.loads(metadata or "{}")
    except ValueError as error:
        raise UsageProblem(f"--metadata {metadata!r} is not JSON: {error}") from error
    if not isinstance(fields, dict):
        raise UsageProblem(f"--metadata {metadata!r} must be a JSON object")
    if content == "-":
        from agent.app.stdin import read_text

        content = read_text()
    kept = Archived(config, output).do(
        lambda archive, who: archive.store(who, key, content, category=category, tags=tag or (), metadata=fields)
    )
    if kept.warning:
        output.notice(kept.warning)
    found = {"status": kept.status, "entry": kept.entry.as_json(), "warning": kept.warning or None}
    return output.result(found, plain(f"{kept.status} {kept.entry.key} ({kept.entry.category})"))


def forget(options: Options, key: str) -> int:
    """Remove an entry of the archive, and show what it held."""
    config, output = begin(options)
    entry = Archived(config, output).do(lambda archive, who: archive.forget(who, key))
    text = f"forgot {entry.key} ({entry.category}):\n{entry.content}"
    return output.result({"forgotten": entry.as_json()}, plain(text))


def reindex(options: Options) -> int:
    """Compute the missing vectors of the archive, and its word index anew."""
    config, output = begin(options)

    def progress(done: int, total: int) -> None:
        if is_terminal(output.stderr) and not output.quiet:
            output.show_question(f"\r{done}/{total} entries", end="\n" if done >= total else "")

    count = Archived(config, output).do(lambda archive, who: archive.reindex(progress))
    return output.result({"embedded": count}, f"{count} entries got vectors; the word index is new")


def _entry(row: dict[str, Any], who: Principal) -> Entry:
    from memory.archive import Entry

    entry = Entry(key=str(row["key"]), content=row["content"], owner=who.agent)
    try:
        return replace(
            entry,
            category=str(row.get("category", entry.category)),
            tags=tuple(row.get("tags", ())),
            metadata=dict(row.get("metadata") or {}),
            owner=str(row.get("owner") or who.agent),
            session=str(row.get("session", "")),
            created=_moment(row.get("created")),
            updated=_moment(row.get("updated")),
        )
    except (TypeError, ValueError) as error:
        raise UsageProblem(f"The entry {entry.key!r} cannot be imported: {error}; nothing was imported") from error


def _moment(text: Any) -> datetime:
    found = datetime.now(UTC) if text is None else datetime.fromisoformat(str(text))
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
