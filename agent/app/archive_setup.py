"""`build_archive` and `build_provider`: the second layer of memory as the settings want it, or none."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from agent.app.config import Config
from agent.app.exits import ConfigProblem

if TYPE_CHECKING:
    from memory import MemoryProvider
    from memory.archive import Archive, Embedder, MarkdownBackend, PostgresBackend, SqliteBackend

__all__ = ["build_archive", "build_provider"]


def build_provider(config: Config, session: Callable[[], str]) -> MemoryProvider | None:
    """Return the provider that the settings name; None where they name none. Raises `ConfigProblem`.

    `session` is asked at each use: an agent that begins anew has another.
    """
    memory = config.settings.memory
    if memory.provider:
        from memory import load_provider

        try:
            return load_provider(memory.provider, memory.options)
        except (ValueError, LookupError) as error:
            raise ConfigProblem(f"memory.provider = {memory.provider!r} cannot be used: {error}") from error
    if not memory.backend:
        return None
    from memory.archive import ArchiveProvider, Principal

    name = config.settings.agent.name
    return ArchiveProvider(build_archive(config), lambda: Principal(name, session()))


def build_archive(config: Config) -> Archive:
    """Open the archive; nothing is read or connected yet. Raises `ConfigProblem`."""
    from agent.session_file import now
    from memory.archive import AccessPolicy, Archive, Retention

    memory = config.settings.memory
    if not memory.backend:
        raise ConfigProblem("The archive is off: memory.backend names none; choose markdown, sqlite or postgres")
    return Archive(
        _backend(config),
        embedder=_embedder(config),
        access=AccessPolicy(memory.acl_enabled, frozenset(memory.admins)),
        retention=Retention(memory.daily_retention_days, memory.conversation_retention_days),
        clock=now,
        keyword_weight=memory.keyword_weight,
        vector_weight=memory.vector_weight,
    )


def _backend(config: Config) -> MarkdownBackend | SqliteBackend | PostgresBackend:
    memory = config.settings.memory
    if memory.backend == "postgres":
        from memory.archive import PostgresBackend

        postgres = memory.postgres
        try:
            return PostgresBackend(postgres.url, schema=postgres.schema, max_connections=postgres.max_connections)
        except ImportError as error:
            raise ConfigProblem(
                f"memory.backend = 'postgres' needs {error.name or 'packages'}: pip install 'my-agent-core[postgres]'"
            ) from error
        except ValueError as error:
            raise ConfigProblem(f"memory.postgres: {error}") from error
    if memory.backend == "sqlite":
        from memory.archive import SqliteBackend

        return SqliteBackend(config.folder(memory.path) / "archive.db")
    from memory.archive import MarkdownBackend

    return MarkdownBackend(config.folder(memory.path))


def _embedder(config: Config) -> Embedder | None:
    """Embeddings are on when `enabled` says so; where it is silent, when a provider or a model is named."""
    embeddings, section = config.settings.memory.embeddings, ("memory", "embeddings")
    named = any((*section, name) in config.values for name in ("provider", "model"))
    if not (embeddings.enabled if (*section, "enabled") in config.values else named):
        return None
    from memory.archive import make_embedder

    try:
        return make_embedder(
            embeddings.provider,
            embeddings.model or None,
            embeddings.dimensions or None,
            embeddings.base_url or None,
            embeddings.api_key_env or None,
            embeddings.timeout_s,
        )
    except ValueError as error:
        raise ConfigProblem(f"memory.embeddings: {error}") from error
