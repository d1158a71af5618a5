"""What outlives a session. Names are loaded where they are first used; the archive is `memory.archive`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memory.content import Target
    from memory.entries import ENTRY_DELIMITER, join_entries, parse_entries
    from memory.journal import Change, Journal, Origin
    from memory.manager import MemoryManager, MemoryProvider, ProviderUnavailable, load_provider
    from memory.refusal import (
        AmbiguousMatch,
        BudgetExceeded,
        ContentRefused,
        EntryNotFound,
        MemoryRefusal,
        StoreBusy,
        StoreChanged,
        StoreDamaged,
    )
    from memory.store import MEMORY_CHAR_LIMIT, USER_CHAR_LIMIT, MemoryStore
    from memory.tool import make_memory_tool

__all__ = [
    "ENTRY_DELIMITER",
    "MEMORY_CHAR_LIMIT",
    "USER_CHAR_LIMIT",
    "AmbiguousMatch",
    "BudgetExceeded",
    "Change",
    "ContentRefused",
    "EntryNotFound",
    "Journal",
    "MemoryManager",
    "MemoryProvider",
    "MemoryRefusal",
    "MemoryStore",
    "Origin",
    "ProviderUnavailable",
    "StoreBusy",
    "StoreChanged",
    "StoreDamaged",
    "Target",
    "join_entries",
    "load_provider",
    "make_memory_tool",
    "parse_entries",
]

HOMES = {
    "memory.content": ("Target",),
    "memory.entries": ("ENTRY_DELIMITER", "join_entries", "parse_entries"),
    "memory.journal": ("Change", "Journal", "Origin"),
    "memory.manager": ("MemoryManager", "MemoryProvider", "ProviderUnavailable", "load_provider"),
    "memory.refusal": (
        "AmbiguousMatch",
        "BudgetExceeded",
        "ContentRefused",
        "EntryNotFound",
        "MemoryRefusal",
        "StoreBusy",
        "StoreChanged",
        "StoreDamaged",
    ),
    "memory.store": ("MEMORY_CHAR_LIMIT", "USER_CHAR_LIMIT", "MemoryStore"),
    "memory.tool": ("make_memory_tool",),
}
HOME_OF = {name: home for home, names in HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load the module of a name when the name is first used, so that a light command stays light."""
    if name not in HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(HOME_OF[name]), name)
    return value
