"""`RestingEmbedder`: an embedder that a failed provider is asked again only after a rest."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from memory.archive.embedder import Embedder, EmbeddingUnavailable

__all__ = ["REST_S", "RestingEmbedder"]

REST_S = 30.0
HANGING_S = 1.5  # a call given up by its caller after so long counts as failed: recall waits 2 s


class RestingEmbedder:
    """Passes texts on, but answers for a provider that failed: at once, with its last reason, for `rest_s`.

    So a provider that hangs costs its timeout once, not at every turn.
    """

    def __init__(
        self, embedder: Embedder, *, rest_s: float = REST_S, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._embedder, self._rest_s, self._monotonic = embedder, rest_s, monotonic
        self._reason, self._until = "", 0.0

    @property
    def identity(self) -> str:
        return self._embedder.identity

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    async def embed(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
        if self._reason and self._monotonic() < self._until:
            raise EmbeddingUnavailable(self._reason)
        began = self._monotonic()
        try:
            vectors = await self._embedder.embed(texts, query=query)
        except EmbeddingUnavailable as error:
            self._rest(str(error))
            raise
        except asyncio.CancelledError:
            if self._monotonic() - began >= HANGING_S:
                self._rest(f"the embedding provider {self.identity} did not answer in time")
            raise
        self._reason = ""
        return vectors

    def _rest(self, reason: str) -> None:
        self._reason, self._until = reason, self._monotonic() + self._rest_s
