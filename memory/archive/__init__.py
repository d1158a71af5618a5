"""The archive: keyed memory behind five tools."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memory.archive.access import AccessPolicy, Principal, Retention, View
    from memory.archive.archive import Archive
    from memory.archive.embed import make_embedder
    from memory.archive.embedder import Embedder, EmbeddingUnavailable
    from memory.archive.entry import ArchiveRefusal, ArchiveUnavailable, Entry, EntryMissing, Filter, Hit
    from memory.archive.markdown import MarkdownBackend
    from memory.archive.postgres import PostgresBackend
    from memory.archive.provider import ArchiveProvider
    from memory.archive.sqlite import SqliteBackend

# Loaded when first asked for: a backend brings its database with it.
HOMES = {
    "AccessPolicy": "access",
    "Archive": "archive",
    "ArchiveProvider": "provider",
    "ArchiveRefusal": "entry",
    "ArchiveUnavailable": "entry",
    "Embedder": "embedder",
    "EmbeddingUnavailable": "embedder",
    "Entry": "entry",
    "EntryMissing": "entry",
    "Filter": "entry",
    "Hit": "entry",
    "MarkdownBackend": "markdown",
    "PostgresBackend": "postgres",
    "Principal": "access",
    "Retention": "access",
    "SqliteBackend": "sqlite",
    "View": "access",
    "make_embedder": "embed",
}

__all__ = [
    "AccessPolicy",
    "Archive",
    "ArchiveProvider",
    "ArchiveRefusal",
    "ArchiveUnavailable",
    "Embedder",
    "EmbeddingUnavailable",
    "Entry",
    "EntryMissing",
    "Filter",
    "Hit",
    "MarkdownBackend",
    "PostgresBackend",
    "Principal",
    "Retention",
    "SqliteBackend",
    "View",
    "make_embedder",
]


def __getattr__(name: str) -> Any:
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"memory.archive.{HOMES[name]}"), name)
