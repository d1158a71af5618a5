"""A memory provider of one's own: it finds lines of a folder of text files that share words with the message.

    uv run python examples/own_provider.py FOLDER WORDS...

To make it a choice of `my-agent`, a package registers it under the entry-point group `my_agent.memory_providers`:

    [project.entry-points."my_agent.memory_providers"]
    notes = "own_provider:build"
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memory import MemoryManager
from tools import Tool


class NotesProvider:
    """A `MemoryProvider` over the `.txt` and `.md` files of one folder."""

    name = "notes"

    def __init__(self, folder: Path) -> None:
        self.folders = [folder]  # sub-agents may not touch these

    def tools(self) -> Sequence[Tool]:
        return [Tool(self.notes_search, parallel=True)]

    def notes_search(self, query: str) -> str:
        """Find lines of the user's notes that share words with the query, best first."""
        return self._find(query) or "No line of the notes shares a word with the query."

    async def prefetch(self, query: str) -> str:
        """Return what belongs to a message. The manager bounds the time, fences the text and survives a failure."""
        return await asyncio.to_thread(self._find, query)

    async def close(self) -> None:
        """There is nothing to close."""

    def _find(self, query: str) -> str:
        files = [path for path in sorted(self.folders[0].glob("*")) if path.suffix in (".txt", ".md")]
        lines = [line.strip() for path in files for line in path.read_text(encoding="utf-8").split("\n")]
        shared = {line: len(words(query) & words(line)) for line in lines}
        return "\n".join(sorted(filter(shared.get, shared), key=lambda line: -shared[line])[:5])


def words(text: str) -> set[str]:
    """Return Latin words of three letters and more, and pairs of Chinese characters."""
    latin = re.findall(r"[a-z0-9]{3,}", text.lower())
    runs = re.findall(r"[\u4e00-\u9fff]+", text)
    return {*latin, *(run[at : at + 2] for run in runs for at in range(len(run) - 1))}


def build(settings: Mapping[str, Any]) -> NotesProvider:
    """Build the provider from its settings; this is what the entry point names."""
    return NotesProvider(Path(settings["folder"]))


async def show(folder: Path, message: str) -> None:
    """Show what an agent would put before this message. `Agent(provider=...)` does the same once a turn."""
    manager = MemoryManager(NotesProvider(folder))
    print("tools:", ", ".join(tool.name for tool in manager.tools()))
    print(await manager.prefetch(message) or "(nothing found)")
    await manager.close()


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("Usage: uv run python examples/own_provider.py FOLDER WORDS...")
    asyncio.run(show(Path(sys.argv[1]), " ".join(sys.argv[2:])))
