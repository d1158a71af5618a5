"""What is embedded of an entry: its key and content, cut into passages where it is long."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from memory.archive.embedder import EmbeddingUnavailable
from memory.archive.entry import Entry

if TYPE_CHECKING:
    from memory.archive.backend import Matrix

__all__ = ["embedded_text", "passages", "unit_rows"]

PASSAGE_CHARS = 400
PASSAGES_LIMIT = 32
# Where a passage may end: after a sentence, else a line, else a blank.
ENDS = (re.compile(r"[.!?;](?=\s)|[。！？；]|\n"), re.compile(r"[,，、\s]"))
DIVIDERS = re.compile(r"[_\-.]+")


def embedded_text(entry: Entry) -> str:
    """Return what the vectors of an entry depend on."""
    return f"{DIVIDERS.sub(' ', entry.key)}: {entry.content}"


def passages(entry: Entry) -> list[str]:
    """Return the texts to embed, at most 32; the rest of a very long entry is found by its words alone."""
    key = DIVIDERS.sub(" ", entry.key)
    if len(entry.content) <= PASSAGE_CHARS * 3 // 2:
        return [embedded_text(entry)]
    cut = cut_text(entry.content)
    return [f"{key}: {text}" for text, _ in zip(cut, range(PASSAGES_LIMIT), strict=False)]


def cut_text(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = start + PASSAGE_CHARS
        if end < len(text):
            window = text[start + PASSAGE_CHARS // 2 : end]
            places = ([match.end() for match in pattern.finditer(window)] for pattern in ENDS)
            end = next((start + PASSAGE_CHARS // 2 + found[-1] for found in places if found), end)
        if piece := text[start:end].strip():
            yield piece
        start = end


def unit_rows(vectors: Sequence[Sequence[float]], count: int, dimensions: int) -> Matrix:
    """Return vectors as rows of length 1 (a row of zeros stays so). Raises `EmbeddingUnavailable` for what is none."""
    import numpy as np  # 90 ms, and only where vectors are used

    try:
        rows = np.asarray(vectors, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise EmbeddingUnavailable("the embedding provider answered what is no list of vectors") from error
    if rows.ndim != 2 or len(rows) != count:
        raise EmbeddingUnavailable(f"the embedding provider answered what is no list of {count} vectors")
    if rows.shape[1] != dimensions:
        raise EmbeddingUnavailable(
            f"the embedding provider answered {rows.shape[1]} numbers for a text, its model has {dimensions}"
        )
    if not np.all(np.isfinite(rows)):
        raise EmbeddingUnavailable("the embedding provider answered numbers that are not finite")
    largest = np.abs(rows).max(axis=1, keepdims=True)
    rows = rows / np.where(largest == 0, 1, largest)  # else the square of a huge number is infinite
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths == 0, 1, lengths)).astype(np.float32)
