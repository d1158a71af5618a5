"""`MemoryLayers`: the curated memory and the one provider, as an agent uses them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agent.home import MemoryDir, find_memory_dir
from memory import MemoryManager, MemoryStore, Origin, make_memory_tool
from prompts import render
from tools import Tool

if TYPE_CHECKING:
    from memory import MemoryProvider

__all__ = ["MemoryLayers"]


class MemoryLayers:
    """What one agent remembers. Either layer may be off; a sub-agent has neither."""

    def __init__(
        self,
        setting: MemoryDir,
        cwd: Path,
        *,
        provider: MemoryProvider | None,
        limits: tuple[int, int] | None,
        origin: Callable[[], Origin],
    ) -> None:
        folder = find_memory_dir(setting, cwd)
        self.store = None if folder is None else MemoryStore(folder, *(limits or ()), origin=origin)
        self.manager = MemoryManager(provider)

    def tools(self) -> list[Tool]:
        own = [] if self.store is None else [make_memory_tool(self.store)]
        return [*own, *self.manager.tools()]

    def load(self) -> str:
        """Read the curated memory again, freeze it, and return its part of the system prompt: the rules, its block."""
        if self.store is None:
            return ""
        self.store.load_from_disk()
        return f"{render('memory_rules')}\n\n{self.frozen}".rstrip()

    @property
    def frozen(self) -> str:
        return "" if self.store is None else self.store.format_all_for_system_prompt()

    @property
    def folders(self) -> Sequence[Path]:
        """Where its files lie: no sub-agent may read or write there."""
        own = [] if self.store is None else [Path(self.store.mem_dir)]
        return [*own, *self.manager.folders]

    @property
    def notices(self) -> list[str]:
        return [] if self.store is None else list(self.store.notices)
