"""`Message`: one entry of the talk, as the wire has it, and the pieces it is made of."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from tools import ToolCall

__all__ = ["Completion", "Message", "Model", "ToolChoice", "Usage"]

Message = dict[str, Any]
# An OpenAI chat message. Treated as immutable once it is in a history: a model client may key caches on its identity.

ToolChoice = Literal["auto", "none"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more requests, as the server counted them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
        )


@dataclass(frozen=True, slots=True)
class Completion:
    """One whole answer of a model. A cut stream never becomes one."""

    content: str = ""
    calls: tuple[ToolCall, ...] = ()
    # Arguments as the server sent them, perhaps not JSON; ids as sent, perhaps empty or used before.
    finish_reason: str = "stop"
    reasoning: str = ""
    usage: Usage | None = None


class Model(Protocol):
    """Whatever answers. `OpenAIModel`, `OfflineModel` and `ScriptedModel` are three."""

    @property
    def name(self) -> str: ...

    def stream(
        self, messages: Sequence[Message], tools: Sequence[dict[str, Any]], *, tool_choice: ToolChoice = "auto"
    ) -> AsyncIterator[str | Completion]:
        """Yield pieces of text as they come, then exactly one `Completion`, last.

        Makes one request and retries nothing. Raises a `ModelFailure`. When cancelled it closes its connection.
        """
        ...

    async def close(self) -> None: ...
