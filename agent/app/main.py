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

__all__ = ["collect_again", "main", "perform"]

PIPE_CLOSED = 141
COMPLETION = ("--install-completion", "--show-completion")


def main() -> None:
    """Run the command line of this process. Raises `SystemExit` with the exit code."""
    words = sys.argv[1:]
    if words[:1] in (["--version"], ["-V"]):
        from agent.app.version import VERSION

        _mend_streams()
        sys.stdout.write(f"my-agent {VERSION}\n")
        _leave(0)
    _mend_streams()
    from agent.app.signals import raise_on_signals

    with raise_on_signals():
        code = perform(words)
    _leave(code)


def perform(words: Sequence[str]) -> int:
    """Run one command line in this process and return its exit code. Nothing but a bug raises out of it."""
    from agent.app.exits import Exit, exit_of
    from agent.app.failing import report

    try:
        return int(_dispatch(words))
    except BrokenPipeError:
        # The reader has seen enough; what is left goes nowhere, quietly
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
        return int(Exit.PIPE)
    except BaseException as error:
        code, kind = exit_of(error)
        report(error, code, kind, words)
        return int(code)


def collect_again() -> None:
    """Let the collector work from here on, without what the imports made."""
    gc.freeze()
    gc.enable()


def _dispatch(words: Sequence[str]) -> int:
    from agent.app.commands import UnknownCommand, help_text, route
    from agent.app.exits import UsageProblem

    if (words[:1] and words[0].split("=")[0] in COMPLETION) or "_MY_AGENT_COMPLETE" in os.environ:
        from agent.app.shell_completion import complete

        return complete(words)
    try:
        found = route(words)
    except UnknownCommand as error:
        raise UsageProblem(str(error)) from error
    if found.command is None:
        before_end = words[: words.index("--")] if "--" in words else words
        if found.path or any(word in ("-h", "--help") for word in before_end) or list(words) == ["help"]:
            print(help_text(found.path))  # noqa: T201
            return 0
    from agent.app.parsing import call

    if found.command is None:
        return _prompt(found.rest)
    return call(found.path, found.command, found.rest)


def _prompt(words: Sequence[str]) -> int:
    """Run a line without a command: a chat where a person sits at both ends, else one task.

    A flag that only `run` has makes it a task in a terminal too.
    """
    from agent.app.commands import COMMANDS, Command
    from agent.app.options import FLAGS
    from agent.app.output import is_terminal
    from agent.app.parsing import call

    once = {name for flag in FLAGS if flag.scope == "run" for name in flag.names}
    wants_task = any(word.partition("=")[0] in once for word in words)
    name = "chat" if is_terminal(sys.stdin) and is_terminal(sys.stdout) and not wants_task else "run"
    command = COMMANDS[name]
    assert isinstance(command, Command)  # noqa: S101 - the table says so
    return call((name,), command, words)


def _mend_streams() -> None:
    """Make streams that may be closed, or cannot write every character, fit for use."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
        else:
            stream.reconfigure(errors="replace")


def _leave(code: int) -> None:
    """End the process: what the interpreter would tidy up on its way out, the system frees at once."""
    import atexit

    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = code or PIPE_CLOSED
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    except (OSError, ValueError):
        code = code or 1
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    atexit.register(_end, code)  # the last one to be registered is the first to be called
    raise SystemExit(code)


def _end(code: int) -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            code = code or 1  # what was printed last did not arrive
    os._exit(code)
