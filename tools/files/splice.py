"""`splice`: some passages of a text exchanged, all line ends as they were.

The model writes LF; a file may have CRLF, or both. A line end in the text to find stands for either, and a line end in
the new text takes the form of the one it replaces, or of its neighbours.
"""

from __future__ import annotations

import re
from itertools import takewhile

__all__ = ["MOST_MATCHES", "matches", "splice"]

MOST_MATCHES = 10_000

LINE_END = re.compile(r"\r?\n")
ANY_LINE_END = r"(?:\r\n|(?<!\r)\n)"  # the second half of a CRLF is no line end of its own

Span = tuple[int, int]


def matches(text: str, wanted: str) -> list[Span]:
    """Return where `wanted` stands in `text`, overlapping places included, at most `MOST_MATCHES` + 1."""
    pattern = re.compile(ANY_LINE_END.join(re.escape(part) for part in LINE_END.split(wanted)))
    found: list[Span] = []
    match = pattern.search(text)
    while match and len(found) <= MOST_MATCHES:
        found.append(match.span())
        match = pattern.search(text, match.start() + 1)
    return found


def splice(text: str, spans: list[Span], new_text: str) -> tuple[str, int]:
    """Return `text` with `new_text` in the place of each span, and how often; of overlapping ones the first wins."""
    pieces: list[str] = []
    at = count = 0
    for start, end in spans:
        if start >= at:
            pieces += [text[at:start], _with_line_ends(new_text, text, start, end)]
            at, count = end, count + 1
    return "".join([*pieces, text[at:]]), count


def _with_line_ends(new_text: str, text: str, start: int, end: int) -> str:
    """Give each line end of `new_text` the form of its counterpart in the text it replaces."""
    old = text[start:end]
    ends, old_lines, new_lines = LINE_END.findall(old), LINE_END.split(old), LINE_END.split(new_text)
    kept_before = _same(old_lines, new_lines)
    kept_after = min(_same(old_lines[::-1], new_lines[::-1]), len(ends))
    written = new_lines[:1]
    for index, line in enumerate(new_lines[1:]):
        from_end = len(new_lines) - 1 - index
        if index >= kept_before and from_end <= kept_after:
            written.append(ends[-from_end])
        elif index < len(ends):
            written.append(ends[index])
        else:
            written.append(ends[-1] if ends else _neighbour(text, start, end))
        written.append(line)
    return "".join(written)


def _same(old_lines: list[str], new_lines: list[str]) -> int:
    """Return how many lines at the beginning are the same."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old_lines, new_lines, strict=False)))


def _neighbour(text: str, start: int, end: int) -> str:
    """Return the line end nearest behind a span, else before it, else LF."""
    if behind := LINE_END.search(text, end):
        return behind[0]
    at = text.rfind("\n", 0, start)
    return "\r\n" if at > 0 and text[at - 1] == "\r" else "\n"
