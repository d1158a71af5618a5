"""What there is to say, as a model, a server and a log can take it."""

from __future__ import annotations

import logging
import math
import re
from typing import Any

__all__ = ["plain", "sendable", "sentence", "size_in_words", "warn", "with_notes"]

UNSENDABLE = re.compile("[\x00\ud800-\udfff]")  # NUL and half characters: a request that holds one is refused
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

log = logging.getLogger(__name__)


def sendable(text: str) -> str:
    """Return `text` with NUL and lone surrogates replaced, so that any server takes it."""
    return UNSENDABLE.sub(REPLACEMENT, text)


def sentence(error: BaseException) -> str:
    """Return what an error says: its own words if it is a refusal, else with its type before them."""
    if isinstance(error, OSError) and error.strerror:
        place = "" if error.filename is None else f": {str(error.filename)!r}"
        return f"{error.strerror}{place}"
    words = str(error)
    if isinstance(error, ValueError | OSError) and words and not isinstance(error, UnicodeError):
        return words
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def size_in_words(size: int) -> str:
    for unit, bytes_in_it in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= bytes_in_it:
            return f"{size / bytes_in_it:.1f} {unit}"
    return f"{size} bytes"


def with_notes(text: str, notes: list[str]) -> str:
    """Return `text` with what there is to know about it in brackets on a last line."""
    if not notes:
        return text
    gap = "\n" if text and not text.endswith("\n") else ""
    return f"{text}{gap}[{'; '.join(notes)}]"


def warn(what: str, error: BaseException) -> None:
    """Log a fault of ours in one line, with the traceback where somebody looks for faults."""
    log.warning("%s: %s", what, sentence(error), exc_info=error if log.isEnabledFor(logging.DEBUG) else None)


def plain(data: Any) -> Any:
    """Return `data` as JSON data that can be sent. Raises ValueError where it is none."""
    if isinstance(data, str):
        return sendable(data)
    from pydantic_core import to_jsonable_python

    try:
        return _tidy(to_jsonable_python(data))
    except (RecursionError, TypeError, ValueError) as error:
        raise ValueError(f"the tool returned what is not JSON data ({type(data).__name__}): {error}") from error


def _tidy(data: Any) -> Any:
    if isinstance(data, str):
        return sendable(data)
    if isinstance(data, float) and not math.isfinite(data):
        return str(data)  # JSON has no such number
    if isinstance(data, dict):
        return {_tidy(key): _tidy(value) for key, value in data.items()}
    return [_tidy(part) for part in data] if isinstance(data, list) else data
