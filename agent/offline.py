"""`OfflineModel`: a model made of rules, for a machine without one. It drives the same loop, tools and memory."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from agent.messages import Completion, Message, ToolChoice, text_of
from agent.offline_memory import Done, Entry, done_calls, entries_in, meant, plain_request, relevant
from agent.offline_rules import RULES, Request, is_chinese, understand
from agent.offline_words import NOTES, SAY
from prompts import render
from tools import ToolCall

__all__ = ["OfflineModel"]

SUMMARY_PIECE_CHARS, SUMMARY_CHARS = 300, 4_000
KEY_CHARS, MOST_FOUND = 60, 3  # of the archive: letters of a key, entries of an answer
ABOUT_USER = re.compile(
    r"(?:i|i'm|i am|me|call|address|always|never|user)\b|my (?!project|repo|code|team)|我(?!们|的项目)|叫我", re.I
)
ORDINARY = re.compile(r"(?:a|all|always|every|i|it|my|never|our|tests?|the|this|use|we|when)\b")
# A first word that gets its capital; a name or a command stays as it is

Step: TypeAlias = "list[tuple[str, dict[str, Any]]] | str"
# What a request needs next: calls, or the answer


class OfflineModel:
    """Answers by rules (`offline_rules`), in English and Chinese, and says so. Everything it claims was done was done:
    it goes by the results of its calls. It needs no network and keeps no state between requests."""

    name = "offline"

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[dict[str, Any]], *, tool_choice: ToolChoice = "auto"
    ) -> AsyncIterator[str | Completion]:
        """Yield the answer in pieces, then the whole `Completion`."""
        completion = _complete(list(messages), tools, tool_choice)
        for piece in re.findall(r"\S+\s*|\s+", completion.content):
            yield piece
        yield completion

    async def close(self) -> None:
        """Nothing to close."""


def _complete(messages: list[Message], tools: Sequence[dict[str, Any]], tool_choice: ToolChoice) -> Completion:
    if text_of(messages[0]) == render("summary"):
        return Completion(_summary(text_of(messages[1])))
    asked = max((place for place, message in enumerate(messages) if message.get("role") == "user"), default=0)
    request = understand(plain_request(text_of(messages[asked])))
    turn = _Turn(
        request,
        is_chinese(request.text),
        frozenset(tool["function"]["name"] for tool in tools),
        entries_in(messages[: asked + 1]),
        done_calls(messages[asked + 1 :]),
    )
    step = _HANDLERS[request.kind](turn)
    if tool_choice == "none" and not isinstance(step, str):
        step = turn.say("no_tools_now")
    if isinstance(step, str):
        spoken = any(message.get("role") == "assistant" and text_of(message) for message in messages)
        return Completion(step if spoken or request.kind == "help" else f"{step}\n\n{NOTES[turn.chinese]}")
    calls = [
        ToolCall(f"offline_{len(messages)}_{number}", name, json.dumps(arguments, ensure_ascii=False))
        for number, (name, arguments) in enumerate(step)
    ]
    return Completion(calls=tuple(calls), finish_reason="tool_calls")


def _summary(transcript: str) -> str:
    extract = "\n".join(piece[:SUMMARY_PIECE_CHARS] for piece in transcript.split("\n\n"))[-SUMMARY_CHARS:]
    return SAY["summary"][is_chinese(extract)].format(extract=extract)


@dataclass(frozen=True, slots=True)
class _Turn:
    request: Request
    chinese: bool
    offered: frozenset[str]
    entries: list[Entry]
    # Those known when the turn began
    done: list[Done]
    # The calls made for the request so far

    def say(self, key: str, **values: object) -> str:
        return SAY[key][self.chinese].format(**values)

    def piece(self, name: str) -> str:
        """A piece of the request, without the quotes round it and the stop behind it."""
        return self.request.pieces.get(name, "").rstrip(".?!。？！").strip(" \"'`“”")

    def call(self, name: str, *batch: dict[str, str]) -> Step:
        """The calls, and once they were made what came of them."""
        if not self.done:
            return [(name, one) for one in batch] if name in self.offered else self.say("no_tool", tool=name)
        return "\n".join(self.told(one) for one in self.done)

    def told(self, done: Done) -> str:
        if done.failed:
            return self.say("failed", error=done.result)
        return done.result if done.result.strip() else self.say("no_output")


def _help(turn: _Turn) -> Step:
    examples = [f"- {rule.examples[turn.chinese]}" for rule in RULES if rule.examples]
    return turn.say("help", examples="\n".join(examples))


def _remember(turn: _Turn) -> Step:
    content = turn.request.pieces["content"].strip("\"'`“”")
    content = content[:1].upper() + content[1:] if ORDINARY.match(content) else content
    target = "user" if ABOUT_USER.match(content) else "memory"
    if "memory" not in turn.offered:
        return _archive(turn, "memory_store", {"key": content[:KEY_CHARS].strip(), "content": content}, content)
    if turn.done and not turn.done[0].failed:
        key = "saved_already" if "already exists" in turn.done[0].result else "saved"
        return turn.say(key, file=f"{target.upper()}.md", content=content)
    return turn.call("memory", {"target": target, "action": "add", "content": content})


def _archive(turn: _Turn, tool: str, arguments: dict[str, str], what: str) -> Step:
    """Keep in the archive, or drop from it, where that is all the memory there is."""
    if tool not in turn.offered:
        return turn.say("memory_off")
    if turn.done and turn.done[-1].name == tool and not turn.done[-1].failed:
        return turn.say("stored" if tool == "memory_store" else "dropped", content=what)
    return turn.call(tool, arguments)


def _found(done: Sequence[Done]) -> list[dict[str, Any]]:
    """The entries that a search of the archive gave."""
    results = [one.result for one in done if one.name == "memory_search" and not one.failed]
    return list(json.loads(results[-1]).get("entries", ())) if results else []


def _forget(turn: _Turn) -> Step:
    what = turn.piece("what")
    if "memory" not in turn.offered and "memory_search" in turn.offered:
        if not turn.done:
            return [("memory_search", {"query": what})]
        hits = [one for one in _found(turn.done) if what.casefold() in one["content"].casefold()]
        if len(hits) == 1:
            turn = replace(turn, done=turn.done[1:])
            return _archive(turn, "memory_forget", {"key": hits[0]["key"]}, hits[0]["content"])
        listed = _listed([Entry(one["content"]) for one in hits])
        return turn.say("which" if hits else "none_fits", count=len(hits), what=what, entries=listed)
    return _change(turn, turn.piece("what"), lambda entry: {"action": "remove", "old_text": entry.text})


def _replace(turn: _Turn) -> Step:
    old, new = turn.piece("old"), turn.piece("new")

    def arguments(entry: Entry) -> dict[str, str]:
        """The new entry: the old one with the words changed, or the new words alone where it does not hold the old."""
        content, changed = re.subn(re.escape(old), lambda _: new, entry.text, count=1, flags=re.IGNORECASE)
        return {"action": "replace", "old_text": entry.text, "new_content": content if changed else new}

    return _change(turn, old, arguments)


def _change(turn: _Turn, what: str, arguments: Callable[[Entry], dict[str, str]]) -> Step:
    """Change the one entry that `what` points at; none or several are told, and nothing is changed."""
    if "memory" not in turn.offered:
        return turn.say("memory_off")
    hits = meant([entry for entry in turn.entries if entry.target], what)
    if len(hits) == 1:
        return turn.call("memory", {"target": hits[0].target, **arguments(hits[0])})
    return turn.say("which" if hits else "none_fits", count=len(hits), what=what, entries=_listed(hits))


def _recall(turn: _Turn) -> Step:
    general = turn.request.kind == "recall"
    topic = turn.piece("topic") if general else turn.request.text
    found = relevant(turn.entries, topic)
    if not found and topic and "memory_search" in turn.offered:
        if not turn.done:
            return [("memory_search", {"query": topic, "limit": MOST_FOUND})]
        found = [Entry(one["content"]) for one in _found(turn.done)]
    if found:
        return turn.say("known", entries=_listed(found))
    if general and not turn.entries and "memory_search" not in turn.offered:
        return turn.say("memory_empty" if "memory" in turn.offered else "memory_off")
    return turn.say("not_known", topic=topic) if general else turn.say("unknown")


def _delegate(turn: _Turn) -> Step:
    jobs = [job.strip() for job in re.split(r"[;；\n]", turn.request.pieces["job"]) if job.strip()]
    if not turn.done:
        return turn.call("task", *({"prompt": job} for job in jobs))
    lines = []
    for number, one in enumerate(turn.done, 1):
        said = turn.told(one).replace(NOTES[0], "").replace(NOTES[1], "").strip()
        lines.append(turn.say("sub_agent", number=number, result=said))
    return "\n".join(lines)


def _search(turn: _Turn) -> Step:
    folder = {"path": turn.piece("path")} if "path" in turn.request.pieces else {}
    return turn.call("file_search", {"pattern": re.escape(turn.piece("what")), **folder})


def _listed(entries: Sequence[Entry]) -> str:
    return entries[0].text if len(entries) == 1 else "".join(f"\n- {entry.text}" for entry in entries)


_HANDLERS: dict[str, Callable[[_Turn], Step]] = {
    "help": _help,
    "recall": _recall,
    "question": _recall,
    "remember": _remember,
    "forget": _forget,
    "replace": _replace,
    "delegate": _delegate,
    "list": lambda turn: turn.call("file_list", {"path": turn.request.pieces.get("path", ".")}),
    "search": _search,
    "read": lambda turn: turn.call("file_read", {"path": turn.request.pieces["path"]}),
    "run": lambda turn: turn.call("shell", {"command": turn.request.pieces["command"].strip("`")}),
    "unknown": lambda turn: turn.say("unknown"),
}
