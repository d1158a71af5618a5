"""What outlives a session. Names are loaded where they are first used; the archive is `memory.archive`."""
# ruff: noqa: F403 (only type checkers see these imports; the names are below)

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memory.credentials import *
    from memory.entries import *
    from memory.journal import *
    from memory.manager import *
    from memory.refusal import *
    from memory.store import *
    from memory.tool import *

HOMES = {
    "credentials": "KEY_NAME SHORTEST_KEY credential_kind hide_credentials known_keys",
    "entries": "ENTRY_DELIMITER Target join_entries parse_entries",
    "journal": "Change Journal Origin",
    "manager": "MemoryManager MemoryProvider ProviderUnavailable load_provider",
    "refusal": "AmbiguousMatch BudgetExceeded ContentRefused EntryNotFound MemoryRefusal StoreBusy StoreChanged "
    "StoreDamaged",
    "store": "MEMORY_CHAR_LIMIT USER_CHAR_LIMIT MemoryStore",
    "tool": "make_memory_tool",
}
HOME_OF = {name: home for home, names in HOMES.items() for name in names.split()}
__all__ = sorted(HOME_OF)


def __getattr__(name: str) -> Any:
    """Load the module of a name when the name is first used, so that a light command stays light."""
    if name not in HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"memory.{HOME_OF[name]}"), name)
    return value
