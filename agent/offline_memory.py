"""What the offline model does about memory: remember, forget, replace, recall.

Each function gets the calls made for its request so far, and returns what comes next: calls, or the answer.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence

from agent.chinese import fold
from agent.offline_knowledge import Done, Entry, exact, found_in, holding, relevant
from agent.offline_rules import Request
from agent.offline_turn import Call, Step, Turn, bare, listed

__all__ = ["forget", "recall", "remember", "replace"]

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


def remember(turn: Turn, request: Request, done: list[Done]) -> Step:
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


def forget(turn: Turn, request: Request, done: list[Done]) -> Step:
    what = bare(request.pieces["what"])
    if done and done[-1].name != "memory_search":
        return _forgotten(turn, what, done)
    entries = [entry for entry in turn.before if entry.target]
    if not what or re.fullmatch(
        r"it|this|that|everything|all(?: .*)?|一切|所有.*|全部.*|这个|那个", what, re.IGNORECASE
    ):
        return turn.say("say_which", entries=listed(entries)) if turn.has_memory() else turn.say("memory_off")
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
    if last.failed and len(done) == 2 and all("not found" in one.result for one in done):
        return turn.say("none_fits", what=what)
    if last.failed:
        return turn.say("not_forgotten", error=last.result)
    return turn.say("forgot", content=last.arguments.get("old_text") or last.arguments.get("key"))


def replace(turn: Turn, request: Request, done: list[Done]) -> Step:
    if done:
        arguments = done[-1].arguments
        if done[-1].failed:
            return turn.say("not_replaced", error=done[-1].result)
        return turn.say("replaced", old=arguments.get("old_text"), new=arguments.get("new_content"))
    if "memory" not in turn.offered:
        return turn.say("memory_off")
    entries = [entry for entry in turn.before if entry.target]
    old, new = _divided(request, entries)

    def call(hit: Entry) -> Call:
        part = re.search(re.escape(fold(old)), fold(hit.text), re.IGNORECASE)
        content = new if part is None else hit.text[: part.start()] + new + hit.text[part.end() :]
        return "memory", {"target": hit.target, "action": "replace", "old_text": hit.text, "new_content": content}

    return _one(turn, old, exact(entries, old), call)


def _divided(request: Request, entries: Sequence[Entry]) -> tuple[str, str]:
    """The old and the new text: a `with` may stand inside either, so the longest old one that an entry holds counts."""
    old, new = request.pieces["old"], request.pieces["new"]
    text = request.text[request.text.index(old) : request.text.rindex(new) + len(new)]
    for match in reversed(list(re.finditer(r" (?:with|by|to|into) |(?:[换改]|更新|更正)[为為成]", text))):
        if holding(entries, bare(text[: match.start()])):
            return bare(text[: match.start()]), bare(text[match.end() :])
    return bare(old), bare(new)


def recall(turn: Turn, request: Request, done: list[Done]) -> Step:
    topic = bare(request.pieces.get("topic", ""))
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
        return failed + turn.say("known" if len(found) > 1 else "known_one", entries=listed(found))
    if hits:
        return turn.say("closest", entries=listed(hits))
    if not turn.entries and not failed and general:
        return turn.say("memory_empty")
    return failed + (turn.say("not_known", topic=topic) if general and topic else turn.say("no_answer"))


def _one(turn: Turn, what: str, hits: list[Entry], call: Callable[[Entry], Call]) -> Step:
    if len(hits) == 1:
        return [call(hits[0])]
    if hits:
        return turn.say("which", count=len(hits), what=what, entries=listed(hits))
    return turn.say("none_fits", what=what)


def _tidy(content: str) -> str:
    """The content of an entry as a sentence: ordinary words get their capital, names and commands stay as they are."""
    content = bare(content, stops=False)
    if content.lower().startswith("to "):
        content = f"Remember {content}"
    return content[:1].upper() + content[1:] if _ORDINARY.match(content) else content


def _key(content: str) -> str:
    """A key for the archive: readable, and never that of another entry, which would be replaced."""
    words = re.findall(r"[a-z0-9]+|[\u3400-\u9fff]+", content.lower())
    return f"{'-'.join(words)[:40].strip('-')}-{hashlib.sha256(content.encode()).hexdigest()[:6]}".strip("-")
