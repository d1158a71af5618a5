"""`report`: an error that ended a command, told as the flags want it: one sentence, or one JSON object."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import pairwise

from agent.app.exits import AppProblem, Exit
from agent.app.output import Output, open_output

__all__ = ["report", "sentence", "show_trace"]


def sentence(error: BaseException) -> str:
    """Return what a person should read: no traceback, no name of a class where the text says it, no key."""
    from agent.redact import redact

    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    text = str(error).strip() or type(error).__name__
    if isinstance(error, OSError) and error.strerror:
        text = f"{str(error.filename)!r}: {error.strerror}" if error.filename else error.strerror
    notes = getattr(error, "__notes__", [])
    return redact(". ".join([text.rstrip("."), *notes]) if notes else text)


def report(error: BaseException, code: int, kind: str, words: Sequence[str]) -> None:
    """Tell the person, and with --json the program that asked. Never raises for want of a stream."""
    before_end = words[: words.index("--")] if "--" in words else words
    output = _output(before_end)
    if code == Exit.INTERNAL:
        _explain_bug(error, output)
    elif not (isinstance(error, KeyboardInterrupt) and not wants_json(before_end)):
        output.problem(f"my-agent: {sentence(error)}")
    if wants_json(before_end):
        from agent.app.jsonl import failure

        found = failure(code, kind, sentence(error))
        output.line(found if _is_run(before_end) else {"exit_code": int(code), "error": found["error"]})
    show_trace(error, output)


def show_trace(error: BaseException, output: Output) -> None:
    """With -vv, show where an error came from, unless it is only the person's to put right."""
    if isinstance(error, AppProblem) or output.verbose < 2:
        return
    import traceback

    from agent.redact import redact

    output.problem(redact("".join(traceback.format_exception(error))))


def _is_run(words: Sequence[str]) -> bool:
    """Say whether this line is one of `run`, with or without that word."""
    from agent.app.commands import UnknownCommand, route

    try:
        return route(words).path in ((), ("run",))
    except UnknownCommand:
        return False


def wants_json(words: Sequence[str]) -> bool:
    """Say whether this line of `run` asks for JSON; it may be too broken to be parsed."""
    formats = [two for one, two in pairwise(words) if one == "--output-format"]
    formats += [word.partition("=")[2] for word in words if word.startswith("--output-format=")]
    return "--json" in words or any(one in ("json", "stream-json") for one in formats)


def _output(words: Sequence[str]) -> Output:
    verbose = sum(word.count("v") for word in words if word in ("-v", "-vv", "-vvv")) + words.count("--verbose")
    color = "never" if wants_json(words) else None
    output = open_output(color, verbose=verbose)
    output.stdout = sys.stdout
    return output


def _explain_bug(error: BaseException, output: Output) -> None:
    where = ""
    trace = error.__traceback__
    while trace is not None:
        where, trace = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}", trace.tb_next
    output.problem(f"my-agent: internal error: {type(error).__name__}: {sentence(error)} ({where}; -vv shows more)")
