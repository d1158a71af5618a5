"""`Stage`: an archive on one of the three backends, with a clock to turn and an embedder that counts words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import postgres

from memory.archive import (
    AccessPolicy,
    Archive,
    EmbeddingUnavailable,
    Entry,
    MarkdownBackend,
    PostgresBackend,
    Principal,
    Retention,
    SqliteBackend,
)
from memory.archive.backend import Backend
from memory.archive.text import fold

KINDS = ["markdown", "sqlite", "postgres"]
NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
CONCEPTS = [
    ("cat", "kitten", "pet", "猫", "宠物"),
    ("deploy", "release", "部署", "上线"),
    ("database", "postgres", "数据库"),
]


class Concepts:
    """An embedder: for each concept, how many of its words stand in a text. `down`: it raises, as set."""

    def __init__(self, identity: str = "concepts/3", dimensions: int = 3) -> None:
        self.identity, self.dimensions = identity, dimensions
        self.down: Exception | None = None
        self.asked: list[list[str]] = []

    async def embed(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
        if self.down:
            raise self.down
        self.asked.append(list(texts))
        counts = ([float(sum(word in fold(text) for word in words)) for words in CONCEPTS] for text in texts)
        return [numbers + [0.0] * (self.dimensions - 3) for numbers in counts]

    def fail(self) -> None:
        self.down = EmbeddingUnavailable("the provider is away")


class Stage:
    def __init__(self, kind: str, folder: Path, schema: str = "") -> None:
        self.kind, self.folder, self.schema = kind, folder, schema
        self.now = NOON
        self.embedder = Concepts()
        self._opened: list[Backend] = []

    def backend(self) -> Backend:
        """Return another backend over the same store."""
        if self.kind == "markdown":
            backend: Backend = MarkdownBackend(self.folder / "memory")
        elif self.kind == "sqlite":
            backend = SqliteBackend(self.folder / "memory" / "archive.db")
        else:
            backend = PostgresBackend(postgres.url(), schema=self.schema)
        self._opened.append(backend)
        return backend

    def archive(self, *, acl: bool = False, admins: Sequence[str] = (), vectors: bool = False, **more: Any) -> Archive:
        return Archive(
            self.backend(),
            embedder=self.embedder if vectors else None,
            access=AccessPolicy(acl, frozenset(admins)),
            clock=lambda: self.now,
            **{"retention": Retention(), **more},
        )

    def later(self, **span: float) -> None:
        self.now += timedelta(**span)

    def close(self) -> None:
        for backend in self._opened:
            backend.close()


@contextmanager
def stage(kind: str, folder: Path) -> Iterator[Stage]:
    if kind != "postgres":
        opened = Stage(kind, folder)
        yield opened
        opened.close()
        return
    with postgres.schema() as schema:
        opened = Stage(kind, folder, schema)
        yield opened
        opened.close()


async def found(archive: Archive, who: Principal, query: str, **options: Any) -> list[str]:
    """Return the keys that a search finds, in order."""
    return [hit.entry.key for hit in (await archive.search(who, query, **options)).hits]


async def everything(archive: Archive) -> Mapping[tuple[str, str, str], Entry]:
    return {(entry.owner, entry.key, entry.session): entry async for entry in archive.entries()}
