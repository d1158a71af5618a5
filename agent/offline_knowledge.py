"""What the offline model knows: the entries in front of it, and which of them a question is about."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from agent.chinese import fold
from agent.messages import Message, text_of
from agent.offline_terms import terms_of

__all__ = ["Done", "Entry", "done_calls", "entries_in", "exact", "found_in", "holding", "plain_request", "relevant"]

_HEADING = re.compile(r"^## (MEMORY|USER)\.md\b.*$", re.MULTILINE)
_BLOCK = re.compile(r"<([A-Za-z_]+)(?: [^>\n]*)?>\n(.*?)\n?</\1>\s*", re.DOTALL)
_FOREIGN = ("file", "stdin")  # blocks of a user message that hold no memories


@dataclass(frozen=True, slots=True)
class Entry:
    text: str
    target: str = ""
    # memory | user; empty where it came from the archive or was recalled
    key: str = ""


@dataclass(frozen=True, slots=True)
class Done:
    """A call and what came of it."""

    name: str
    arguments: dict[str, Any]
    result: str

    @property
    def failed(self) -> bool:
        return self.result.startswith("Error")


def done_calls(messages: Sequence[Message]) -> list[Done]:
    """Return the calls in `messages` that have a result, in order."""
    waiting: dict[str, tuple[str, dict[str, Any]]] = {}
    done = []
    for message in messages:
        for call in message.get("tool_calls") or ():
            waiting[call["id"]] = call["function"]["name"], _object(call["function"]["arguments"])
        call_id = str(message.get("tool_call_id"))
        if message.get("role") == "tool" and call_id in waiting:
            done.append(Done(*waiting.pop(call_id), text_of(message)))
    return done


def plain_request(text: str) -> str:
    """Return what the user wrote, without the blocks that were put beside it."""
    return _BLOCK.sub("", text).strip() or text.strip()


def entries_in(messages: Sequence[Message]) -> list[Entry]:
    """Return every entry that the talk shows: in the system prompt, recalled beside a message, and written since."""
    entries = list(_snapshot(text_of(messages[0]))) if messages and messages[0].get("role") == "system" else []
    for message in messages:
        if message.get("role") == "user":
            entries += _recalled(text_of(message))
    for done in done_calls(messages):
        if not done.failed:
            entries = list(_after(entries, done))
    return list({entry.text: entry for entry in entries if not entry.text.startswith("[blocked:")}.values())


def holding(entries: Sequence[Entry], wanted: str) -> list[Entry]:
    """Return the entry that is `wanted`, else those that hold it."""
    needle = fold(wanted).casefold()
    equal = [entry for entry in entries if fold(entry.text).casefold() == needle]
    return equal or [entry for entry in entries if needle in fold(entry.text).casefold()]


def exact(entries: Sequence[Entry], wanted: str) -> list[Entry]:
    """Return the entries that `wanted` points at: those of `holding`, else those with all of its words."""
    words = terms_of(wanted)
    return holding(entries, wanted) or [entry for entry in entries if words and words <= terms_of(entry.text)]


def relevant(entries: Sequence[Entry], topic: str) -> list[Entry]:
    """Return the entries about `topic`, best first; all of them, or those about the user, where it names nothing."""
    wanted = terms_of(topic)
    if not wanted:
        about_me = re.search(r"\b(?:i|me|my|mine)\b|我", topic, re.IGNORECASE) is not None
        users = [entry for entry in entries if entry.target == "user"]
        return users if about_me and users else list(entries)
    scores = [(len(wanted & terms_of(entry.text)), entry) for entry in entries]
    best = max((score for score, _ in scores), default=0)
    return [entry for score, entry in sorted(scores, key=lambda pair: -pair[0]) if score and 2 * score > best]


def _snapshot(prompt: str) -> Iterator[Entry]:
    block = prompt.rpartition("<MEMORY_CONTEXT>")[2] if "<MEMORY_CONTEXT>" in prompt else ""
    pieces = _HEADING.split(block.partition("</MEMORY_CONTEXT>")[0])
    for name, text in zip(pieces[1::2], pieces[2::2], strict=True):
        for part in re.split(r"^\s*§\s*$", text, flags=re.MULTILINE):
            if part.strip():
                yield Entry(part.strip(), name.lower())


def _recalled(text: str) -> Iterator[Entry]:
    for name, block in _BLOCK.findall(text):
        if name.lower() not in _FOREIGN:
            for line in (block.partition("\n\n")[2] or block).split("\n"):  # what it is comes first, then the entries
                if line.strip():
                    yield Entry(re.sub(r"^\s*(?:[-*•]|\d+[.)])\s+", "", line).strip())


def _after(entries: list[Entry], done: Done) -> Iterator[Entry]:
    """The entries after a call that succeeded."""
    say = {name: value for name, value in done.arguments.items() if isinstance(value, str)}
    target, action = say.get("target", "memory"), say.get("action", "")
    if done.name == "memory_search":
        yield from entries
        yield from found_in(done.result)
    elif done.name == "memory_forget":
        yield from (entry for entry in entries if entry.key != say.get("key") or not entry.key)
    elif done.name == "memory_store":
        yield from (entry for entry in entries if entry.key != say.get("key") or not entry.key)
        yield Entry(say.get("content", ""), key=say.get("key", ""))
    elif done.name == "memory" and action == "add":
        yield from entries
        yield Entry(say.get("content", ""), target)
    elif done.name == "memory" and action in ("remove", "replace"):
        old = say.get("old_text", "")
        same = [entry for entry in entries if entry.target == target and entry.text == old]
        gone = (same or [entry for entry in entries if entry.target == target and old in entry.text])[:1]
        yield from (entry for entry in entries if entry not in gone)
        if action == "replace":
            yield Entry(say.get("new_content") or say.get("content", ""), target)
    else:
        yield from entries


def found_in(result: str) -> list[Entry]:
    """Return the entries in the answer of `memory_search` or `memory_recall`."""
    found = _object(result).get("entries")
    return [
        Entry(str(entry.get("content", "")), key=str(entry.get("key", "")))
        for entry in (found if isinstance(found, list) else [])
        if isinstance(entry, dict)
    ]


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
