"""`build_archive` and `build_provider`: the second layer of memory as the settings want it, or none."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agent.app.config import Config
from agent.app.exits import ConfigProblem

if TYPE_CHECKING:
    from memory import MemoryProvider
    from memory.archive import Archive, Embedder, MarkdownBackend, PostgresBackend, SqliteBackend

__all__ = ["archive_folder", "build_archive", "build_provider"]


def build_provider(config: Config, session: str) -> MemoryProvider | None:
    """Return the provider that the settings name; None where they name none. Raises `ConfigProblem`."""
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

    return ArchiveProvider(build_archive(config), Principal(config.settings.agent.name, session))


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


def archive_folder(config: Config) -> Path:
    """Return the folder of `memory.path`, relative to the working folder."""
    return (config.cwd / Path(config.settings.memory.path).expanduser()).absolute()


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

        return SqliteBackend(archive_folder(config) / "archive.db")
    from memory.archive import MarkdownBackend

    return MarkdownBackend(archive_folder(config))


def _embedder(config: Config) -> Embedder | None:
    embeddings = config.settings.memory.embeddings
    if not _wanted(config):
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


def _wanted(config: Config) -> bool:
    """Embeddings are on when `enabled` says so; where it is silent, when a provider or a model is named."""
    section = ("memory", "embeddings")
    if config.is_set(*section, "enabled"):
        return config.settings.memory.embeddings.enabled
    return config.is_set(*section, "provider") or config.is_set(*section, "model")
