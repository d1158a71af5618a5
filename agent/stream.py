"""`Assembly`: one answer of a model, put together from the pieces in which it streams."""

from __future__ import annotations

import re
from typing import Any

from agent.failures import EmptyAnswer, ProviderFailed
from agent.messages import Completion, Usage, scrub, text_of
from agent.open_calls import OpenCalls
from agent.refusals import failure_of_event

__all__ = ["Assembly", "usage_of"]

CUT = {
    "length": r"length|max.*token|token.*limit|context.window|incomplete|truncat|error_limit",
    "content_filter": r"filter|sensitive|safety|recitation|block(?:ed|list)|prohibited|spii|refus|toxic|guard|moderat",
}
# The words of several providers for an answer that was cut off; the first that fits counts
BROKEN = (
    r"error|fail|network|overload|abort|cancel|resource|malformed|unexpected|invalid|too_many|time.?out|timed.out"
    r"|unavailable|interrupt|rate.limit|disconnect|preempt"
)
# Those for one that the provider could not finish
PARTS = {"content": "text", "refusal": "text", "tool_calls": "calls"} | dict.fromkeys(
    ("reasoning_content", "reasoning"), "reasoning"
)


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
        self._streamed: set[str] = set()
        # What came in deltas, so that a `message` only repeats it

    def add(self, chunk: dict[str, Any], *, whole: bool = False) -> str:
        """Take one chunk, or the `whole` answer that came instead of a stream, and return the text in it.

        Raises a `ModelFailure` if it reports an error.
        """
        if chunk.get("error") or chunk.get("object") == "error":
            self._fail(chunk.get("error") or chunk)
        report = chunk.get("base_resp")  # MiniMax, with status 200
        if isinstance(report, dict) and report.get("status_code") not in (None, 0, "0"):
            self._fail(report)
        if isinstance(usage := chunk.get("usage"), dict) and (counted := usage_of(usage)) != Usage():
            self._usage = counted
        choices = chunk.get("choices")
        if not (choices and isinstance(choices, list) and isinstance(choices[0], dict)):
            return ""
        choice = choices[0]
        if choice.get("error"):
            self._fail(choice["error"])
        delta, message = choice.get("delta"), choice.get("message")
        text = ""
        if isinstance(delta, dict):
            text = self._add_delta(delta)
            self._streamed.update(PARTS[name] for name in PARTS.keys() & delta.keys() if delta[name])
        if isinstance(message, dict):
            text += self._add_delta(
                {name: value for name, value in message.items() if PARTS.get(name) not in self._streamed}
            )
        reason = choice.get("finish_reason") or ("stop" if whole else None)
        if isinstance(reason, str) and reason != "null":
            self._finish(reason.strip().lower())
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

    def _finish(self, reason: str) -> None:
        kind = next((kind for kind, words in CUT.items() if re.search(words, reason)), reason)
        if kind == reason and re.search(BROKEN, reason):
            text = f"The provider broke its answer off (finish_reason={reason[:80]!r})."
            raise ProviderFailed(text, retryable=True)
        if self.finish_reason not in CUT:  # a closing `stop` does not make a cut answer whole
            self.finish_reason = kind

    def _add_delta(self, delta: dict[str, Any]) -> str:
        content = text_of(delta) or delta.get("refusal")
        text = ""
        if content and isinstance(content, str):
            text = self._whole_letters(content)
            self._text.append(text)
        if len(delta) > 1 or not text:
            thought = delta.get("reasoning_content") or delta.get("reasoning")
            if isinstance(thought, str):
                self._reasoning.append(thought)
            calls = delta.get("tool_calls")
            for call in calls if isinstance(calls, list) else []:
                if isinstance(call, dict):
                    self._calls.add(call)
        return text

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
        raise failure_of_event(error, **self._where)

    def _empty(self, reasoning: str) -> EmptyAnswer:
        if self.finish_reason == "length":
            return EmptyAnswer("The model's answer was empty: it ran into the length limit first.", retryable=True)
        if self.finish_reason == "content_filter":
            return EmptyAnswer("The answer was empty: the provider's content filter stopped it.")
        what = "it holds reasoning only" if reasoning.strip() else "neither text nor a tool call"
        return EmptyAnswer(f"The model's answer was empty: {what}.", retryable=True)


def usage_of(usage: dict[str, Any]) -> Usage:
    """Return the tokens of a `usage` object; DeepSeek and Moonshot have their own names for the cached ones."""
    details = usage.get("prompt_tokens_details")
    details = details if isinstance(details, dict) else {}
    cached = details.get("cached_tokens") or usage.get("prompt_cache_hit_tokens") or usage.get("cached_tokens")
    counts = (usage.get("prompt_tokens"), usage.get("completion_tokens"), cached, details.get("cache_write_tokens"))
    return Usage(*(int(count) if isinstance(count, (int, float)) and 0 < count < 1e12 else 0 for count in counts))
