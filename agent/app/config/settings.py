"""`Settings`: every key of the configuration, its type, its choices and its built-in value.

Plain dataclasses, read by `checking.py`: pydantic would cost each `my-agent memory list` 70 ms. Comparison and repr,
which nobody needs, would be compiled at every start.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = [
    "AgentSettings",
    "AgentsSettings",
    "Backend",
    "CuratedSettings",
    "EmbeddingSettings",
    "FileToolSettings",
    "MemorySettings",
    "PolicySettings",
    "PostgresSettings",
    "ProfileSettings",
    "ProviderKind",
    "ProviderSettings",
    "SecuritySettings",
    "Settings",
    "ShellSettings",
    "ToolsSettings",
    "UiSettings",
    "Verdict",
]

ProviderKind = Literal["auto", "openai", "deepseek", "ollama"]
Backend = Literal["", "markdown", "sqlite", "postgres"]
EmbeddingProvider = Literal["ollama", "openai", "local"]
Verdict = Literal["allow", "supervised", "deny"]
ColorSetting = Literal["auto", "always", "never"]


def _number(default: float, *, low: float, high: float | None = None) -> Any:
    """A number that must lie within bounds, both included."""
    return field(default=default, metadata={"low": low, "high": high})


@dataclass(frozen=True, eq=False, repr=False)
class ProviderSettings:
    kind: ProviderKind = "auto"
    base_url: str = ""
    api_key_env: str = ""
    # The variable that holds the key; empty: OPENAI_API_KEY, or DEEPSEEK_API_KEY for deepseek
    model: str = ""
    context_window: int = _number(0, low=0)
    # Tokens; 0: not known
    timeout_s: float = _number(120.0, low=1)
    # Of silence on the connection
    max_retries: int = _number(4, low=0, high=20)
    extra_body: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, repr=False)
class ProfileSettings:
    """What a profile may set of `[provider]`; None: as there."""

    kind: ProviderKind | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    model: str | None = None
    context_window: int | None = field(default=None, metadata={"low": 0})
    timeout_s: float | None = field(default=None, metadata={"low": 1})
    max_retries: int | None = field(default=None, metadata={"low": 0, "high": 20})
    extra_body: dict[str, Any] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class AgentSettings:
    name: str = "main"
    max_steps: int = _number(50, low=1)
    context_budget: int = _number(0, low=0)
    # Tokens of a request; 0: three quarters of provider.context_window, or 100,000 where that is not known
    instructions: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class AgentsSettings:
    max_agents: int = _number(32, low=0)
    max_steps: int = _number(50, low=1)
    timeout_s: float = _number(600.0, low=1)
    side_by_side: int = _number(3, low=1, high=32)


@dataclass(frozen=True, eq=False, repr=False)
class ShellSettings:
    timeout_s: float = _number(120.0, low=1)
    env_allow: list[str] = field(default_factory=list)
    # Variables that look like keys and are passed to commands all the same


@dataclass(frozen=True, eq=False, repr=False)
class FileToolSettings:
    protected: list[str] = field(default_factory=list)
    # Folders that the file tools refuse
    readable: list[str] = field(default_factory=list)
    # Folders outside the working folder that may be read


@dataclass(frozen=True, eq=False, repr=False)
class ToolsSettings:
    shell: ShellSettings = field(default_factory=ShellSettings)
    files: FileToolSettings = field(default_factory=FileToolSettings)


@dataclass(frozen=True, eq=False, repr=False)
class UiSettings:
    color: ColorSetting = "auto"
    markdown: bool = True
    figures: bool = True
    # The line with tokens and time after an answer


@dataclass(frozen=True, eq=False, repr=False)
class EmbeddingSettings:
    enabled: bool = False
    provider: EmbeddingProvider = "ollama"
    model: str = ""
    dimensions: int = _number(0, low=0, high=16_000)
    # 0: what the model gives
    base_url: str = ""
    api_key_env: str = ""
    timeout_s: float = _number(10.0, low=0.1)


@dataclass(frozen=True, eq=False, repr=False)
class PostgresSettings:
    url: str = ""
    schema: str = "memory"
    max_connections: int = _number(5, low=1, high=200)


@dataclass(frozen=True, eq=False, repr=False)
class CuratedSettings:
    dir: str = ""
    # Empty: .my_agent_core/memory, if it is there
    memory_char_limit: int = _number(2200, low=1)
    user_char_limit: int = _number(1375, low=1)


@dataclass(frozen=True, eq=False, repr=False)
class MemorySettings:
    backend: Backend = ""
    # Empty: no archive
    path: str = ".my_agent_core/archive"
    acl_enabled: bool = False
    admins: list[str] = field(default_factory=list)
    daily_retention_days: int = _number(7, low=0)
    conversation_retention_days: int = _number(3, low=0)
    keyword_weight: float = _number(0.3, low=0, high=1)
    vector_weight: float = _number(0.7, low=0, high=1)
    provider: str = ""
    # Name of a registered provider that takes the place of the archive
    options: dict[str, Any] = field(default_factory=dict)
    # What that provider gets
    embeddings: EmbeddingSettings = field(default_factory=EmbeddingSettings)
    postgres: PostgresSettings = field(default_factory=PostgresSettings)
    curated: CuratedSettings = field(default_factory=CuratedSettings)


@dataclass(frozen=True, eq=False, repr=False)
class PolicySettings:
    default: Verdict = "allow"
    tools: dict[str, Verdict] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, repr=False)
class SecuritySettings:
    tool_policy: PolicySettings = field(default_factory=PolicySettings)


@dataclass(frozen=True, eq=False, repr=False)
class Settings:
    provider: ProviderSettings = field(default_factory=ProviderSettings)
    profiles: dict[str, ProfileSettings] = field(default_factory=dict)
    agent: AgentSettings = field(default_factory=AgentSettings)
    agents: AgentsSettings = field(default_factory=AgentsSettings)
    tools: ToolsSettings = field(default_factory=ToolsSettings)
    ui: UiSettings = field(default_factory=UiSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    security: SecuritySettings = field(default_factory=SecuritySettings)
