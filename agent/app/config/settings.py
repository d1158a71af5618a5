"""`Settings`: every key of the configuration, its type, its choices and its built-in value.

Plain classes, read by `checking.py`: pydantic would cost each `my-agent memory list` 70 ms, dataclasses 10.
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
    # The variable that holds the key; empty: OPENAI_API_KEY, or DEEPSEEK_API_KEY for deepseek
    model: str = ""
    context_window: Annotated[int, Bounds(0)] = 0
    # Tokens; 0: not known
    timeout_s: Annotated[float, Bounds(1)] = 120.0
    # Of silence on the connection
    max_retries: Annotated[int, Bounds(0, 20)] = 4
    extra_body: Mapping[str, Any] = NOTHING


class AgentSettings(Section):
    name: str = "main"
    max_steps: Annotated[int, Bounds(1)] = 50
    context_budget: Annotated[int, Bounds(0)] = 0
    # Tokens of a request; 0: three quarters of provider.context_window, or 100,000 where that is not known
    instructions: str = ""


class AgentsSettings(Section):
    max_agents: Annotated[int, Bounds(0)] = 32
    max_steps: Annotated[int, Bounds(1)] = 50
    timeout_s: Annotated[float, Bounds(1)] = 600.0
    side_by_side: Annotated[int, Bounds(1, 32)] = 3


class ShellSettings(Section):
    timeout_s: Annotated[float, Bounds(1)] = 120.0
    env_allow: Sequence[str] = ()
    # Variables that look like keys and are passed to commands all the same


class FileToolSettings(Section):
    protected: Sequence[str] = ()
    # Folders that the file tools refuse
    readable: Sequence[str] = ()
    # Folders outside the working folder that may be read


class ToolsSettings(Section):
    shell: ShellSettings = ShellSettings()
    files: FileToolSettings = FileToolSettings()


class UiSettings(Section):
    color: Literal["auto", "always", "never"] = "auto"
    markdown: bool = True
    figures: bool = True
    # The line with tokens and time after an answer


class EmbeddingSettings(Section):
    enabled: bool = False
    provider: Literal["ollama", "openai", "local"] = "ollama"
    model: str = ""
    dimensions: Annotated[int, Bounds(0, 16_000)] = 0
    # 0: what the model gives
    base_url: str = ""
    api_key_env: str = ""
    timeout_s: Annotated[float, Bounds(0.1)] = 10.0


class PostgresSettings(Section):
    url: str = ""
    schema: str = "memory"
    max_connections: Annotated[int, Bounds(1, 200)] = 5


class CuratedSettings(Section):
    dir: str = ""
    # Empty: .my_agent_core/memory, if it is there
    memory_char_limit: Annotated[int, Bounds(1)] = 2200
    user_char_limit: Annotated[int, Bounds(1)] = 1375


class MemorySettings(Section):
    backend: Literal["", "markdown", "sqlite", "postgres"] = ""
    # Empty: no archive
    path: str = ".my_agent_core/archive"
    acl_enabled: bool = False
    admins: Sequence[str] = ()
    daily_retention_days: Annotated[int, Bounds(0)] = 7
    conversation_retention_days: Annotated[int, Bounds(0)] = 3
    keyword_weight: Annotated[float, Bounds(0, 1)] = 0.3
    vector_weight: Annotated[float, Bounds(0, 1)] = 0.7
    provider: str = ""
    # Name of a registered provider that takes the place of the archive
    options: Mapping[str, Any] = NOTHING
    # What that provider gets
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
    # What is set of it goes over `provider`
    agent: AgentSettings = AgentSettings()
    agents: AgentsSettings = AgentsSettings()
    tools: ToolsSettings = ToolsSettings()
    ui: UiSettings = UiSettings()
    memory: MemorySettings = MemorySettings()
    security: SecuritySettings = SecuritySettings()
