"""What comes of an embedder that is not ours: nothing it does costs an entry or an answer."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from archives import Stage, stage

from memory.archive import Principal
from memory.archive.passages import unit_rows

MAIN = Principal("main", "s1")
MACHINERY = ("Error", "object", "NoneType", "len()", "numpy", "int ")


class Strange:
    identity, dimensions = "strange/2", 2

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    async def embed(self, texts: Any, *, query: bool) -> Any:
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Stage]:
    with stage("sqlite", tmp_path) as opened:
        yield opened


@pytest.mark.parametrize(
    "answer",
    [
        None,
        5,
        "abc",
        {},
        [],
        [None],
        [[None, 1]],
        [[1, 2, 3]],
        [[[1, 2]]],
        [[10**400, 0]],
        [[float("inf"), 0]],
        [[1, 2], [3]],
        iter([[1, 2]]),
        asyncio.CancelledError(),
        RuntimeError(),
    ],
)
def test_an_answer_that_is_no_vector_costs_a_warning_in_plain_words(kept: Stage, answer: Any) -> None:
    kept.embedder = Strange(answer)  # type: ignore[assignment]
    archive = kept.archive(vectors=True)
    warning = asyncio.run(archive.store(MAIN, "cat", "My kitten")).warning
    found = asyncio.run(archive.search(MAIN, "kitten"))
    assert [hit.entry.key for hit in found.hits] == ["cat"]
    for said in (warning, found.warning):
        assert "the embedding provider" in said
        assert said[-1].isalnum()
        assert not any(word in said for word in MACHINERY)


def test_a_cancel_of_a_call_passes_through_the_embedder(kept: Stage) -> None:
    async def cancelled() -> bool:
        kept.embedder = Strange(None)  # type: ignore[assignment]
        archive = kept.archive(vectors=True)
        reached = asyncio.Event()

        async def wait(texts: Any, *, query: bool) -> Any:
            reached.set()
            await asyncio.Event().wait()

        kept.embedder.embed = wait  # type: ignore[method-assign]
        call = asyncio.create_task(archive.store(MAIN, "cat", "My kitten"))
        await reached.wait()
        call.cancel()
        await asyncio.wait({call})
        return call.cancelled()

    assert asyncio.run(cancelled())


@pytest.mark.parametrize("size", [1e200, 1e308, 1e-200, 5e-324, 3.0])
def test_vectors_of_any_length_become_unit_vectors(size: float) -> None:
    with warnings.catch_warnings(action="error"):
        rows = unit_rows([[size, 0.0], [0.0, 0.0]], 2, 2)
    assert rows.tolist() == [[1.0, 0.0], [0.0, 0.0]]
