"""`RequestBody`: the JSON of requests. A message is encoded once, however often it is sent."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent.messages import Message, ToolChoice, scrub

__all__ = ["Encoded", "RequestBody"]

log = logging.getLogger(__name__)

CACHE_LIMIT_BYTES = 16 * 2**20
OPTIONAL = {
    "stream_options": "stream_options|include_usage",
    "prompt_cache_key": "prompt_cache_key",
    "tool_choice": "tool_choice",
}
# Fields that a server may not know, and its words for them; the answer is the same without them
THINKERS = r"deepseek|moonshot|kimi|qwq|qwen.*think|\bglm-"
# Models and hosts that want their reasoning back

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class Encoded:
    """One request as it goes out."""

    data: bytes
    optional: frozenset[str]
    # Those of `OPTIONAL` that are in it
    reasoning: bool
    # Whether reasoning is replayed in it


class RequestBody:
    """What the requests of one client have in common, and the encoded messages.

    Messages are immutable, so their JSON is kept by identity: a step costs the same at 10 and at 1,000 messages.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str = "",
        cache_key: str = "",
        replay_reasoning: bool | None = None,
        extra_body: Mapping[str, Any] | None = None,
    ) -> None:
        """Prepare for `model`. `extra_body` holds more fields of the request; raises `ValueError` for ours."""
        taken = sorted({"model", "messages", "tools", "stream"} & set(extra_body or ()))
        if taken:
            raise ValueError(f"extra_body may not hold {', '.join(taken)}: the client sets that itself")
        self._may_turn = replay_reasoning is None
        if replay_reasoning is None:
            replay_reasoning = re.search(THINKERS, f"{base_url} {model}", re.IGNORECASE) is not None
        self.replay_reasoning = replay_reasoning
        self._fields: dict[str, Any] = {"model": model, "stream": True, "stream_options": {"include_usage": True}}
        if cache_key:
            self._fields["prompt_cache_key"] = cache_key
        self._fields.update(extra_body or {})
        self._dropped: set[str] = set()
        self._cache: dict[int, tuple[Message, bytes]] = {}
        self._cached_bytes = 0
        self._tools: tuple[list[dict[str, Any]], bytes] = ([], b"")

    def encode(self, messages: Sequence[Message], tools: Sequence[dict[str, Any]], tool_choice: ToolChoice) -> Encoded:
        """Return the body of one request, in strict UTF-8."""
        fields = {name: value for name, value in self._fields.items() if name not in self._dropped}
        if tool_choice != "auto" and tools and "tool_choice" not in self._dropped:
            fields["tool_choice"] = tool_choice
        parts = [_bytes(fields)[:-1]]
        if tools:
            if self._tools[0] != (listed := list(tools)):
                self._tools = listed, _bytes(listed)
            parts += [b',"tools":', self._tools[1]]
        cached = self._cache.get
        encoded = []
        for message in messages:
            known = cached(id(message))
            encoded.append(self._add(message) if known is None else known[1])
        parts += [b',"messages":[', b",".join(encoded), b"]}"]
        if self._cached_bytes > CACHE_LIMIT_BYTES:
            wanted = set(map(id, messages))
            self._cache = {key: known for key, known in self._cache.items() if key in wanted}
            self._cached_bytes = sum(len(data) for _, data in self._cache.values())
        return Encoded(b"".join(parts), frozenset(fields).intersection(OPTIONAL), self.replay_reasoning)

    def mend(self, refused: Encoded, body: str) -> bool:
        """Leave out, for good, what the `body` of a refusal names; true if the same request is worth another try."""
        words = re.sub(
            r"\\[nrt]", " ", _without_echo(body)
        )  # the line ends inside of JSON, whose letters would join the name
        named = {name for name in refused.optional if re.search(rf"\b(?:{OPTIONAL[name]})\b", words)}
        if named - self._dropped:
            log.info("the provider does not take %s: left out from here on", ", ".join(sorted(named)))
        self._dropped |= named
        if not named and self._may_turn and "reasoning_content" in words:
            self._may_turn = False
            self.replay_reasoning = not self.replay_reasoning
            self._cache.clear()
            self._cached_bytes = 0
        return bool(named) or ("reasoning_content" in words and refused.reasoning != self.replay_reasoning)

    def _add(self, message: Message) -> bytes:
        sent = message
        if not self.replay_reasoning and "reasoning_content" in message:
            sent = {name: value for name, value in message.items() if name != "reasoning_content"}
        encoded = _bytes(sent)
        self._cache[id(message)] = message, encoded  # with the message, so that its id is not given away again
        self._cached_bytes += len(encoded)
        return encoded


def _bytes(value: Any) -> bytes:
    return scrub(_encode(value)).encode()


def _without_echo(body: str) -> str:
    """Return the body of a refusal without the `input` that some servers repeat in it: there all names stand."""
    if '"input"' not in body:
        return body

    def stripped(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: stripped(inner) for name, inner in value.items() if name != "input"}
        return [stripped(inner) for inner in value] if isinstance(value, list) else value

    try:
        return json.dumps(stripped(json.loads(body)), ensure_ascii=False)
    except (ValueError, RecursionError):
        return body
