"""`nearest`: the lines of a file that come closest to a text that is not in it."""

from __future__ import annotations

__all__ = ["nearest"]

MOST_LINES = 5_000
LINE_CHARS = 200
CONTEXT = 2


def nearest(text: str, wanted: str) -> str:
    """Return words that go on after "was not found": the nearest lines, with their numbers, or that there are none."""
    import difflib  # 10 ms, and only a failed edit needs it

    lines = [line[:LINE_CHARS] for line in text.replace("\r\n", "\n").split("\n")[:MOST_LINES]]
    looked_for = [line.strip()[:LINE_CHARS] for line in wanted.split("\n")]
    anchor = max(looked_for, key=len)
    if not anchor:
        return "; it holds only blanks"
    stripped = [line.strip() for line in lines]
    close = difflib.get_close_matches(anchor, stripped, n=1)
    if not close:
        return " and no line is like it; read the file again"
    first = stripped.index(close[0]) - looked_for.index(anchor)
    window = range(max(0, first - CONTEXT), min(len(lines), first + min(len(looked_for), 20) + CONTEXT))
    shown = "\n".join(f"{number + 1}: {lines[number]}" for number in window)
    return f"; the nearest lines are:\n{shown}"
