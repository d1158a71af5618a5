"""`Upkeep`: what is done with an archive as a whole: listing, export and import, statistics, reindexing, sweeping."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from memory.archive import index, keeping
from memory.archive.access import Principal, View
from memory.archive.backend import Backend, Stored
from memory.archive.entry import (
    Entry,
    check_text,
    clean_category,
    clean_content,
    clean_key,
    clean_metadata,
    clean_tags,
)
from memory.archive.meaning import Embeddings
from memory.archive.text import analyse
from memory.archive.workers import in_thread

__all__ = ["Upkeep"]

PAGE = 500
IMPORTED_AT_ONCE = 2_000


class Upkeep(ABC):
    def __init__(self, backend: Backend, embeddings: Embeddings) -> None:
        self.backend, self._embeddings = backend, embeddings

    @abstractmethod
    def view(self, who: Principal) -> View:
        """Return what `who` may read and forget now."""

    async def entries(
        self, who: Principal | None = None, *, category: str | None = None, every_session: bool = False
    ) -> AsyncIterator[Entry]:
        """Give all entries that `who` may see (None: everything there is), oldest write first.

        `every_session`: those of their other conversations, too.
        Like `stats`, `reindex` and `sweep` it does what it can; if some of the store could not be read, it raises
        `ArchiveUnavailable` at the end, with what was done as `done`.
        """
        view = View() if who is None else self.view(who)
        view = replace(view, session=None) if every_session else view
        wanted = None if category is None else clean_category(category)
        after = 0

        def page() -> tuple[list[Stored], Sequence[str]]:
            with self.backend.reading() as reader:
                return reader.page(view, after, PAGE), reader.troubles()

        while (found := await in_thread(page))[0]:
            after = found[0][-1].id
            for stored in found[0]:
                if wanted in (None, stored.entry.category):
                    yield stored.entry
        keeping.complain(found[1])

    async def put_all(self, entries: Iterable[Entry]) -> tuple[int, int]:
        """Keep entries as they are, owner, session and times included; returns how many were created and updated.

        For an import: nobody's rights are looked at, and vectors are made up later. Every entry is checked before the
        first is kept; each two thousand are kept together or not at all.
        """
        created = updated = 0
        rows = [checked(entry) for entry in entries]

        def put(some: Sequence[Entry]) -> int:
            analysed = [(entry, analyse(entry)) for entry in some]
            with self.backend.writing() as writer:
                replaced = sum(keeping.restore(writer, entry, terms) for entry, terms in analysed)
                # Folding many at once costs each of them less; the last few are folded after the last batch.
                index.fold(writer, index.BULK if some else index.FOLD_AT)
            return replaced

        for start in range(0, len(rows), IMPORTED_AT_ONCE):
            some = rows[start : start + IMPORTED_AT_ONCE]
            replaced = await in_thread(partial(put, some))
            created, updated = created + len(some) - replaced, updated + replaced
        if rows:
            await in_thread(partial(put, []))
        return created, updated

    async def stats(self, who: Principal | None = None) -> dict[str, Any]:
        """Return counts: entries, by category and by owner, and how many have vectors of the present model."""
        view = View() if who is None else self.view(who)

        def count() -> tuple[Mapping[tuple[str, str], int], int, Sequence[str]]:
            with self.backend.reading() as reader:
                embedded = reader.embedded(view, self._embeddings.model) if self._embeddings.model else 0
                return reader.counts(view), embedded, reader.troubles()

        counts, embedded, troubles = await in_thread(count)
        categories: dict[str, int] = {}
        owners: dict[str, int] = {}
        for (owner, category), number in sorted(counts.items()):
            categories[category] = categories.get(category, 0) + number
            owners[owner] = owners.get(owner, 0) + number
        figures = {
            "backend": self.backend.name,
            "place": self.backend.place,
            "entries": sum(counts.values()),
            "categories": categories,
            "owners": owners,
            "model": self._embeddings.model,
            "embedded": embedded,
        }
        keeping.complain(troubles, figures)
        return figures

    async def reindex(self, progress: Callable[[int, int], None] = lambda done, total: None) -> int:
        """Turn all terms into blocks anew and make all missing vectors; `progress(done, total)` counts the latter.

        Returns how many entries got vectors. Raises `EmbeddingUnavailable`; what was done till then stays.
        """

        def rebuild() -> tuple[int, Sequence[str]]:
            with self.backend.writing() as writer:
                writer.clear()
                index.fold_all(writer)
                missing = sum(writer.counts(View()).values())
                missing -= writer.embedded(View(), self._embeddings.model) if self._embeddings.model else missing
                return missing, writer.troubles()

        total, troubles = await in_thread(rebuild)
        count = await self._embeddings.renew(View(), lambda done: progress(done, total))
        keeping.complain(troubles, count)
        return count

    async def sweep(self) -> int:
        """Remove all that has expired; returns how many entries that were."""
        view = self.view(Principal(""))

        def sweep() -> tuple[int, Sequence[str]]:
            with self.backend.writing() as writer:
                removed = 0
                while some := keeping.sweep(writer, view, PAGE):
                    removed += some
                index.fold(writer)
                return removed, writer.troubles()

        removed, troubles = await in_thread(sweep)
        keeping.complain(troubles, removed)
        return removed


def checked(entry: Entry) -> Entry:
    check_text("owner", entry.owner)
    check_text("session", entry.session)
    return replace(
        entry,
        key=clean_key(entry.key),
        content=clean_content(entry.content),
        category=clean_category(entry.category),
        tags=clean_tags(entry.tags),
        metadata=clean_metadata(entry.metadata),
    )
