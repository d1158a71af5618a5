"""`Archived`: the archive as the command line opens it, and `my-agent memory store|forget|reindex`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from agent.app.archive_setup import build_archive
from agent.app.config import Config
from agent.app.exits import Exit, UsageProblem
from agent.app.failing import sentence
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
        self.code: int = Exit.DONE
        # What a command ends with that showed what could be read

    def do(self, work: Callable[[Archive, Principal], Awaitable[T]]) -> T:
        from memory.archive import Principal

        async def play() -> T:
            archive = build_archive(self._config)
            try:
                return await work(archive, Principal(self._config.settings.agent.name))
            finally:
                await archive.close()

        return asyncio.run(play())

    def do_what_can_be_done(self, work: Callable[[Archive, Principal], Awaitable[T]]) -> T:
        """Do it; where only a part can be read, tell that, and return what was done."""
        from memory.archive import ArchiveUnavailable

        try:
            return self.do(work)
        except ArchiveUnavailable as error:
            if error.done is None:
                raise
            self._output.problem(f"my-agent: {sentence(error)}")
            self.code = Exit.BUSY
            done: T = error.done
            return done

    def rows(self) -> list[dict[str, Any]]:
        """Return all entries of all sessions, with all their fields; under access control those of this agent."""

        async def work(archive: Archive, who: Principal) -> list[Entry]:
            return await _all(archive.entries(who if archive.access.enabled else None, every_session=True))

        return [{**entry.as_json(), "session": entry.session} for entry in self.do_what_can_be_done(work)]

    def entries(self, category: str | None) -> list[dict[str, Any]]:
        found = self.do_what_can_be_done(lambda archive, who: _all(archive.entries(who, category=category)))
        return [entry.as_json() for entry in found]

    def get(self, key: str) -> dict[str, Any]:
        return self.do(lambda archive, who: archive.get(who, key)).as_json()

    def search(self, query: str, limit: int, category: str | None) -> list[dict[str, Any]]:
        found = self.do(lambda archive, who: archive.search(who, query, limit=limit, category=category))
        if found.warning:
            self._output.notice(found.warning)
        return [{**hit.entry.as_json(), "score": hit.score} for hit in found.hits]

    def stats(self) -> dict[str, Any]:
        return {"archive": self.do_what_can_be_done(lambda archive, who: archive.stats(who))}

    def plan(self, rows: Sequence[dict[str, Any]]) -> Callable[[], dict[str, Any]]:
        """Check exported entries; return what keeps them as they were, owner and times included.

        The archive itself checks lengths and categories of all of them, before it keeps the first.
        """
        from memory.archive import ArchiveRefusal

        entries = [(row["line"], _entry(row, self._config.settings.agent.name)) for row in rows]

        async def check(archive: Archive, who: Principal) -> None:
            if archive.access.enabled and who.agent not in archive.access.admins:
                for line, entry in entries:
                    if entry.owner != who.agent:
                        whose = f"{entry.key!r} belongs to {entry.owner!r}; access control keeps it from you"
                        raise UsageProblem(f"Line {line}: {whose}; nothing was imported")

        async def put(archive: Archive, who: Principal) -> tuple[int, int]:
            line = 0

            def in_order() -> Iterator[Entry]:
                nonlocal line
                for number, entry in entries:
                    line = number
                    yield entry

            try:
                return await archive.put_all(in_order())
            except ArchiveRefusal as error:
                raise ArchiveRefusal(f"Line {line}: {error}") from error

        def write() -> dict[str, Any]:
            created, updated = self.do(put)
            return {"archive": {"created": created, "updated": updated}}

        self.do(check)
        return write


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

    archived = Archived(config, output)
    count = archived.do_what_can_be_done(lambda archive, who: archive.reindex(progress))
    output.result({"embedded": count}, f"{count} entries got vectors; the word index is new")
    return archived.code


async def _all(entries: AsyncIterator[Entry]) -> list[Entry]:
    """Return the entries. Raises `ArchiveUnavailable` with those that could be read, if any, as `done`."""
    from memory.archive import ArchiveUnavailable

    found: list[Entry] = []
    try:
        async for entry in entries:
            found.append(entry)  # noqa: PERF401 - what is found before an error counts
    except ArchiveUnavailable as error:
        error.done = found or None
        raise
    return found


def _entry(row: dict[str, Any], agent: str) -> Entry:
    from memory.archive import Entry

    fields: dict[str, Any] = {
        name: row[name] for name in ("key", "content", "category", "metadata", "session") if name in row
    }
    for name in ("created", "updated"):
        try:
            fields[name] = _moment(row.get(name))
        except (ValueError, OverflowError) as error:
            said = f"{name} = {row[name]!r} is no time; write 2026-03-01T09:00:00Z"
            raise UsageProblem(f"Line {row['line']}: {said}; nothing was imported") from error
    return Entry(**fields, tags=tuple(row.get("tags", ())), owner=row.get("owner") or agent)


def _moment(text: str | None) -> datetime:
    found = datetime.now(UTC) if text is None else datetime.fromisoformat(text)
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
