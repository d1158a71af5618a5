"""`Embeddings`: vectors of entries and queries: a cache that never blocks a write, and is made up later."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from memory.archive.access import View
from memory.archive.backend import Backend, Matrix, Stored
from memory.archive.embedder import Embedder, EmbeddingUnavailable
from memory.archive.entry import ArchiveUnavailable
from memory.archive.hints import ends
from memory.archive.passages import passages, unit_rows
from memory.archive.workers import in_thread

__all__ = ["LACKING_LIMIT", "TIMEOUT_S", "Embeddings", "Meaning", "not_by_meaning"]

# Raise it when entries are cut or written out for embedding in another way.
PASSAGE_VERSION = 1
TIMEOUT_S = 10.0
REST_S = 60.0
# The local model takes a second for 2,000.
EMBEDDED_CHARS = 600
REPAIR_S = 0.5
BATCH_PASSAGES = 16
RENEW_PASSAGES = 64
# So many entries without vectors are counted.
LACKING_LIMIT = 1_000

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Meaning:
    """A query as a vector of a model."""

    model: str
    vector: Matrix = field(repr=False)


class Embeddings:
    def __init__(self, backend: Backend, embedder: Embedder | None) -> None:
        self._backend, self._embedder = backend, embedder
        self._resting_until = 0.0
        self._repairs: set[asyncio.Task[str]] = set()

    @property
    def model(self) -> str:
        """The name under which vectors are kept; "" without an embedder."""
        if self._embedder is None:
            return ""
        identity, size = self._embedder.identity, str(self._embedder.dimensions)
        return f"{identity if size in identity else f'{identity}/{size}'} passages/{PASSAGE_VERSION}"

    async def embed(self, entries: Sequence[Stored]) -> str:
        """Make and keep the vectors of entries. Returns a warning if that failed, and "" if all is well."""
        if self._embedder is None:
            return ""
        try:
            await self._embed(entries, TIMEOUT_S)
        except EmbeddingUnavailable as error:
            return f"kept, but not searchable by meaning yet: {error}"
        except ArchiveUnavailable as error:
            return f"kept, but its vectors could not be: {error}"
        return ""

    async def meaning(self, query: str, timeout_s: float = TIMEOUT_S) -> Meaning:
        """Return the query as a vector. Raises `EmbeddingUnavailable`."""
        rows = await self._vectors([ends(query, EMBEDDED_CHARS)], query=True, timeout_s=timeout_s)
        return Meaning(self.model, rows[0])

    async def renew(self, view: View, progress: Callable[[int], None]) -> int:
        """Make all vectors that are missing, and report how many entries are done. Raises `EmbeddingUnavailable`."""
        done = 0
        while self._embedder and (some := await self._missing(view, RENEW_PASSAGES)):
            await self._embed(some, None)
            done += len(some)
            progress(done)
            await self._check_kept(some, view)
        return done

    async def repair(self, view: View) -> str:
        """Make missing vectors, as far as half a second goes, so that no query waits long; returns what went wrong."""
        end = time.monotonic() + REPAIR_S
        try:
            while time.monotonic() < end and (some := await self._missing(view, BATCH_PASSAGES)):
                await self._embed(some, TIMEOUT_S)
                await self._check_kept(some, view)
        except (EmbeddingUnavailable, ArchiveUnavailable) as error:
            return str(error)  # the query itself has its vector, and goes on
        return ""

    def repair_later(self, view: View) -> None:
        """Make missing vectors beside whatever else is done, until `close`."""
        if not self._repairs:
            task = asyncio.create_task(self.repair(view))
            self._repairs.add(task)
            task.add_done_callback(self._repairs.discard)

    async def close(self) -> None:
        tasks = list(self._repairs)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _missing(self, view: View, most: int) -> list[Stored]:
        """Return some entries that lack vectors, with about `most` passages in all."""

        def look() -> list[Stored]:
            with self._backend.reading() as reader:
                return reader.unembedded(view, self.model, most)

        chosen, count = [], 0
        for stored in await in_thread(look):
            chosen.append(stored)
            count += len(passages(stored.entry))
            if count >= most:
                break
        return chosen

    async def _check_kept(self, entries: Sequence[Stored], view: View) -> None:
        """Raise `ArchiveUnavailable` if they still lack vectors: else they would be made for ever."""
        lacking = {stored.id for stored in await self._missing(view, RENEW_PASSAGES)}
        if lacking >= {stored.id for stored in entries}:
            raise ArchiveUnavailable(f"{self._backend.place!r} does not keep vectors")

    async def _embed(self, entries: Sequence[Stored], timeout_s: float | None) -> None:
        cut = [passages(stored.entry) for stored in entries]
        rows = await self._vectors([text for texts in cut for text in texts], query=False, timeout_s=timeout_s)
        owned, start = {}, 0
        for stored, texts in zip(entries, cut, strict=True):
            owned[stored.id] = rows[start : start + len(texts)]
            start += len(texts)

        def keep() -> None:
            with self._backend.writing() as writer:
                writer.put_vectors(self.model, owned)

        await in_thread(keep)

    async def _vectors(self, texts: Sequence[str], *, query: bool, timeout_s: float | None) -> Matrix:
        embedder = self._embedder
        if embedder is None or not texts:
            raise EmbeddingUnavailable("no embeddings are configured")
        if time.monotonic() < self._resting_until:
            raise EmbeddingUnavailable("the embedding provider did not answer in time a moment ago")
        try:
            async with asyncio.timeout(timeout_s) as limit:
                vectors = await embedder.embed(texts, query=query)
        except EmbeddingUnavailable:
            raise
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            raise EmbeddingUnavailable("the embedding provider broke off") from error
        except Exception as error:  # a stranger's embedder must not cost an entry or a turn
            if limit.expired():
                self._resting_until = time.monotonic() + REST_S
                raise EmbeddingUnavailable(
                    f"the embedding provider did not answer within {timeout_s:g} s; it is left alone for {REST_S:g} s"
                ) from error
            log.warning("the embedder failed", exc_info=True)
            raise EmbeddingUnavailable(f"the embedding provider failed: {error}".rstrip(": ")) from error
        return unit_rows(vectors, len(texts), embedder.dimensions)


def not_by_meaning(entries: int, reason: str) -> str:
    """Return a warning for entries that lack vectors, "" if none does."""
    count = f"{entries} or more" if entries == LACKING_LIMIT else str(entries)
    return f"entries not searchable by meaning yet: {count}{reason and f' ({reason})'}" if entries else ""
