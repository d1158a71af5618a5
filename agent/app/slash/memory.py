"""Commands about memory. What they write is on disk at once and in the prompt of the next talk."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from agent.app.bar import bar
from agent.app.plain import one_line, shorten
from agent.app.style import DIM, NOTE

if TYPE_CHECKING:
    from agent.app.chat import Chat
    from memory import MemoryStore

__all__ = ["forget", "recall", "remember", "show", "targets", "words"]

Target = Literal["memory", "user"]
TARGETS: tuple[Target, Target] = ("memory", "user")
OFF = "Memory is off here. `my-agent init` makes a folder for it; --memory-dir DIR names one"
USER_FLAGS = ("--user", "-u")
FOUND_CHARS = 4_000


def words(chat: Chat) -> Iterator[tuple[str, str]]:
    yield "search", "find entries"


def targets(chat: Chat) -> Iterator[tuple[str, str]]:
    yield "--user", "about you, in USER.md; else a note for the agent, in MEMORY.md"


async def show(chat: Chat, rest: str) -> None:
    store = chat.agent.memory_store
    if store is None:
        chat.say(OFF, NOTE)
        return
    verb, _, query = rest.partition(" ")
    if verb == "search" and query.strip():
        await _search(chat, store, query.strip())
    elif rest:
        chat.say("Usage: /memory, or /memory search WORDS", NOTE)
    else:
        chat.show("\n".join(_overview(chat, store)))


async def remember(chat: Chat, rest: str) -> None:
    store = chat.agent.memory_store
    flag, _, text = rest.partition(" ")
    target: Target = "user" if flag in USER_FLAGS else "memory"
    text = text.strip() if flag in USER_FLAGS else rest
    if store is None:
        chat.say(OFF, NOTE)
    elif not text:
        chat.say("Usage: /remember [--user] TEXT", NOTE)
    else:
        done = store.add(target, text)
        chat.show(f"{done} It is in the prompt from the next talk on; /new begins one")


async def forget(chat: Chat, rest: str) -> None:
    from memory import EntryNotFound

    store = chat.agent.memory_store
    if store is None:
        chat.say(OFF, NOTE)
        return
    if not rest:
        chat.say("Usage: /forget TEXT, where TEXT is part of one entry", NOTE)
        return
    there = [target for target in TARGETS if any(rest in entry for entry in store.entries(target))]
    if len(there) > 1:
        chat.say(f"Both files hold {rest!r}; give more of the entry", NOTE)
        return
    try:
        chat.show(store.remove(there[0] if there else "memory", rest))
    except EntryNotFound:
        if there:
            raise
        chat.show(store.remove("user", rest))


async def recall(chat: Chat, rest: str) -> None:
    if not chat.agent.memory.tools():
        chat.say("There is no archive here: [memory] backend in the configuration switches it on", NOTE)
        return
    if not rest:
        chat.say("Usage: /recall WORDS", NOTE)
        return
    found = await chat.interrupts.run(chat.agent.memory.prefetch(rest))
    for notice in chat.agent.memory.take_notices():
        chat.say(notice, NOTE)
    chat.show(found or "Nothing was found")


def _overview(chat: Chat, store: MemoryStore) -> Iterator[str]:
    yield f"Folder: {store.mem_dir}"
    names = {"memory": "MEMORY.md", "user": "USER.md"}
    waiting = 0
    for target in TARGETS:
        entries, limit = store.entries(target), store.limits[target]
        used = store.used(target)
        yield ""
        yield f"{names[target]:<10} {bar(used, limit)} {used:,}/{limit:,} characters ({100 * used // limit} %)"
        in_prompt = set(store.snapshot(target))
        for entry in entries:
            waiting += entry not in in_prompt
            mark = "●" if entry in in_prompt else "○"
            yield f"  {mark} {shorten(one_line(entry), chat.screen.columns - 4)}"
        gone = [entry for entry in in_prompt if entry not in entries]
        yield from (f"  ✗ {shorten(one_line(entry), chat.screen.columns - 4)}" for entry in gone)
        if not entries and not gone:
            yield "  (empty)"
    yield ""
    yield "● in this prompt   ○ in the prompt of the next talk (/new)   ✗ removed, still in this prompt"


async def _search(chat: Chat, store: MemoryStore, query: str) -> None:
    wanted = query.casefold().split()
    hits = [
        f"{target}: {one_line(entry)}"
        for target in TARGETS
        for entry in store.entries(target)
        if all(word in entry.casefold() for word in wanted)
    ]
    chat.show("\n".join(hits) or f"No entry of MEMORY.md or USER.md holds {query!r}")
    if chat.agent.memory.tools():
        found = await chat.interrupts.run(chat.agent.memory.prefetch(query))
        if found:
            chat.say("In the archive:", DIM)
            chat.show(found[:FOUND_CHARS])
