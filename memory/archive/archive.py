"""`Archive`: the rules of the keyed memory, over any backend."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, Literal, get_args

from memory.archive import index, keeping
from memory.archive.access import AccessPolicy, Principal, Retention, View
from memory.archive.backend import Backend, Stored
from memory.archive.embedder import Embedder, EmbeddingUnavailable, in_thread
from memory.archive.entry import (
    CORE,
    ArchiveRefusal,
    ArchiveUnavailable,
    Entry,
    EntryMissing,
    Filter,
    Hit,
    check_text,
    clean_category,
    clean_content,
    clean_key,
    clean_metadata,
    clean_tags,
)
from memory.archive.hints import without_names
from memory.archive.meaning import Embeddings, Meaning
from memory.archive.rank import Weights
from memory.archive.search import Asked, Searcher, SearchType
from memory.archive.text import query_words

__all__ = ["Archive", "Found", "Kept", "utc_now"]

LIMIT = 100
PAGE = 500
IMPORTED_AT_ONCE = 2_000


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Kept:
    """What a store did. `warning`: the entry is kept, but not found by meaning yet."""

    status: Literal["created", "updated"]
    entry: Entry
    before: Entry | None = None
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found. `warning`: meaning could not be searched, the hits are by words."""

    hits: list[Hit]
    warning: str = ""


class Archive:
    """Decides who sees what, which entry a key means, how long it lives; the backend only keeps.

    Everything raises `ArchiveRefusal` (a ValueError) for what cannot be done as asked, and `ArchiveUnavailable` (an
    OSError) when the store cannot be used.
    """

    def __init__(
        self,
        backend: Backend,
        *,
        embedder: Embedder | None = None,
        access: AccessPolicy | None = None,
        retention: Retention | None = None,
        clock: Callable[[], datetime] = utc_now,
        keyword_weight: float = 0.3,
        vector_weight: float = 0.7,
    ) -> None:
        self.backend, self.clock = backend, clock
        self.access, self.retention = access or AccessPolicy(), retention or Retention()
        self._embeddings = Embeddings(backend, embedder)
        self._searcher = Searcher(Weights(keyword_weight, vector_weight))

    @property
    def folders(self) -> Sequence[Path]:
        """The folders that hold its files: no sub-agent may read or write there."""
        return self.backend.folders

    async def store(
        self,
        who: Principal,
        key: str,
        content: str,
        *,
        category: str = CORE,
        tags: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
    ) -> Kept:
        """Keep an entry; one that `who` sees under this key is replaced, and its `created` and owner stay."""
        now = self.clock()
        entry = Entry(
            key=clean_key(key),
            content=clean_content(content),
            category=clean_category(category),
            tags=clean_tags(tags),
            metadata=clean_metadata(metadata or {}),
            owner=who.agent,
            session=who.session,
            created=now,
            updated=now,
        )
        view = self._writing_view(who)

        def put() -> keeping.Change:
            with self.backend.writing() as writer:
                return keeping.put(writer, entry, view, self._embeddings.model)

        change = await in_thread(put)
        warning = "" if change.embedded else await self._embeddings.embed([change.stored])
        return Kept("updated" if change.before else "created", change.stored.entry, change.before, warning)

    async def get(self, who: Principal, key: str) -> Entry:
        """Return the entry that the key means for `who`. Raises `EntryMissing` if it is not there, or not theirs."""
        return await self._meant(self.view(who), clean_key(key), who.agent)

    async def replaced_by(self, who: Principal, key: str) -> Entry | None:
        """Return the entry that a store under this key would replace."""
        try:
            return await self._meant(self._writing_view(who), clean_key(key), who.agent)
        except EntryMissing:
            return None

    async def forget(self, who: Principal, key: str) -> Entry:
        """Remove and return the entry that the key means for `who`. Raises `EntryMissing` as `get` does."""
        key, view = clean_key(key), self.view(who)

        def forget() -> Entry:
            with self.backend.writing() as writer:
                entry = keeping.forget(writer, key, view, who.agent)
                if entry is None:
                    raise missing(key, writer.troubles())
                return entry

        return await in_thread(forget)

    async def search(
        self,
        who: Principal,
        query: str,
        *,
        category: str | None = None,
        tags: Sequence[str] = (),
        limit: int = 10,
        search_type: SearchType = "hybrid",
    ) -> Found:
        """Return what answers the query best, best first, at most `limit` (and 100) entries."""
        check_text("query", query)
        if search_type not in get_args(SearchType):
            raise ArchiveRefusal(f"search_type {search_type!r} is unknown: use text, vector or hybrid")
        if limit < 1:
            raise ArchiveRefusal(f"limit is {limit}: ask for 1 to {LIMIT} entries")
        chosen = Filter(None if category is None else clean_category(category), clean_tags(tags))
        if not query_words(query):
            return Found([])
        view = self.view(who)
        meaning, warning = await self._meaning(query, view, search_type)

        asked = Asked(query, view, chosen, min(limit, LIMIT), words=search_type != "vector", meaning=meaning)

        def find() -> tuple[list[Hit], Sequence[str]]:
            with self.backend.reading() as reader:
                return self._searcher.find(reader, asked), reader.troubles()

        hits, troubles = await in_thread(find)
        return Found(hits, "; ".join([warning, *troubles] if warning else troubles))

    async def _meaning(self, query: str, view: View, search_type: SearchType) -> tuple[Meaning | None, str]:
        if search_type == "text":
            return None, ""

        def names() -> list[str]:
            with self.backend.reading() as reader:
                return sorted(self._searcher.names(reader, view, query))

        try:
            # Only names that begin with a capital are left out.
            nameless = without_names(query, await in_thread(names)) if query != query.lower() else query
            return await self._embeddings.meaning(nameless, view), ""
        except EmbeddingUnavailable as error:
            if search_type == "vector":
                raise ArchiveRefusal(f"vector search is not possible: {error}; use search_type text") from error
            return None, f"searched by words only: {error}"

    async def entries(self, who: Principal | None = None, *, category: str | None = None) -> AsyncIterator[Entry]:
        """Give all entries that `who` may see (None: everything there is), oldest write first."""
        view = View() if who is None else self.view(who)
        wanted = None if category is None else clean_category(category)
        after = 0

        def page() -> list[Stored]:
            with self.backend.reading() as reader:
                return reader.page(view, after, PAGE)

        while some := await in_thread(page):
            after = some[-1].id
            for stored in some:
                if wanted in (None, stored.entry.category):
                    yield stored.entry

    async def put_all(self, entries: Iterable[Entry]) -> tuple[int, int]:
        """Keep entries as they are, owner, session and times included; returns how many were created and updated.

        For an import: nobody's rights are looked at, and vectors are made up later. All of an entry's fields are
        checked; each two thousand entries are kept together or not at all.
        """
        created = updated = 0
        rest = iter(entries)
        while some := [checked(entry) for entry in islice(rest, IMPORTED_AT_ONCE)]:

            def put(some: Sequence[Entry] = some) -> int:
                with self.backend.writing() as writer:
                    replaced = sum(keeping.restore(writer, entry) for entry in some)
                    index.fold(writer)
                return replaced

            replaced = await in_thread(put)
            created, updated = created + len(some) - replaced, updated + replaced
        return created, updated

    async def stats(self, who: Principal | None = None) -> dict[str, Any]:
        """Return counts: entries, by category and by owner, and how many have vectors of the present model."""
        view = View() if who is None else self.view(who)

        def count() -> tuple[Mapping[tuple[str, str], int], int]:
            with self.backend.reading() as reader:
                return reader.counts(view), reader.embedded(self._embeddings.model) if self._embeddings.model else 0

        counts, embedded = await in_thread(count)
        categories: dict[str, int] = {}
        owners: dict[str, int] = {}
        for (owner, category), number in sorted(counts.items()):
            categories[category] = categories.get(category, 0) + number
            owners[owner] = owners.get(owner, 0) + number
        return {
            "backend": self.backend.name,
            "place": self.backend.place,
            "entries": sum(counts.values()),
            "categories": categories,
            "owners": owners,
            "model": self._embeddings.model,
            "embedded": embedded,
        }

    async def reindex(self, progress: Callable[[int, int], None] = lambda done, total: None) -> int:
        """Turn all terms into blocks anew and make all missing vectors; `progress(done, total)` counts the latter.

        Returns how many entries got vectors. Raises `EmbeddingUnavailable`; what was done till then stays.
        """

        def rebuild() -> int:
            with self.backend.writing() as writer:
                writer.clear()
                index.fold_all(writer)
                missing = sum(writer.counts(View()).values())
                return missing - (writer.embedded(self._embeddings.model) if self._embeddings.model else missing)

        total = await in_thread(rebuild)
        return await self._embeddings.renew(View(), lambda done: progress(done, total))

    async def sweep(self) -> int:
        """Remove all that has expired; returns how many entries that were."""
        view = self.view(Principal(""))

        def sweep() -> int:
            with self.backend.writing() as writer:
                removed = 0
                while some := keeping.sweep(writer, view, PAGE):
                    removed += some
                index.fold(writer)
            return removed

        return await in_thread(sweep)

    async def close(self) -> None:
        await in_thread(self.backend.close)

    def view(self, who: Principal) -> View:
        """Return what `who` may read and forget now."""
        return self.access.view(who, self.retention, self.clock())

    def _writing_view(self, who: Principal) -> View:
        # An administrator sees all, and still writes only what is his own.
        view = self.view(who)
        return replace(view, owner=who.agent) if self.access.enabled else view

    async def _meant(self, view: View, key: str, owner: str) -> Entry:
        def find() -> Entry:
            with self.backend.reading() as reader:
                meant = keeping.first_meant(reader.find(view, key), owner)
                if meant is None:
                    raise missing(key, reader.troubles())
                return meant.entry

        return await in_thread(find)


def missing(key: str, troubles: Sequence[str]) -> Exception:
    """Return what to raise for a key that is not found; it may stand in what cannot be read."""
    if troubles:
        return ArchiveUnavailable("; ".join(troubles))
    return EntryMissing(f"there is no entry {key!r}: search for it, or check the key")


def checked(entry: Entry) -> Entry:
    return replace(
        entry,
        key=clean_key(entry.key),
        content=clean_content(entry.content),
        category=clean_category(entry.category),
        tags=clean_tags(entry.tags),
        metadata=clean_metadata(entry.metadata),
    )
