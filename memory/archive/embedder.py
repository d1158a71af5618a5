"""`Embedder`: what turns texts into vectors, and what every one of ours has in common.

RuntimeError
└── EmbeddingUnavailable   the provider is away, refuses, or answers something that is no vector of the promised size
"""

from __future__ import annotations

import asyncio
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from memory.archive.workers import in_thread

__all__ = ["BATCH_TEXTS", "BlockingEmbedder", "Embedder", "EmbeddingUnavailable", "check_vectors"]

BATCH_TEXTS = 100
BATCH_CHARS = 200_000  # hosted providers count at most 300,000 tokens a request


class EmbeddingUnavailable(RuntimeError):
    """No vectors can be had; the text says why and what to do."""


class Embedder(Protocol):
    """Turns texts into vectors of one size. `identity` names the model: vectors of another identity are stale."""

    @property
    def identity(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    async def embed(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
        """Return one vector a text, in the order of `texts`; `query` tells a question from what is stored.

        Raises `EmbeddingUnavailable`; then nothing of this call is kept.
        """
        ...


class BlockingEmbedder(ABC):
    """Asks a provider for batch after batch in a thread; a subclass says how one batch is asked for."""

    def __init__(
        self,
        provider: str,
        model: str,
        dimensions: int,
        *,
        where: str,
        max_chars: int,
        timeout_s: float | None,
        batch_texts: int = BATCH_TEXTS,
    ) -> None:
        self.provider, self.model, self._dimensions = provider, model, dimensions
        self._where = where
        # How messages name the provider: never with a key in it.
        self._max_chars, self._timeout_s, self._batch_texts = max_chars, timeout_s, batch_texts

    @property
    def identity(self) -> str:
        return f"{self.provider}/{self.model}/{self.dimensions}"

    @property
    def dimensions(self) -> int:
        return self._dimensions

    async def embed(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
        vectors: list[list[float]] = []
        for batch in _batches([_clean(text, self._max_chars) for text in texts], self._batch_texts):
            vectors += check_vectors(await self._within_limit(batch, query), len(batch), self.dimensions, self._where)
        return vectors

    async def _within_limit(self, batch: list[str], query: bool) -> list[Any]:
        try:
            async with asyncio.timeout(self._timeout_s):
                return await in_thread(lambda: self._ask(batch, query))
        except TimeoutError as error:
            sentence = f"{self._where} did not answer within {self._timeout_s:g} s"
            raise EmbeddingUnavailable(sentence) from error

    @abstractmethod
    def _ask(self, batch: list[str], query: bool) -> list[Any]:
        """Return what the provider gave for `batch`, unchecked. Raises EmbeddingUnavailable, TimeoutError."""


def check_vectors(vectors: Any, count: int, dimensions: int, where: str) -> list[list[float]]:
    """Return `vectors` as lists of floats if they are `count` vectors of `dimensions` finite numbers.

    Raises `EmbeddingUnavailable`, which names `where`, for anything else.
    """
    if not isinstance(vectors, Sequence) or isinstance(vectors, str):
        raise EmbeddingUnavailable(f"{where} answered no list of vectors")
    if len(vectors) != count:
        raise EmbeddingUnavailable(f"{where} answered {len(vectors)} vectors for {count} texts")
    return [_check_vector(vector, dimensions, where) for vector in vectors]


def _check_vector(vector: Any, dimensions: int, where: str) -> list[float]:
    try:
        numbers = [float(number) for number in vector]
    except (TypeError, ValueError, OverflowError) as error:
        raise EmbeddingUnavailable(f"{where} answered a vector that is no list of numbers") from error
    if len(numbers) != dimensions:
        sentence = f"{where} answers vectors of {len(numbers)} numbers, not {dimensions}: correct `dimensions`"
        raise EmbeddingUnavailable(sentence)
    if not all(map(math.isfinite, numbers)):
        raise EmbeddingUnavailable(f"{where} answered a vector with a number that is not finite")
    return numbers


def _clean(text: str, max_chars: int) -> str:
    """Cut `text` to what a model reads; NUL ends a text in some engines, lone surrogates are no UTF-8."""
    return text[:max_chars].replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


def _batches(texts: list[str], most: int) -> Iterator[list[str]]:
    batch: list[str] = []
    chars = 0
    for text in texts:
        if batch and (len(batch) == most or chars + len(text) > BATCH_CHARS):
            yield batch
            batch, chars = [], 0
        batch.append(text)
        chars += len(text)
    if batch:
        yield batch
