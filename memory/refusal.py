"""What memory says no to.

    MemoryRefusal (ValueError)   the text is a whole sentence, for the model and for a person
    ├── ContentRefused           the guard's no: a delimiter line, an order, a secret, hidden characters
    ├── EntryNotFound            lists the entries
    ├── AmbiguousMatch           lists the entries that match
    ├── BudgetExceeded           lists all entries
    ├── StoreDamaged             a file that cannot be read, or is not UTF-8; its bytes stay
    ├── StoreBusy                another process holds the lock
    └── StoreChanged             the file is no longer what a slow writer began with

A full or read-only disk is an `OSError` that names the file and the reason.
"""

from __future__ import annotations

__all__ = [
    "AmbiguousMatch",
    "BudgetExceeded",
    "ContentRefused",
    "EntryNotFound",
    "MemoryRefusal",
    "StoreBusy",
    "StoreChanged",
    "StoreDamaged",
]


class MemoryRefusal(ValueError):
    """Nothing was changed, and the text says why and what to do."""


class ContentRefused(MemoryRefusal):
    pass


class EntryNotFound(MemoryRefusal):
    pass


class AmbiguousMatch(MemoryRefusal):
    pass


class BudgetExceeded(MemoryRefusal):
    pass


class StoreDamaged(MemoryRefusal):
    pass


class StoreBusy(MemoryRefusal):
    pass


class StoreChanged(MemoryRefusal):
    pass
