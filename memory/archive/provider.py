"""`ArchiveProvider`: the archive as the model knows it: five tools, four under access control, and recall unasked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from memory.archive.access import Principal
from memory.archive.archive import Archive, Found
from memory.archive.entry import CORE, ArchiveUnavailable, Entry
from tools import Tool

__all__ = ["ArchiveProvider"]

RECALLED_ENTRIES, RECALLED_CHARS = 5, 1_500
RECALLED_ENTRY_CHARS, LEAST_CHARS = 600, 100
SEARCH_LIMIT, RECALL_LIMIT = 10, 5

Key = Annotated[str, Field(description="Name of the entry, 1 to 256 characters, such as user_timezone.")]
Query = Annotated[str, Field(description="What to look for, in plain words of any language.")]
Tags = Annotated[list[str] | None, Field(description="Only entries that bear all of these tags.")]
Category = Annotated[str | None, Field(description="Only entries of this category.")]


class ArchiveProvider:
    """Lets one agent use an archive. `notices` are sentences for the person, to be shown once."""

    name = "archive"

    def __init__(self, archive: Archive, who: Principal | Callable[[], Principal]) -> None:
        """`who` may be asked anew at each call, for an agent whose session changes."""
        self._archive, self._asking = archive, who
        self._warned = False
        self.notices: list[str] = []

    @property
    def _who(self) -> Principal:
        return self._asking if isinstance(self._asking, Principal) else self._asking()

    @property
    def folders(self) -> Sequence[Path]:
        return self._archive.folders

    def tools(self) -> list[Tool]:
        """Return memory_store, memory_forget, memory_get, memory_recall (not under access control), memory_search."""
        tools = [
            Tool(self.memory_store, inheritable=False, preview=self._lost_by_store),
            Tool(self.memory_forget, inheritable=False, preview=self._lost_by_forget),
            Tool(self.memory_get, inheritable=False, parallel=True),
            Tool(self.memory_recall, inheritable=False, parallel=True),
            Tool(self.memory_search, inheritable=False, parallel=True),
        ]
        return [tool for tool in tools if not (self._archive.access.enabled and tool.name == "memory_recall")]

    async def memory_store(
        self,
        key: Key,
        content: Annotated[str, Field(description="The fact itself, complete in a sentence or a few.")],
        category: Annotated[
            str | None,
            Field(
                description="core (kept for ever), daily (some days), conversation (this conversation only) or a name "
                "of your own, such as project_alpha (kept for ever)."
            ),
        ] = CORE,
        tags: Annotated[list[str] | None, Field(description="Words to filter by later.")] = None,
        metadata: Annotated[dict[str, Any] | None, Field(description="Further fields, as a JSON object.")] = None,
        **ignored: Any,
    ) -> dict[str, Any]:
        """Keep a fact, preference or note for later conversations under a key. An entry of the same key is replaced."""
        kept = await self._archive.store(
            self._who, key, content, category=CORE if category is None else category, tags=tags or (), metadata=metadata
        )
        return {"ok": True, "status": kept.status, **self._warning(kept.warning)}

    async def memory_forget(self, key: Key, **ignored: Any) -> dict[str, Any]:
        """Remove the entry of this key for good."""
        await self._archive.forget(self._who, key)
        return {"ok": True}

    async def memory_get(self, key: Key, **ignored: Any) -> dict[str, Any]:
        """Return the entry of exactly this key."""
        return {"ok": True, "entry": (await self._archive.get(self._who, key)).as_json()}

    async def memory_recall(
        self, query: Query, limit: Annotated[int | None, Field(description="How many entries.")] = None, **ignored: Any
    ) -> dict[str, Any]:
        """Recall entries that have to do with something, by words and by meaning."""
        limit = RECALL_LIMIT if limit is None else limit
        return self._answer(await self._archive.search(self._who, query, limit=limit))

    async def memory_search(
        self,
        query: Query,
        category: Category = None,
        tags: Tags = None,
        limit: Annotated[int | None, Field(description="How many entries, up to 100; 10 if not given.")] = None,
        search_type: Annotated[
            Literal["text", "vector", "hybrid"] | None,
            Field(description="text: by words; vector: by meaning; hybrid (if not given): by both."),
        ] = None,
        **ignored: Any,
    ) -> dict[str, Any]:
        """Search the entries by words, by meaning or by both, in all of them or by category and tags."""
        found = await self._archive.search(
            self._who,
            query,
            category=category,
            tags=tags or (),
            limit=SEARCH_LIMIT if limit is None else limit,
            search_type=search_type or "hybrid",
        )
        return self._answer(found)

    async def prefetch(self, query: str) -> str:
        """Return what is known about a user's input: up to 5 entries, 1,500 characters; "" under access control."""
        if self._archive.access.enabled:
            return ""
        try:
            found = await self._archive.search(self._who, query, limit=RECALLED_ENTRIES, unasked=True)
        except (ValueError, ArchiveUnavailable) as error:
            self._notice(f"nothing was recalled: {error}")
            return ""
        self._warning(found.warning)
        lines: list[str] = []
        room = RECALLED_CHARS
        for hit in found.hits:
            line = shortened(f"- {hit.entry.key}: {hit.entry.content}", min(RECALLED_ENTRY_CHARS, room))
            if line:
                lines.append(line)
                room -= len(line) + 1
        return "\n".join(lines)

    async def close(self) -> None:
        await self._archive.close()

    async def _lost_by_forget(self, arguments: Mapping[str, Any]) -> str:
        return lost("forgets", await self._archive.lost_by(self._who, str(arguments.get("key", "")), storing=False))

    async def _lost_by_store(self, arguments: Mapping[str, Any]) -> str:
        return lost("replaces", await self._archive.lost_by(self._who, str(arguments.get("key", "")), storing=True))

    def _answer(self, found: Found) -> dict[str, Any]:
        entries = [{**hit.entry.as_json(), "score": hit.score} for hit in found.hits]
        return {"ok": True, "entries": entries, **self._warning(found.warning)}

    def _warning(self, text: str) -> dict[str, str]:
        if text and self._archive.embeds:
            self._notice(text)
        return {"warning": text} if text else {}

    def _notice(self, text: str) -> None:
        """Tell the person once, not at every turn."""
        if not self._warned:
            self._warned = True
            self.notices.append(f"memory: {text}")


def shortened(text: str, limit: int) -> str:
    """Return the text, cut if it is longer; "" where too little of it would be left."""
    if len(text) <= limit:
        return text
    return f"{text[: limit - 2]} …" if limit > LEAST_CHARS else ""


def lost(verb: str, entries: Sequence[Entry]) -> str:
    """Return what a person is shown before it is lost, "" where nothing is."""
    return "\n".join(
        f"{verb} {each.key!r} ({each.category}, {each.updated:%Y-%m-%d}):\n{each.content}" for each in entries
    )
