"""Commands about memory. What they write is on disk at once, and in the prompt from the next talk on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

from agent.app.bar import bar
from agent.app.plain import one_line, shorten
from agent.app.style import DIM, NOTE

if TYPE_CHECKING:
    from agent.app.repl import Chat
    from memory import MemoryStore
    from tools import Tool, ToolResult

__all__ = ["forget", "recall", "remember", "show"]

Target = Literal["memory", "user"]
TARGETS: tuple[Target, Target] = ("memory", "user")
OFF = "Memory is off here. `my-agent init` makes a folder for it; --memory-dir DIR names one"


async def show(chat: Chat, rest: str) -> None:
    store = chat.agent.memory_store
    verb, _, query = rest.partition(" ")
    if verb == "search" and query.strip():
        await _search(chat, query.strip())
    elif rest:
        chat.say("Usage: /memory, or /memory search WORDS", NOTE)
    elif store is None:
        chat.say(OFF, NOTE)
    else:
        chat.screen.show("\n".join(_overview(chat, store)))


async def _search(chat: Chat, query: str) -> None:
    """Show the entries of both layers: curated ones with all the words, and what the archive finds."""
    store, words = chat.agent.memory_store, query.casefold().split()
    held = [] if store is None else [(target, entry) for target in TARGETS for entry in store.reread(target)]
    hits = [f"{target}: {one_line(entry)}" for target, entry in held if all(one in entry.casefold() for one in words)]
    if store is not None:
        chat.screen.show("\n".join(hits) or f"No entry of MEMORY.md or USER.md holds {query!r}")
    if store is None or chat.agent.registry.get("memory_search") is not None:
        await recall(chat, query)


async def remember(chat: Chat, rest: str) -> None:
    store = _own_store(chat)
    flag, _, text = rest.partition(" ")
    target: Target = "user" if flag == "--user" else "memory"
    text = text.strip() if target == "user" else rest
    if store is None:
        chat.say(OFF, NOTE)
    elif not text:
        chat.say("Usage: /remember [--user] TEXT", NOTE)
    else:
        chat.screen.show(store.add(target, text))
        chat.say("It is in the prompt from the next talk on; /new begins one", DIM)


async def forget(chat: Chat, rest: str) -> None:
    store, archive = _own_store(chat), chat.agent.registry.get("memory_forget")
    there = [target for target in TARGETS if store is not None and any(rest in one for one in store.reread(target))]
    if not rest:
        chat.say("Usage: /forget TEXT, where TEXT is part of one entry", NOTE)
    elif len(there) == 2:
        chat.say(f"Both MEMORY.md and USER.md hold {rest!r}; give more of the entry", NOTE)
    elif store is not None and there:
        chat.screen.show(store.remove(there[0], rest))
    elif archive is not None:
        result = await _use(chat, archive, key=rest)
        chat.screen.show(f"Removed from the archive: {rest}" if result.ok else str(result.error))
    elif store is None:
        chat.say(OFF, NOTE)
    else:
        chat.say(f"No entry of MEMORY.md or USER.md holds {rest!r}; /memory shows them all", NOTE)


async def recall(chat: Chat, rest: str) -> None:
    manager, archive = chat.agent.memory.manager, chat.agent.registry.get("memory_search")
    if not rest:
        chat.say("Usage: /recall WORDS", NOTE)
    elif archive is not None:
        result = await _use(chat, archive, query=rest)
        found: dict[str, Any] = (
            result.data if result.ok and isinstance(result.data, dict) else {"warning": result.error}
        )
        if warning := found.get("warning"):
            chat.say(f"The archive: {warning}", NOTE)
        chat.screen.show("\n".join(map(_hit, found.get("entries") or ())) or f"The archive holds nothing for {rest!r}")
    elif manager.provider is not None:
        recalled = await chat.interrupts.run(manager.prefetch(rest))
        for notice in manager.take_notices():
            chat.say(notice, NOTE)
        chat.screen.show(recalled or "Nothing was found")
    else:
        chat.say("There is no archive here: [memory] backend in the configuration switches it on", NOTE)


def _own_store(chat: Chat) -> MemoryStore | None:
    """The memory of the agent, with the person as the author of what is written."""
    from memory import MemoryStore, Origin

    agent = chat.agent
    store = agent.memory_store
    if store is None:
        return None
    session = agent.session.id if agent.session is not None else ""
    author = Origin(author="user", agent=agent.name, session=session, turn=agent.turn)
    return MemoryStore(store.mem_dir, store.limits["memory"], store.limits["user"], origin=lambda: author)


def _overview(chat: Chat, store: MemoryStore) -> Iterator[str]:
    yield f"Folder: {store.mem_dir}"
    room = max(20, chat.screen.columns - 4)
    for target in TARGETS:
        entries, frozen, limit = store.reread(target), store.snapshot(target), store.limits[target]
        used = len("\n§\n".join(entries))
        yield ""
        yield f"{store.files[target]:<10} {bar(used, limit)} {used:,}/{limit:,} characters ({100 * used // limit} %)"
        for entry in entries:
            yield f"  {'●' if entry in frozen else '○'} {shorten(one_line(entry), room)}"
        yield from (f"  ✗ {shorten(one_line(entry), room)}" for entry in frozen if entry not in entries)
        if not entries and not frozen:
            yield "  (empty)"
    yield ""
    yield "● in this prompt  ○ from the next talk on (/new)  ✗ removed, but in this prompt"


def _hit(entry: dict[str, Any]) -> str:
    score = entry.get("score")
    points = f"{score:.2f} " if isinstance(score, float) else ""
    return f"{points}{entry.get('key')} ({entry.get('category')}): {one_line(str(entry.get('content')))}"


async def _use(chat: Chat, tool: Tool, **arguments: str) -> ToolResult:
    """Use a tool of the archive for the person. The policy is about what the model does, so it is not asked."""
    return await chat.interrupts.run(tool.execute(json.dumps(arguments, ensure_ascii=False)))
