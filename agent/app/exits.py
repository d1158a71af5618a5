"""`exit_of`: the one table of exit codes, and the two errors that are the command line's own.

0    done
1    an internal error
2    the command line or the configuration is wrong        usage, config
3    the key is missing or refused                          auth
4    the provider failed or answered nothing                provider, empty
5    the provider refused the request                       refused, context
6    a limit was reached: steps, length, memory budget      limit
7    an approval was needed and nobody could give it        approval
8    a store or a session is busy or damaged                session
124  --timeout                                              timeout
129  SIGHUP    130  Ctrl-C    143  SIGTERM                  terminated, interrupted
141  standard output was closed by its reader
"""

from __future__ import annotations

from enum import IntEnum

__all__ = ["AppProblem", "ConfigProblem", "Exit", "Terminated", "TimedOut", "UsageProblem", "exit_of"]


class Exit(IntEnum):
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
    ├── ConfigProblem      the configuration is wrong
    └── TimedOut           --timeout has passed
    """

    code = Exit.USAGE
    kind = "usage"


class UsageProblem(AppProblem):
    """The command line is wrong."""


class ConfigProblem(AppProblem):
    """The configuration is wrong; the text names the key, the value and the choices."""

    kind = "config"


class TimedOut(AppProblem):
    """`--timeout` has passed."""

    code = Exit.TIMEOUT
    kind = "timeout"


class Terminated(BaseException):
    """A signal asks the program to end; not an `Exception`, so that nothing on the way takes it for a failure."""

    def __init__(self, code: int) -> None:
        super().__init__(f"ended by signal {code - 128}")
        self.code = code


_AGENT_KINDS = {
    "auth": Exit.KEY,
    "provider": Exit.PROVIDER,
    "empty": Exit.PROVIDER,
    "refused": Exit.REFUSED,
    "context": Exit.REFUSED,
    "session": Exit.BUSY,
}


def exit_of(error: BaseException) -> tuple[int, str]:
    """Return the exit code of an error, and the word that `--json` reports for its kind."""
    if isinstance(error, AppProblem):
        return error.code, error.kind
    import asyncio  # 30 ms; here it is loaded already, or time does not matter

    from agent.failures import AgentFailure
    from memory import BudgetExceeded, MemoryRefusal, StoreBusy, StoreChanged, StoreDamaged
    from memory.archive import ArchiveRefusal, EmbeddingUnavailable

    match error:
        case AgentFailure():
            return _AGENT_KINDS.get(error.kind, Exit.INTERNAL), error.kind
        case Terminated():
            return error.code, "terminated"
        case KeyboardInterrupt() | asyncio.CancelledError():
            return Exit.INTERRUPTED, "interrupted"
        case BudgetExceeded():
            return Exit.LIMIT, "limit"
        case StoreBusy() | StoreChanged() | StoreDamaged() | OSError():
            return Exit.BUSY, "session"
        case EmbeddingUnavailable():
            return Exit.PROVIDER, "provider"
        case MemoryRefusal() | ArchiveRefusal():
            return Exit.USAGE, "usage"
    return Exit.INTERNAL, "internal"
