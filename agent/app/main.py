"""`main`: the entry of `my-agent`. Each command is imported when it is the one that was asked for."""

from __future__ import annotations

import gc

gc.disable()
# Nothing that imports leave is garbage; `collect_again` ends this. It saves a quarter of the CPU of a short run.

import os  # noqa: E402
import sys  # noqa: E402

TYPE_CHECKING = False  # the module `typing` would double the time of --version
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

__all__ = ["collect_again", "main", "perform"]

PIPE_CLOSED = 141


def main() -> None:
    """Run the command line of this process. Raises `SystemExit` with the exit code."""
    _mend_streams()
    words = sys.argv[1:]
    if words[:1] == ["--version"]:
        from agent.app.version import VERSION

        sys.stdout.write(f"my-agent {VERSION}\n")
        _leave(0)
    from agent.app.signals import raise_on_signals

    raise_on_signals()
    _leave(perform(words))


def perform(words: Sequence[str]) -> int:
    """Run one command line in this process and return its exit code. Nothing but a bug raises out of it."""
    try:
        return int(_dispatch(words))
    except BrokenPipeError:
        sys.stdout = _nowhere()  # the reader has seen enough
        return PIPE_CLOSED
    except BaseException as error:
        from agent.app.exits import exit_of
        from agent.app.failing import report

        code, kind = exit_of(error)
        report(error, code, kind, words)
        return int(code)


def collect_again() -> None:
    """Let the collector work from here on, without what the imports made."""
    gc.freeze()
    gc.enable()


def _dispatch(words: Sequence[str]) -> int:
    """Run the command that a line names; without one, a chat where a person sits at both ends, else one task.

    A flag that only `run` has makes it a task in a terminal too.
    """
    if "_MY_AGENT_COMPLETE" in os.environ or words[:1] in (["--install-completion"], ["--show-completion"]):
        from agent.app.shell_completion import complete

        return complete(words)
    from agent.app.routing import help_text, route

    found = route(words)
    flags = words[: words.index("--")] if "--" in words else words
    if found.command is None and (found.path or "-h" in flags or "--help" in flags or list(words) == ["help"]):
        print(help_text(found.path))  # noqa: T201
        return 0
    from agent.app.commands import COMMANDS, Command
    from agent.app.options import RUN, TURN
    from agent.app.output import is_terminal
    from agent.app.parsing import call

    if found.command is not None:
        return call(found.path, found.command, found.rest)
    once = {name for flag in RUN if flag not in TURN for name in flag.names}
    person = is_terminal(sys.stdin) and is_terminal(sys.stdout)
    name = "chat" if person and not any(word.partition("=")[0] in once for word in words) else "run"
    command = COMMANDS[name]
    assert isinstance(command, Command)  # noqa: S101 - the table says so
    return call((name,), command, words)


def _mend_streams() -> None:
    """Make streams that may be closed, or cannot write every character, fit for use."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, _nowhere())
        else:
            stream.reconfigure(errors="replace")


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123


def _leave(code: int) -> None:
    """End the process: what the interpreter would tidy up on its way out, the system frees at once."""
    import atexit

    atexit.register(_end, code)  # the last one to be registered is the first to be called
    raise SystemExit(code)


def _end(code: int) -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError) as error:
            # what was printed last did not arrive
            code = code or (PIPE_CLOSED if isinstance(error, BrokenPipeError) else 1)
    os._exit(code)
