"""How much of the model's window a request takes, and what to do when it is too much."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import tools
from agent.messages import Message, text_of
from prompts import render

if TYPE_CHECKING:
    import tiktoken

__all__ = ["Cut", "TokenMeter", "is_summary", "plan_cut", "summary_messages", "summary_request"]

PER_MESSAGE = 4  # tokens a message costs beside its text
FILL_AFTER_CUT = 0.3  # of the budget: a cut is deep, so that the prefix moves rarely
CLIP_CHARS = 4_000  # of one message in the text that is summed up
SUMMARY_HEAD = "Summary of the talk so far:"
ACKNOWLEDGED = "Understood. I will go on from this summary."


class TokenMeter:
    """Counts the tokens of messages and tools.

    Offline it estimates UTF-8 bytes / 3, which is the safe side in English, Chinese, code and JSON. tiktoken is used
    only where its file lies in `TIKTOKEN_CACHE_DIR` already: it would download without a timeout otherwise. What a
    server reports corrects the estimate, by a factor between a third and three.
    """

    def __init__(self) -> None:
        self._counts: dict[int, tuple[Message, int]] = {}
        self._factor = 1.0

    def messages(self, messages: Sequence[Message]) -> int:
        """Return the tokens of `messages`; each message object is counted once and remembered."""
        total = 0
        for message in messages:
            known = self._counts.get(id(message))
            if known is None or known[0] is not message:
                known = (message, _weigh(json.dumps(message, ensure_ascii=False)) + PER_MESSAGE)
                self._counts[id(message)] = known
            total += known[1]
        return math.ceil(total * self._factor)

    def forget_all_but(self, messages: Sequence[Message]) -> None:
        """Forget the counts of what is no longer in the history, once that is more than half of them."""
        if len(self._counts) > 2 * len(messages) + 64:
            present = {id(message) for message in messages}
            self._counts = {key: known for key, known in self._counts.items() if key in present}

    def text(self, text: str) -> int:
        return math.ceil(_weigh(text) * self._factor)

    def tools(self, schemas: Sequence[dict[str, Any]]) -> int:
        return self.text(json.dumps(list(schemas), ensure_ascii=False)) if schemas else 0

    def correct(self, estimated: int, reported: int) -> None:
        """Learn from a request that was estimated at `estimated` tokens and that the server counted as `reported`."""
        if estimated > 0 and reported > 0:
            self._factor = min(3.0, max(1 / 3, self._factor * reported / estimated))


def _weigh(text: str) -> int:
    encoding = _encoding()
    if encoding is None:
        return math.ceil(len(text.encode("utf-8", "replace")) / 3)
    return len(encoding.encode(text, disallowed_special=()))


@lru_cache(maxsize=1)
def _encoding() -> tiktoken.Encoding | None:
    folder = os.environ.get("TIKTOKEN_CACHE_DIR")
    if not folder or not os.path.isdir(folder) or not os.listdir(folder):  # noqa: PTH112, PTH208 - no Path at start-up
        return None
    import hashlib

    import tiktoken  # 90 ms and 80 MiB, so only where its file is there

    address = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
    if not os.path.isfile(os.path.join(folder, hashlib.sha1(address.encode()).hexdigest())):  # noqa: PTH113, PTH118, S324
        return None
    return tiktoken.get_encoding("o200k_base")


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a history is divided: what goes into the summary, and how many last messages stay."""

    dropped: list[Message]
    keep: int
    request: str
    # The user's words that the kept messages answer, where those words themselves are dropped; else empty


def plan_cut(messages: Sequence[Message], meter: TokenMeter, budget_tokens: int) -> Cut | None:
    """Choose the cut: whole rounds only, the last one always stays. None when nothing can be dropped.

    A round is a user message, or an answer of the assistant with the results of its calls. `budget_tokens` is what the
    talk may take.
    """
    starts = [place for place, message in enumerate(messages) if message.get("role") != "tool"]
    if len(starts) < 2:
        return None
    room = budget_tokens * FILL_AFTER_CUT
    cut, kept_tokens = starts[-1], meter.messages(messages[starts[-1] :])
    for start in reversed(starts[:-1]):
        kept_tokens += meter.messages(messages[start:cut])
        if kept_tokens > room:
            break
        cut = start
    if cut == 0:
        # Everything fits the room, and yet it is to be shorter: keep the last round alone, or a whole last turn
        asked = max(place for place in starts if messages[place].get("role") == "user" or not place)
        over = messages[-1].get("role") == "assistant" and not messages[-1].get("tool_calls")
        cut = asked if asked and over else starts[-1]
    kept = messages[cut:]
    request = ""
    if kept[0].get("role") != "user":
        request = next((text_of(m) for m in reversed(messages[:cut]) if m.get("role") == "user"), "")
    return Cut(list(messages[:cut]), len(messages) - cut, request)


def summary_request(cut: Cut, room_tokens: int) -> list[Message]:
    """Return the request that asks a model for the summary of what is dropped, of the end of it if it is long."""
    room = max(2_000, room_tokens * 3)  # bytes
    pieces: list[str] = []
    for message in reversed(cut.dropped):
        piece = _transcript(message)
        room -= len(piece.encode("utf-8", "replace"))
        if room < 0:
            pieces.append("[earlier messages left out]")
            break
        pieces.append(piece)
    return [
        {"role": "system", "content": render("summary")},
        {"role": "user", "content": "\n\n".join(reversed(pieces))},
    ]


def summary_messages(summary: str, cut: Cut) -> list[Message]:
    """Return what stands in the place of the dropped messages; roles go on alternating."""
    text = f"{SUMMARY_HEAD}\n\n{summary.strip()}"
    if not cut.request:
        return [{"role": "user", "content": text}, {"role": "assistant", "content": ACKNOWLEDGED}]
    return [{"role": "user", "content": f"{text}\n\nMy request, which you are working on:\n\n{cut.request}"}]


def is_summary(message: Message) -> bool:
    """Say whether a user message is one of `summary_messages`, and no words of the user."""
    return message.get("role") == "user" and text_of(message).startswith(SUMMARY_HEAD)


def _transcript(message: Message) -> str:
    calls = [call["function"] for call in message.get("tool_calls") or ()]
    parts = [text_of(message), *(f"calls {call['name']} {call['arguments']}" for call in calls)]
    text = "\n".join(part for part in parts if part)
    return f"{message.get('role', '')}: {tools.bound(text, CLIP_CHARS)}"
