"""`report`: an error that ended a command, told as the flags want it: one sentence, or one JSON object."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise

from agent.app.exits import AppProblem, Exit, UsageProblem
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
    """Tell the person, and with --json the program that asked. The line may be too broken to be parsed."""
    words = words[: words.index("--")] if "--" in words else words
    forms = [two for one, two in pairwise(words) if one == "--output-format"]
    forms += [word.partition("=")[2] for word in words if word.startswith("--output-format=")]
    wants_json = "--json" in words or "json" in forms or "stream-json" in forms
    verbose = sum(word.count("v") for word in words if word in ("-v", "-vv")) + words.count("--verbose")
    output = open_output("never" if wants_json else None, verbose=verbose)
    if code == Exit.INTERNAL:
        where = ""
        trace = error.__traceback__
        while trace is not None:
            where, trace = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}", trace.tb_next
        said = f"internal error: {type(error).__name__}: {sentence(error)} ({where}; -vv shows more)"
        output.problem(f"my-agent: {said}")
    elif wants_json or not isinstance(error, KeyboardInterrupt):
        output.problem(f"my-agent: {sentence(error)}")
    if wants_json:
        from agent.app.jsonl import outcome

        told = {"kind": kind, "message": sentence(error)}
        whole = outcome(exit_code=int(code), error=told)
        with suppress(OSError):  # stdout may be what failed
            output.line(whole if _is_run(words) else {"exit_code": int(code), "error": told})
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
    from agent.app.routing import route

    try:
        return route(words).path in ((), ("run",))
    except UsageProblem:
        return False
