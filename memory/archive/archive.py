"""`Archive`: the rules of the keyed memory, over any backend."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args

from memory.archive import keeping
from memory.archive.access import AccessPolicy, Principal, Retention, View
from memory.archive.backend import Backend
from memory.archive.embedder import Embedder, EmbeddingUnavailable
from memory.archive.entry import (
    CORE,
    ArchiveRefusal,
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
from memory.archive.hints import ends, without_names
from memory.archive.meaning import LACKING_LIMIT, TIMEOUT_S, Embeddings, Meaning, not_by_meaning
from memory.archive.rank import Weights
from memory.archive.search import Asked, Searcher, SearchType
from memory.archive.text import analyse, query_words
from memory.archive.upkeep import Upkeep
from memory.archive.workers import in_thread

__all__ = ["Archive", "Found", "Kept", "utc_now"]

LIMIT = 100
UNASKED_TIMEOUT_S = 1.5


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Kept:
    """What a store did. `warning`: the entry is kept, but not found by meaning yet."""

    status: Literal["created", "updated"]
    entry: Entry = field(repr=False)
    before: Entry | None = field(default=None, repr=False)
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found. `warning`: what could not be searched (some files, or by meaning), in a sentence."""

    # Not in the repr: asyncio's Runner makes one of each result, for an error text of its own (CPython 3.11).
    hits: list[Hit] = field(repr=False)
    warning: str = ""


class Archive(Upkeep):
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
        self.clock = clock
        self.access, self.retention = access or AccessPolicy(), retention or Retention()
        super().__init__(backend, Embeddings(backend, embedder))
        self._searched: set[str | None] = set()
        # by owner, or None for all: what they had could be searched
        self._searcher = Searcher(Weights(keyword_weight, vector_weight))

    @property
    def folders(self) -> Sequence[Path]:
        """The folders that hold its files: no sub-agent may read or write there."""
        return self.backend.folders

    @property
    def embeds(self) -> bool:
        """Tell whether meaning is searched, where the embedder works."""
        return bool(self._embeddings.model)

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
        """Keep an entry in place of all that the key means for `who`; owner and `created` of the first of them stay."""
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
            terms = analyse(entry)  # before the lock: others may write meanwhile
            with self.backend.writing() as writer:
                return keeping.put(writer, entry, terms, view, self._embeddings.model)

        change = await in_thread(put)
        warning = "" if change.embedded else await self._embeddings.embed([change.stored])
        return Kept("updated" if change.before else "created", change.stored.entry, change.before, warning)

    async def get(self, who: Principal, key: str) -> Entry:
        """Return the entry that the key means for `who`. Raises `EntryMissing` if it is not there, or not theirs."""
        return (await self._meant(self.view(who), clean_key(key), who.agent))[0]

    async def lost_by(self, who: Principal, key: str, *, storing: bool) -> list[Entry]:
        """Return the entries that a store under this key would replace, or that a forget would remove."""
        try:
            return await self._meant(self._writing_view(who) if storing else self.view(who), clean_key(key), who.agent)
        except EntryMissing:
            return []

    async def forget(self, who: Principal, key: str) -> Entry:
        """Remove all that the key means for `who`, and return the first. Raises `EntryMissing` as `get` does."""
        key, view = clean_key(key), self.view(who)

        def forget() -> Entry:
            with self.backend.writing() as writer:
                return keeping.forget(writer, key, view, who.agent, not self.access.enabled)

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
        unasked: bool = False,
    ) -> Found:
        """Return what answers the query best, best first, at most `limit` (and 100) entries.

        `unasked`: nobody asked for it, so only what is surely meant, and in less than two seconds.
        """
        check_text("query", query)
        query = ends(query)
        if search_type not in get_args(SearchType):
            raise ArchiveRefusal(f"search_type {search_type!r} is unknown: use text, vector or hybrid")
        if limit < 1:
            raise ArchiveRefusal(f"limit is {limit}: ask for 1 to {LIMIT} entries")
        chosen = Filter(None if category is None else clean_category(category), clean_tags(tags))
        if not query_words(query) and (search_type != "vector" or self.embeds):
            return Found([])
        if search_type != "vector" and (empty := await self._emptiness(self.view(who))):
            return empty
        timeout_s = UNASKED_TIMEOUT_S if unasked else TIMEOUT_S
        meaning, warning = await self._meaning(query, who, search_type, timeout_s)
        asked = Asked(query, self.view(who), chosen, min(limit, LIMIT), search_type != "vector", meaning, sure=unasked)

        def find(counted: int = 1) -> tuple[list[Hit], Sequence[str], int]:
            with self.backend.reading() as reader:
                lacking = len(reader.unembedded(asked.view, meaning.model, counted)) if meaning else 0
                return self._searcher.find(reader, asked), reader.troubles(), lacking

        hits, troubles, lacking = await in_thread(find)
        if lacking and unasked:
            self._embeddings.repair_later(asked.view)
        elif lacking:
            reason = await self._embeddings.repair(asked.view)
            hits, troubles, lacking = await in_thread(lambda: find(LACKING_LIMIT))
            warning = not_by_meaning(lacking, reason)
        return Found(hits, "; ".join([warning, *troubles] if warning else troubles))

    async def _emptiness(self, view: View) -> Found | None:
        """Return what a search finds where there is nothing: before anything heavy is loaded, which takes seconds."""

        def look() -> Found | None:
            with self.backend.reading() as reader:
                if not self._searcher.has_any(reader, view):
                    return Found([], "; ".join(reader.troubles()))
                self._searched.add(view.owner)
                return None

        return None if view.owner in self._searched else await in_thread(look)

    async def _meaning(
        self, query: str, who: Principal, search_type: SearchType, timeout_s: float
    ) -> tuple[Meaning | None, str]:
        """Return the query as a vector, or a warning why it is none."""
        if search_type == "text":
            return None, ""

        def names() -> list[str]:
            with self.backend.reading() as reader:
                return sorted(self._searcher.names(reader, self.view(who), query))

        try:
            if self._embeddings.model and query != query.lower():  # only capitalised names are left out
                query = without_names(query, await in_thread(names))
            return await self._embeddings.meaning(query, timeout_s), ""
        except EmbeddingUnavailable as error:
            if search_type == "vector":
                raise ArchiveRefusal(f"vector search is not possible: {error}; use search_type text") from error
            return None, f"searched by words only: {error}"

    async def close(self) -> None:
        await self._embeddings.close()
        await in_thread(self.backend.close)

    def view(self, who: Principal) -> View:
        """Return what `who` may read and forget now."""
        return self.access.view(who, self.retention, self.clock())

    def _writing_view(self, who: Principal) -> View:
        # An administrator sees all, and still writes only what is his own.
        view = self.view(who)
        return replace(view, owner=who.agent) if self.access.enabled else view

    async def _meant(self, view: View, key: str, owner: str) -> list[Entry]:
        def find() -> list[Entry]:
            with self.backend.reading() as reader:
                return [each.entry for each in keeping.find(reader, key, view, owner, not self.access.enabled)]

        return await in_thread(find)
