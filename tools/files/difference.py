"""`difference`: what a change does to a file, as lines a person can judge."""

from __future__ import annotations

from tools.files.text import text_form

__all__ = ["difference"]

MOST_LINES = 80
MOST_DIFFED = 400_000  # bytes of both sides; longer ones are counted, difflib is quadratic at its worst


def difference(shown: str, before: bytes | None, after: bytes) -> str:
    """Return a unified diff of a file, bounded, or in words what cannot be shown as one."""
    if before is None:
        return f"new file {shown}: {_count(after)}"
    if before == after:
        return f"{shown} stays as it is"
    old, new = _lines(before), _lines(after)
    if old is None or new is None or len(before) + len(after) > MOST_DIFFED:
        return f"{shown}: {_count(before)} replaced by {_count(after)}"
    import difflib  # 10 ms, and only a person who is asked needs it

    diff = list(difflib.unified_diff(old, new, shown, shown, n=2, lineterm=""))
    rest = len(diff) - MOST_LINES
    return "\n".join([*diff[:MOST_LINES], *([f"... {rest} more lines"] if rest > 0 else [])])


def _lines(raw: bytes) -> list[str] | None:
    form = text_form(raw, cut=False)
    return None if form is None else form.decode(raw).replace("\r\n", "\n").split("\n")


def _count(raw: bytes) -> str:
    return f"{raw.count(10) + (not raw.endswith(bytes([10])) and bool(raw))} lines, {len(raw)} bytes"
