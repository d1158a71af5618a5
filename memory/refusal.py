"""What memory says no to: nothing was changed, and the text is a whole sentence, for the model and for a person.

    MemoryRefusal (ValueError)
    ├── ContentRefused           the guard's no: a delimiter line, an order, a secret, hidden characters
    ├── EntryNotFound            lists the entries
    ├── AmbiguousMatch           lists the entries that match
    ├── BudgetExceeded           lists all entries
    ├── StoreDamaged             a file that cannot be read, or is not UTF-8; its bytes stay
    ├── StoreBusy                another process holds the lock
    └── StoreChanged             the file is no longer what a slow writer began with

A full or read-only disk is an `OSError` that names the file and the reason.
"""


class MemoryRefusal(ValueError): ...


class ContentRefused(MemoryRefusal): ...


class EntryNotFound(MemoryRefusal): ...


class AmbiguousMatch(MemoryRefusal): ...


class BudgetExceeded(MemoryRefusal): ...


class StoreDamaged(MemoryRefusal): ...


class StoreBusy(MemoryRefusal): ...


class StoreChanged(MemoryRefusal): ...
