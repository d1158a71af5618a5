"""`Assembly`: one answer of a model, put together from the pieces in which it streams."""

from __future__ import annotations

from typing import Any

from agent.failures import EmptyAnswer, ProviderFailed
from agent.messages import Completion, Usage, scrub
from agent.open_calls import OpenCalls

__all__ = ["Assembly", "usage_of"]

_FINISH = {
    **dict.fromkeys(("length", "max_tokens", "max_output_tokens", "model_length", "token_limit"), "length"),
    **dict.fromkeys(("model_context_window_exceeded", "max_token", "incomplete"), "length"),
    **dict.fromkeys(("stop", "end_turn", "eos", "eos_token", "stop_sequence", "completed", "complete"), "stop"),
    **dict.fromkeys(("tool_calls", "tool_call", "tool_use", "function_call"), "tool_calls"),
}
# The words of several providers for the same; others stay as they are, in small letters


class Assembly:
    """Takes the chunks of one stream, in order, and ends as a `Completion`."""

    def __init__(self, *, model: str = "", base_url: str = "") -> None:
        self.finish_reason = ""
        # Empty until the provider has said that the answer is over
        self._where = {"model": model, "base_url": base_url}
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls = OpenCalls()
        self._usage: Usage | None = None
        self._half = ""
        self._choice: Any = None

    def add(self, chunk: dict[str, Any]) -> str:
        """Take one chunk and return the text in it. Raises a `ModelFailure` if the chunk reports an error."""
        if chunk.get("error") or chunk.get("object") == "error":
            self._fail(chunk.get("error") or chunk)
        usage = chunk.get("usage") or _inner(chunk.get("x_groq"), "usage")
        if isinstance(usage, dict):
            self._usage = usage_of(usage)
        choices = chunk.get("choices")
        if not isinstance(choices, list):
            return ""
        text = ""
        for choice in choices:
            if isinstance(choice, dict):
                index = choice.get("index")
                if self._choice is None:
                    self._choice = index
                if index in (None, self._choice):  # one answer is asked for; a second beside it is not mixed in
                    text += self._add_choice(choice)
        return text

    def add_whole(self, answer: dict[str, Any]) -> str:
        """Take an answer that came as one JSON object instead of a stream, and return its text."""
        text = self.add(answer)
        self.finish_reason = self.finish_reason or ("tool_calls" if self._calls else "stop")
        return text

    def completion(self) -> Completion:
        """Return the whole answer. Raises `ProviderFailed` if the stream was cut, `EmptyAnswer` if nothing is in it."""
        if not self.finish_reason:
            got = "in the middle of the answer" if self._text or self._calls else "before any answer"
            raise ProviderFailed(
                f"The provider's stream was cut {got}: it ended without a finish reason.", retryable=True
            )
        calls = self._calls.whole()
        content, reasoning = "".join(self._text) + scrub(self._half), scrub("".join(self._reasoning))
        if not calls and not content.strip():
            raise self._empty(reasoning)
        return Completion(content, calls, self.finish_reason, reasoning, self._usage)

    def _add_choice(self, choice: dict[str, Any]) -> str:
        if choice.get("error"):
            self._fail(choice["error"])
        delta = choice.get("delta") or (choice.get("message") if not self._text and not self._calls else None)
        text = ""
        if isinstance(delta, dict):
            content = delta.get("content")
            if content is not None and not isinstance(content, str):
                content, thought = _texts(content)
                self._reasoning.append(thought)
            content = content or delta.get("refusal")
            if content and isinstance(content, str):
                text = self._whole_letters(content)
                self._text.append(text)
            if len(delta) > 1 or not text:
                self._add_rest(delta)
        reason = choice.get("finish_reason")
        if reason and isinstance(reason, str):
            reason = reason.strip().lower()
            if reason == "error":
                self._fail("no reason was given")
            self.finish_reason = _FINISH.get(reason, reason if reason != "null" else "")
        return text

    def _add_rest(self, delta: dict[str, Any]) -> None:
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(thought, str):
            self._reasoning.append(thought)
        calls = delta.get("tool_calls")
        if isinstance(calls, list):
            for call in calls:
                if isinstance(call, dict):
                    self._calls.add(call)
        legacy = delta.get("function_call")
        if isinstance(legacy, dict):
            self._calls.add({"index": 0, "function": legacy})

    def _whole_letters(self, text: str) -> str:
        """Return what can be shown: half of a surrogate pair at the end waits for its other half."""
        if self._half:
            text, self._half = self._half + text, ""
        elif text.isascii() and "\0" not in text:
            return text
        if "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return scrub(text)

    def _fail(self, error: Any) -> None:
        from agent.refusals import failure_of_event  # its tables are for the rare case

        raise failure_of_event(error, **self._where)

    def _empty(self, reasoning: str) -> EmptyAnswer:
        if self.finish_reason == "length":
            return EmptyAnswer("The model's answer was empty: it ran into the length limit first.", retryable=True)
        if self.finish_reason == "content_filter":
            return EmptyAnswer("The answer was empty: the provider's content filter stopped it.")
        what = "it holds reasoning only" if reasoning.strip() else "neither text nor a tool call"
        return EmptyAnswer(f"The model's answer was empty: {what}.", retryable=True)


def usage_of(usage: dict[str, Any]) -> Usage:
    """Return the tokens of a `usage` object, whatever the provider calls them."""
    details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details")
    cached = _count(_inner(details, "cached_tokens")) or _count(usage.get("prompt_cache_hit_tokens"))
    cached = cached or _count(usage.get("cached_tokens")) or _count(usage.get("cache_read_input_tokens"))
    written = _count(_inner(details, "cache_write_tokens")) or _count(usage.get("cache_creation_input_tokens"))
    prompt = _count(usage.get("prompt_tokens"))
    if not prompt:
        prompt = _count(usage.get("input_tokens"))
        if "cache_read_input_tokens" in usage:  # Anthropic counts these apart
            prompt += cached + written
    completion = _count(usage.get("completion_tokens")) or _count(usage.get("output_tokens"))
    return Usage(prompt, completion, cached, written)


def _count(value: Any) -> int:
    return int(value) if isinstance(value, (int, float)) and 0 < value < 1e12 else 0


def _inner(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _texts(content: Any) -> tuple[str, str]:
    """The text and the reasoning in a content that is a list of parts, or an object."""
    text, thought = "", ""
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            text += part
        elif isinstance(part, dict):
            inner = part.get("text")
            if isinstance(inner, str) and part.get("type") != "thinking":
                text += inner
            elif isinstance(part.get("thinking"), (str, list)):
                thought += "".join(_texts(part["thinking"]))
    return text, thought
