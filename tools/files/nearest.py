"""`nearest`: the lines of a file that come closest to a text that is not in it."""

from __future__ import annotations

import time

__all__ = ["nearest"]

MOST_LINES = 20_000
MOST_S = 0.5  # of comparing; lines that are all alike are the slow case
CONTEXT = 2
SHOWN_CHARS = 200
ALIKE = 0.6


def nearest(text: str, wanted: str) -> str:
    """Return words that go on after "was not found": the nearest lines, with their numbers, or that there are none."""
    lines = text.replace("\r\n", "\n").split("\n")
    looked_for = [line.strip() for line in wanted.replace("\r\n", "\n").split("\n")]
    anchor = max(looked_for, key=len)
    if not anchor:
        return "; it holds only blanks"
    at = _most_alike(lines[:MOST_LINES], anchor)
    if at is None:
        return " and no line is like it; read the file again"
    first = max(0, at - looked_for.index(anchor) - CONTEXT)
    last = min(len(lines), at - looked_for.index(anchor) + len(looked_for) + CONTEXT, first + 20)
    shown = "\n".join(f"{number}: {line[:SHOWN_CHARS]}" for number, line in enumerate(lines[first:last], first + 1))
    hint = "; it differs in its blanks or in the lines round it" if lines[at].strip() == anchor else ""
    return f"{hint}; the nearest lines are:\n{shown}"


def _most_alike(lines: list[str], anchor: str) -> int | None:
    stripped = [line.strip()[: 2 * SHOWN_CHARS] for line in lines]
    anchor = anchor[: 2 * SHOWN_CHARS]
    if anchor in stripped:
        return stripped.index(anchor)
    import difflib  # 10 ms, and only a failed edit needs it

    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(anchor)
    best, found, end = ALIKE, None, time.monotonic() + MOST_S
    for index, line in enumerate(stripped):
        if time.monotonic() > end:
            break
        matcher.set_seq1(line)
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best and (ratio := matcher.ratio()) > best:
            best, found = ratio, index
    return found
