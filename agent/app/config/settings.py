"""`Settings`: every key of the configuration, its type, its choices and its built-in value.

What each means stands in `example.toml` and docs/configuration.md. Plain classes, read by `checking.py`: pydantic would
cost each `my-agent memory list` 70 ms, dataclasses 10.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple

__all__ = ["Bounds", "Section", "Settings"]

Verdict = Literal["allow", "supervised", "deny"]

NOTHING: Mapping[str, Any] = MappingProxyType({})


class Bounds(NamedTuple):
    """Where a number must lie, both ends included."""

    low: float
    high: float | None = None


class Section:
    """A table of the configuration. The class attributes are the built-in values; nothing changes once it is made."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)


class ProviderSettings(Section):
    kind: Literal["auto", "openai", "deepseek", "ollama"] = "auto"
    base_url: str = ""
    api_key_env: str = ""
    model: str = ""
    context_window: Annotated[int, Bounds(0)] = 0
    timeout_s: Annotated[float, Bounds(1)] = 120.0
    max_retries: Annotated[int, Bounds(0, 20)] = 4
    extra_body: Mapping[str, Any] = NOTHING


class AgentSettings(Section):
    name: str = "main"
    max_steps: Annotated[int, Bounds(1)] = 50
    context_budget: Annotated[int, Bounds(0)] = 0
    instructions: str = ""


class AgentsSettings(Section):
    max_agents: Annotated[int, Bounds(0)] = 32
    max_steps: Annotated[int, Bounds(1)] = 50
    timeout_s: Annotated[float, Bounds(1)] = 600.0
    side_by_side: Annotated[int, Bounds(1, 32)] = 3


class ShellSettings(Section):
    timeout_s: Annotated[float, Bounds(1)] = 120.0
    env_allow: Sequence[str] = ()


class FileToolSettings(Section):
    protected: Sequence[str] = ()
    readable: Sequence[str] = ()


class ToolsSettings(Section):
    shell: ShellSettings = ShellSettings()
    files: FileToolSettings = FileToolSettings()


class UiSettings(Section):
    color: Literal["auto", "always", "never"] = "auto"
    markdown: bool = True
    figures: bool = True


class EmbeddingSettings(Section):
    enabled: bool = False
    provider: Literal["ollama", "openai", "local"] = "ollama"
    model: str = ""
    dimensions: Annotated[int, Bounds(0, 16_000)] = 0
    base_url: str = ""
    api_key_env: str = ""
    timeout_s: Annotated[float, Bounds(0.1)] = 10.0


class PostgresSettings(Section):
    url: str = ""
    schema: str = "memory"
    max_connections: Annotated[int, Bounds(1, 200)] = 5


class CuratedSettings(Section):
    dir: str = ""
    memory_char_limit: Annotated[int, Bounds(1)] = 2200
    user_char_limit: Annotated[int, Bounds(1)] = 1375


class MemorySettings(Section):
    backend: Literal["", "markdown", "sqlite", "postgres"] = ""
    path: str = ".my_agent_core/archive"
    acl_enabled: bool = False
    admins: Sequence[str] = ()
    daily_retention_days: Annotated[int, Bounds(0)] = 7
    conversation_retention_days: Annotated[int, Bounds(0)] = 3
    keyword_weight: Annotated[float, Bounds(0, 1)] = 0.3
    vector_weight: Annotated[float, Bounds(0, 1)] = 0.7
    provider: str = ""
    options: Mapping[str, Any] = NOTHING
    embeddings: EmbeddingSettings = EmbeddingSettings()
    postgres: PostgresSettings = PostgresSettings()
    curated: CuratedSettings = CuratedSettings()


class PolicySettings(Section):
    default: Verdict = "allow"
    tools: Mapping[str, Verdict] = NOTHING


class SecuritySettings(Section):
    tool_policy: PolicySettings = PolicySettings()


class Settings(Section):
    provider: ProviderSettings = ProviderSettings()
    profiles: Mapping[str, ProviderSettings] = NOTHING
    agent: AgentSettings = AgentSettings()
    agents: AgentsSettings = AgentsSettings()
    tools: ToolsSettings = ToolsSettings()
    ui: UiSettings = UiSettings()
    memory: MemorySettings = MemorySettings()
    security: SecuritySettings = SecuritySettings()
