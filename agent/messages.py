"""`Message`: one entry of the talk, as the wire has it, and the pieces it is made of."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import astuple, dataclass
from typing import Any, Literal, Protocol

from tools import ToolCall

__all__ = [
    "Completion",
    "Message",
    "Model",
    "ToolChoice",
    "Usage",
    "assistant_message",
    "call_name",
    "json_object",
    "scrub",
    "text_of",
    "tool_message",
    "user_message",
]

_CONTROL = re.compile(r"[\x00-\x1f]")  # between the parts of an object they may stand, in strings not

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
        return Usage(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))


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


def call_name(name: str) -> str:
    """Return the name of a call as every server takes it back: letters, digits, `_` and `-`, 1 to 64 of them."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64] or "unnamed"


def scrub(text: str) -> str:
    """Replace what no server takes, NUL and lone surrogates; a pair of surrogates becomes its character."""
    text = text.replace("\0", "\ufffd")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def json_object(text: str) -> str | None:
    """Return the arguments of a call as they may be sent again, or None where they are no JSON object.

    No text at all means no arguments, `{}`. What a server would refuse is written as it should be: a raw line end in a
    string, and a lone surrogate or NUL inside an escape.
    """
    if not text.strip():
        return "{}"
    try:
        value = json.loads(text, strict=False, parse_constant=_refuse)
        clean = _scrubbed(value) if "\\u" in text else value
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    return text if clean == value and _is_strict(text) else json.dumps(clean, ensure_ascii=False)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _is_strict(text: str) -> bool:
    try:
        return not _CONTROL.search(text) or json.loads(text) is not None
    except ValueError:
        return False


def _scrubbed(value: Any) -> Any:
    if isinstance(value, dict):
        return {scrub(key): _scrubbed(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_scrubbed(inner) for inner in value]
    return scrub(value) if isinstance(value, str) else value


def text_of(message: Message) -> str:
    """Return the text of a message, also where its content is a list of parts."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def user_message(text: str) -> Message:
    return {"role": "user", "content": scrub(text)}


def assistant_message(content: str, calls: Sequence[ToolCall] = (), reasoning: str = "") -> Message:
    """Build an assistant message whose calls carry arguments that are JSON objects, whatever the model wrote."""
    message: Message = {"role": "assistant", "content": scrub(content) or None}
    if reasoning:
        message["reasoning_content"] = scrub(reasoning)
    if calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call_name(call.name), "arguments": json_object(scrub(call.arguments)) or "{}"},
            }
            for call in calls
        ]
    return message


def tool_message(call_id: str, text: str) -> Message:
    return {"role": "tool", "tool_call_id": call_id, "content": scrub(text)}
