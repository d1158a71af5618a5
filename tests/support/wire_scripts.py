"""`WireScript`: one random answer of a provider, made from a seed, and what may come of it.

script = WireScript.of(seed)
Loopback(lambda request: WireScript.of(seed_in(request)).answer)
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from wire_answers import Answer, http, raw

__all__ = ["WireScript"]

WORDS = [
    "one ",
    "two\n",
    "世界",
    " 😀",
    "\u2028",
    "<tag>",
    "`code`",
    "{",
    "}",
    "data: x",
    "\ud83d\ude00",
    "\x00",
    "\ud800",
    "",
]
ARGUMENTS = ["{}", "", '{"path": "a.txt"}', '{"content": "line\\nline {x} \\u4e16"}', "[1, 2]", '{"cut": "he', "null"]
STRANGE: list[Any] = [None, [], {}, 5, -1, "x", "", True, [None], {"a": None}, 1e300, "\ud800"]
PAGES = [
    "<html><title>Sign in</title></html>",
    '{"hello": 1}',
    "",
    "busy",
    '{"error": {"message": "no"}}',
    "[]",
    '{"choices": [',
]
STATUSES = [400, 401, 403, 404, 408, 409, 413, 418, 422, 429, 500, 501, 502, 503, 504, 529, 302]


@dataclass(frozen=True)
class WireScript:
    """`kind` says what was done to the answer. A "sound" or `whole` one must be taken, a "cut" one must not."""

    kind: str
    answer: Answer
    whole: bool = False
    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    # Name and arguments; like `text` it counts only for the kind "sound"

    @staticmethod
    @cache
    def of(seed: int) -> WireScript:
        """Return the script of this seed, always the same."""
        return _Maker(random.Random(seed)).make()


class _Maker:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.text = "".join(rng.choice(WORDS) for _ in range(rng.randrange(12))) if rng.random() < 0.7 else ""
        self.calls = [
            (rng.choice(["file_read", "shell", "x"]), rng.choice(ARGUMENTS))
            for _ in range(rng.choice([0, 0, 0, 1, 2, 3]))
        ]
        if not self.text.strip() and not self.calls:
            self.text = "some text"

    def make(self) -> WireScript:
        kinds: list[tuple[float, Callable[[], WireScript]]] = [
            (30, self.sound),
            (25, self.cut),
            (6, self.unfinished),
            (6, self.reported),
            (6, self.corrupted),
            (8, self.refused),
            (5, self.page),
            (4, self.garbage),
            (8, self.mutated),
            (1, self.empty),
            (0.3, self.stalled),
        ]
        weights, makers = zip(*kinds, strict=True)
        return self.rng.choices(makers, weights)[0]()

    # --- kinds

    def sound(self) -> WireScript:
        answer = self.stream(self.frames(self.events()))
        return WireScript("sound", answer, whole=True, text=self.text, calls=tuple(self.calls))

    def cut(self) -> WireScript:
        """The bytes end anywhere. Whole only if the finish reason was sent before."""
        data = b"".join(self.frames([*self.events(), "[DONE]"]))
        size = self.rng.randrange(len(data) + 1)
        finish = data.rfind(b'"finish_reason"')
        closing = data.find(b"\n", finish)
        close = self.rng.choice(["clean", "abrupt", "reset"])
        answer = self.stream(self.pieces(data[:size])).timed(close=close)
        if size <= finish + len('"finish_reason": '):
            return WireScript("cut", answer)
        # A chunk may be readable before its line ends, and a reset may lose what was sent: nothing is claimed then
        claimed = size > closing and close != "reset"
        return WireScript("cut late", answer, whole=claimed)

    def unfinished(self) -> WireScript:
        events = [event for event in self.events() if '"finish_reason": "' not in event]
        return WireScript("cut", self.stream(self.frames(events + ["[DONE]"] * self.rng.randrange(2))))

    def reported(self) -> WireScript:
        events = [event for event in self.events() if '"finish_reason": "' not in event]
        error = self.rng.choice(
            ["overloaded", {"message": "no", "code": self.rng.choice(STATUSES)}, {"message": 5}, {"code": None}, ["x"]]
        )
        events.insert(self.rng.randrange(len(events) + 1), json.dumps({"error": error}))
        return WireScript("cut", self.stream(self.frames(events)))

    def corrupted(self) -> WireScript:
        events = [event for event in self.events() if '"finish_reason": "' not in event]
        events.insert(self.rng.randrange(len(events) + 1), self.rng.choice(["{oops}", "{", "[", '{"a":}', "x" * 300]))
        return WireScript("cut", self.stream(self.frames(events)))

    def refused(self) -> WireScript:
        headers = self.rng.choice(
            [{}, {"Retry-After": self.rng.choice(["1", "x", "-1", "999999", "Wed, 21 Oct 2099"])}]
        )
        body = self.rng.choice([*PAGES, '{"error": {"message": "maximum context length"}}', "\xff", "x" * 5000])
        return WireScript("refused", http(self.rng.choice(STATUSES), body.encode("latin-1"), headers=headers))

    def page(self) -> WireScript:
        return WireScript("page", raw(*self.pieces(self.rng.choice(PAGES).encode()), content_type="text/html"))

    def garbage(self) -> WireScript:
        lines = [self.rng.randbytes(self.rng.randrange(40)) for _ in range(5)]
        return WireScript("garbage", raw(*(self.rng.choice([b"", b"data: "]) + line + b"\n" for line in lines)))

    def mutated(self) -> WireScript:
        """Values of the chunks are replaced by strange ones: whatever comes of it, nothing may break."""
        events = []
        for event in self.events():
            chunk = json.loads(event)
            for _ in range(self.rng.choice([0, 1, 1, 3])):
                self.mutate(chunk)
            events.append(json.dumps(chunk))
        return WireScript("mutated", self.stream(self.frames([*events, "[DONE]"])))

    def empty(self) -> WireScript:
        self.text, self.calls = self.rng.choice(["", " \n"]), []
        return WireScript("empty", self.stream(self.frames([*self.events(), "[DONE]"])))

    def stalled(self) -> WireScript:
        events = [event for event in self.events() if '"finish_reason": "' not in event]
        answer = self.stream(self.frames(events))
        return WireScript("cut", answer.timed(stall_after=self.rng.randrange(len(answer.frames) + 1), stall_s=30))

    # --- how an answer is spelled

    def events(self) -> list[str]:
        rng = self.rng
        deltas: list[dict[str, Any]] = [{"role": "assistant"}] if rng.random() < 0.5 else []
        if rng.random() < 0.3:
            deltas.append({rng.choice(["reasoning_content", "reasoning"]): "thinking"})
        deltas += [{"content": piece} for piece in self.split(self.text)]
        deltas += [{"tool_calls": [part]} for part in self.call_parts()]
        chunks: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": d, "finish_reason": None}]} for d in deltas]
        reason = "tool_calls" if self.calls else "stop"
        if chunks and rng.random() < 0.3:
            chunks[-1]["choices"][0]["finish_reason"] = reason
        else:
            chunks.append({"choices": [{"index": 0, "delta": rng.choice([{}, None]), "finish_reason": reason}]})
        for strange in ({"choices": []}, {"choices": None}, {"choices": [], "usage": {"prompt_tokens": 5}}):
            if rng.random() < 0.2:
                chunks.insert(rng.randrange(len(chunks)), strange)
        return [json.dumps({"id": "c", "object": "chat.completion.chunk", **chunk}) for chunk in chunks]

    def call_parts(self) -> Iterator[dict[str, Any]]:
        style = self.rng.choice(["id and index", "id alone", "names repeated", "colliding indexes"])
        for number, (name, arguments) in enumerate(self.calls):
            call_id = f"call_{number}"
            for place, piece in enumerate(self.split(arguments) or [""]):
                function: dict[str, Any] = {"arguments": piece}
                part: dict[str, Any] = {"function": function}
                if place == 0 or style == "names repeated":
                    function["name"] = name
                if place == 0 or style in ("names repeated", "id alone"):
                    part["id"] = call_id
                if style != "id alone":
                    part["index"] = 0 if style == "colliding indexes" else number
                yield part

    def split(self, text: str) -> list[str]:
        pieces = []
        while text:
            size = self.rng.randrange(1, 8)
            pieces.append(text[:size])
            text = text[size:]
        return pieces

    def frames(self, events: list[str]) -> list[bytes]:
        rng = self.rng
        space, end = rng.choice(["data: ", "data:"]), rng.choice(["\n\n", "\r\n\r\n"])
        lines = [f"{space}{event}{end}" for event in events]
        if rng.random() < 0.3:
            lines.insert(rng.randrange(len(lines) + 1), rng.choice([": wait\n\n", "event: message\n", "id: 1\n", "\n"]))
        if rng.random() < 0.1 and lines:
            lines[0] = "\ufeff" + lines[0]
        return [line.encode() for line in lines]

    def pieces(self, data: bytes) -> list[bytes]:
        if self.rng.random() < 0.5 or not data:
            return [data] if data else []
        size = self.rng.randrange(20, 400)
        return [data[at : at + size] for at in range(0, len(data), size)]

    def stream(self, frames: list[bytes]) -> Answer:
        rng = self.rng
        answer = raw(*frames).timed(framing=rng.choice(["chunked", "chunked", "length", "close"]))
        if rng.random() < 0.05:
            answer = answer.timed(gap_s=rng.random() / 1000)
        return answer.timed(delay_s=rng.choice([0, 0, 0, 0.001, 0.004]))

    def mutate(self, value: Any) -> None:
        """Replace one value somewhere inside a JSON object or list."""
        places: list[tuple[Any, Any]] = []
        waiting = [value]
        while waiting:
            inner = waiting.pop()
            pairs = inner.items() if isinstance(inner, dict) else enumerate(inner)
            for key, child in list(pairs):
                places.append((inner, key))
                if isinstance(child, (dict, list)):
                    waiting.append(child)
        holder, key = self.rng.choice(places)
        holder[key] = copy.deepcopy(self.rng.choice(STRANGE))
