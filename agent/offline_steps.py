"""`HANDLERS`: what the offline model does about each kind of request, one function a kind.

A handler gets the request and the calls made for it so far, and returns what comes next: calls, or the answer.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from agent.chinese import fold
from agent.offline_knowledge import Done, Entry, exact, found_in, relevant
from agent.offline_rules import Request
from agent.offline_words import NOTES, examples, say

__all__ = ["HANDLERS", "Call", "Step", "Turn"]

SHOWN_CHARS = 6_000  # of a file or an output in an answer
_ABOUT_USER = re.compile(
    r"(?:i|i'm|i am|i've|me|call|address|always|never|from now on|the user|user)\b"
    r"|my (?!project|repo|code|app|team|company|tests?|server|machine)|我(?!们|的(?:项目|代码|仓库|团队|公司|服务器))"
    r"|(?:以后|今后|从现在起)|(?:总是|永远)(?:用|以)|叫我|称呼我|用户",
    re.IGNORECASE,
)
_ORDINARY = re.compile(
    r"(?:a|all|always|an|every|each|i|in|it|my|never|no|on|our|tests?|that|the|their|these|they|this|those|use|we|when"
    r"|your?)\b"
)

Call: TypeAlias = tuple[str, dict[str, Any]]
Step: TypeAlias = "list[Call] | str"
# What a request needs next: calls, or the answer


@dataclass(frozen=True, slots=True)
class Turn:
    chinese: bool
    offered: frozenset[str]
    before: Sequence[Entry]
    # The entries known when the turn began: calls are planned by these, in every step alike
    entries: Sequence[Entry]
    # Those known by now

    def say(self, key: str, **values: object) -> str:
        return say(key, chinese=self.chinese, **values)

    def has_memory(self) -> bool:
        return bool(self.entries) or any(name.startswith("memory") for name in self.offered)


def _remember(turn: Turn, request: Request, done: list[Done]) -> Step:
    content = _tidy(request.pieces["content"])
    target = "user" if _ABOUT_USER.match(fold(content)) else "memory"
    place = {"memory": "MEMORY.md", "user": "USER.md"}[target] if "memory" in turn.offered else "archive"
    if not done:
        if "memory" in turn.offered:
            return [("memory", {"target": target, "action": "add", "content": content})]
        if "memory_store" in turn.offered:
            return [("memory_store", {"key": _key(content), "content": content})]
        return turn.say("memory_off")
    if done[-1].failed:
        return turn.say("not_saved", error=done[-1].result)
    known = "already exists" in done[-1].result.lower()
    return turn.say("saved_already" if known else "saved", place=place, content=content)


def _forget(turn: Turn, request: Request, done: list[Done]) -> Step:
    what = _bare(request.pieces["what"])
    if done and done[-1].name != "memory_search":
        return _forgotten(turn, what, done)
    entries = [entry for entry in turn.before if entry.target]
    if not what or re.fullmatch(
        r"it|this|that|everything|all(?: .*)?|一切|所有.*|全部.*|这个|那个", what, re.IGNORECASE
    ):
        return turn.say("say_which", entries=_listed(entries)) if turn.has_memory() else turn.say("memory_off")
    if done:
        if done[-1].failed:
            return turn.say("not_forgotten", error=done[-1].result)
        found = found_in(done[-1].result)
        hits = [entry for entry in found if entry.key == what] or exact(found, what)
        return _one(turn, what, hits, lambda hit: ("memory_forget", {"key": hit.key}))
    hits = exact(entries, what)
    if hits and "memory" in turn.offered:
        return _one(
            turn, what, hits, lambda hit: ("memory", {"target": hit.target, "action": "remove", "old_text": hit.text})
        )
    if {"memory_search", "memory_forget"} <= turn.offered:
        return [("memory_search", {"query": what, "limit": 10})]
    if "memory" in turn.offered:  # written since the prompt was frozen, perhaps
        return [("memory", {"target": "memory", "action": "remove", "old_text": what})]
    return turn.say("memory_off")


def _forgotten(turn: Turn, what: str, done: list[Done]) -> Step:
    last = done[-1]
    if last.failed and len(done) == 1 and last.arguments.get("old_text") == what and "not found" in last.result:
        return [("memory", {"target": "user", "action": "remove", "old_text": what})]
    if last.failed:
        return turn.say("not_forgotten", error=last.result)
    return turn.say("forgot", content=last.arguments.get("old_text") or last.arguments.get("key"))


def _replace(turn: Turn, request: Request, done: list[Done]) -> Step:
    old, new = _bare(request.pieces["old"]), _bare(request.pieces["new"])
    if done:
        arguments = done[-1].arguments
        if done[-1].failed:
            return turn.say("not_replaced", error=done[-1].result)
        return turn.say("replaced", old=arguments.get("old_text"), new=arguments.get("new_content"))
    if "memory" not in turn.offered:
        return turn.say("memory_off")

    def call(hit: Entry) -> Call:
        at = fold(hit.text).casefold().find(fold(old).casefold())
        content = new if at < 0 else hit.text[:at] + new + hit.text[at + len(old) :]
        return "memory", {"target": hit.target, "action": "replace", "old_text": hit.text, "new_content": content}

    return _one(turn, old, exact([entry for entry in turn.before if entry.target], old), call)


def _recall(turn: Turn, request: Request, done: list[Done]) -> Step:
    topic = _bare(request.pieces.get("topic", ""))
    general = request.kind == "recall"
    query = topic if general else request.text
    if not done and "memory_search" in turn.offered and query:
        return [("memory_search", {"query": query, "limit": 5})]
    if not turn.has_memory():
        return turn.say("memory_off") if general else turn.say("unknown")
    found = relevant(turn.entries, query)
    hits = found_in(done[-1].result)[:3] if done else []
    failed = turn.say("search_failed", error=done[-1].result) + "\n" if done and done[-1].failed else ""
    if found:
        return failed + turn.say("known" if len(found) > 1 else "known_one", entries=_listed(found))
    if hits:
        return turn.say("closest", entries=_listed(hits))
    if not turn.entries and not failed and general:
        return turn.say("memory_empty")
    return failed + (turn.say("not_known", topic=topic) if general and topic else turn.say("no_answer"))


def _delegate(turn: Turn, request: Request, done: list[Done]) -> Step:
    jobs = [job.strip() for job in re.split(r"[;；\n]", request.pieces["job"]) if job.strip()]
    if not done:
        if not jobs or re.fullmatch(r"it|this|that|它|这个", jobs[0], re.IGNORECASE):
            return turn.say("no_job")
        return _with_tool(turn, "task", [{"prompt": job} for job in jobs])
    lines = []
    for number, one in enumerate(done, 1):
        result = one.result
        for note in NOTES:
            result = result.replace(note, "")
        key = "sub_agent_failed" if one.failed else "sub_agent" if len(done) == 1 else "sub_agents"
        lines.append(turn.say(key, number=number, result=_clip(turn, result.strip()), error=result))
    return "\n".join(lines)


def _run(turn: Turn, request: Request, done: list[Done]) -> Step:
    command = request.pieces["command"].strip().strip("`").strip()
    if done:
        return _report(turn, done[-1])
    if not command or re.match(r"(?:the|my|our|all|your|it|tests?$)\b|[^\x00-\x7f]", command, re.IGNORECASE):
        known = relevant(turn.entries, command) if turn.entries else []
        return "\n".join([turn.say("no_command"), *([turn.say("known", entries=_listed(known))] if known else [])])
    return _with_tool(turn, "shell", [{"command": command}])


def _read(turn: Turn, request: Request, done: list[Done]) -> Step:
    path = request.pieces["path"]
    if not done:
        return _with_tool(turn, "file_read", [{"path": path}])
    if done[-1].failed:
        return _report(turn, done[-1])
    return turn.say("read", path=path, result=_clip(turn, done[-1].result))


def _list(turn: Turn, request: Request, done: list[Done]) -> Step:
    path = request.pieces.get("path", ".")
    return _report(turn, done[-1]) if done else _with_tool(turn, "file_list", [{"path": path}])


def _search(turn: Turn, request: Request, done: list[Done]) -> Step:
    arguments = {"pattern": re.escape(_bare(request.pieces["what"]))}
    if "path" in request.pieces:
        arguments["path"] = request.pieces["path"]
    return _report(turn, done[-1]) if done else _with_tool(turn, "file_search", [arguments])


def _write(turn: Turn, request: Request, done: list[Done]) -> Step:
    arguments = {"path": request.pieces["path"], "content": _bare(request.pieces["content"]) + "\n"}
    return _report(turn, done[-1]) if done else _with_tool(turn, "file_write", [arguments])


def _edit(turn: Turn, request: Request, done: list[Done]) -> Step:
    old, new = _bare(request.pieces["old"]), _bare(request.pieces["new"])
    arguments = {"path": request.pieces["path"], "old_text": old, "new_text": new}
    return _report(turn, done[-1]) if done else _with_tool(turn, "file_edit", [arguments])


HANDLERS: dict[str, Callable[[Turn, Request, list[Done]], Step]] = {
    "help": lambda turn, request, done: turn.say("help", examples=examples(chinese=turn.chinese)),
    "greet": lambda turn, request, done: turn.say("greet"),
    "unknown": lambda turn, request, done: turn.say("unknown"),
    "remember": _remember,
    "forget": _forget,
    "replace": _replace,
    "recall": _recall,
    "question": _recall,
    "delegate": _delegate,
    "run": _run,
    "read": _read,
    "list": _list,
    "search": _search,
    "write": _write,
    "edit": _edit,
}


def _with_tool(turn: Turn, name: str, batch: list[dict[str, Any]]) -> Step:
    return [(name, arguments) for arguments in batch] if name in turn.offered else turn.say("no_tool", tool=name)


def _one(turn: Turn, what: str, hits: list[Entry], call: Callable[[Entry], Call]) -> Step:
    if len(hits) == 1:
        return [call(hits[0])]
    if hits:
        return turn.say("which", count=len(hits), what=what, entries=_listed(hits))
    return turn.say("none_fits", what=what)


def _report(turn: Turn, done: Done) -> str:
    if done.failed:
        return turn.say("failed", error=done.result)
    return turn.say("result", result=_clip(turn, done.result)) if done.result.strip() else turn.say("no_output")


def _clip(turn: Turn, text: str) -> str:
    more = len(text) - SHOWN_CHARS
    return text if more <= 0 else text[:SHOWN_CHARS] + turn.say("clipped", count=more)


def _listed(entries: Sequence[Entry]) -> str:
    return entries[0].text if len(entries) == 1 else "\n".join(f"- {entry.text}" for entry in entries)


def _tidy(content: str) -> str:
    """The content of an entry as a sentence: ordinary words get their capital, names and commands stay as they are."""
    content = _bare(content, stops=False)
    if content.lower().startswith("to "):
        content = f"Remember {content}"
    return content[:1].upper() + content[1:] if _ORDINARY.match(content) else content


def _bare(text: str, *, stops: bool = True) -> str:
    """The text without the quotes round it and, with `stops`, without the stop behind it."""
    text = text.strip()
    if stops:
        text = text.rstrip(".?!。？！").strip()
    quotes = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "「": "」", "『": "』"}
    return text[1:-1].strip() if len(text) > 2 and quotes.get(text[0]) == text[-1] else text


def _key(content: str) -> str:
    """A key for the archive: readable, and never that of another entry, which would be replaced."""
    words = re.findall(r"[a-z0-9]+|[\u3400-\u9fff]+", content.lower())
    return f"{'-'.join(words)[:40].strip('-')}-{hashlib.sha256(content.encode()).hexdigest()[:6]}".strip("-")
