"""`exit_of`: the one table of exit codes, and the errors that are the command line's own."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

__all__ = ["AppProblem", "ConfigProblem", "Exit", "Terminated", "TimedOut", "UsageProblem", "exit_of", "guess"]


class Exit(IntEnum):
    """What each means stands in docs/configuration.md."""

    DONE = 0
    INTERNAL = 1
    USAGE = 2
    KEY = 3
    PROVIDER = 4
    REFUSED = 5
    LIMIT = 6
    APPROVAL = 7
    BUSY = 8
    TIMEOUT = 124
    HANGUP = 129
    INTERRUPTED = 130
    PIPE = 141
    TERMINATED = 143


class AppProblem(Exception):
    """Something the person has to put right; the text says what and how.

    AppProblem
    ├── UsageProblem       the command line is wrong
    ├── ConfigProblem      the configuration is wrong: names key, value and choices
    └── TimedOut           --timeout has passed
    """


class UsageProblem(AppProblem):
    pass


class ConfigProblem(AppProblem):
    pass


class TimedOut(AppProblem):
    pass


class Terminated(BaseException):
    """A signal asks the program to end; not an `Exception`, so that nothing on the way takes it for a failure."""

    def __init__(self, code: int) -> None:
        super().__init__(f"ended by signal {code - 128}")
        self.code = code


# By name, so that nothing is loaded for it; the first class of an error that stands here counts
_EXITS = {
    "UsageProblem": (Exit.USAGE, "usage"),
    "ConfigProblem": (Exit.USAGE, "config"),
    "TimedOut": (Exit.TIMEOUT, "timeout"),
    "KeyboardInterrupt": (Exit.INTERRUPTED, "interrupted"),
    "CancelledError": (Exit.INTERRUPTED, "interrupted"),
    "KeyRefused": (Exit.KEY, "auth"),
    "EmptyAnswer": (Exit.PROVIDER, "empty"),
    "ContextOverflow": (Exit.REFUSED, "context"),
    "RequestRefused": (Exit.REFUSED, "refused"),
    "ModelFailure": (Exit.PROVIDER, "provider"),
    "EmbeddingUnavailable": (Exit.PROVIDER, "provider"),
    "BudgetExceeded": (Exit.LIMIT, "limit"),
    "SessionUnavailable": (Exit.BUSY, "session"),
    "StoreBusy": (Exit.BUSY, "session"),
    "StoreChanged": (Exit.BUSY, "session"),
    "StoreDamaged": (Exit.BUSY, "session"),
    "MemoryRefusal": (Exit.USAGE, "usage"),
    "ArchiveRefusal": (Exit.USAGE, "usage"),
    "OSError": (Exit.BUSY, "session"),
}


def exit_of(error: BaseException) -> tuple[int, str]:
    """Return the exit code of an error, and the word that `--json` reports for its kind."""
    if isinstance(error, Terminated):
        return error.code, "terminated"
    names = [kind.__name__ for kind in type(error).__mro__]
    return next((_EXITS[name] for name in names if name in _EXITS), (Exit.INTERNAL, "internal"))


def guess(word: str, names: Iterable[str], cutoff: float = 0.8) -> str:
    """Return the end of a sentence about an unknown word: what was probably meant, or a full stop."""
    from difflib import get_close_matches  # only on the way to an error

    close = get_close_matches(word, names, n=1, cutoff=cutoff)
    return f"; did you mean {close[0]!r}?" if close else "."
