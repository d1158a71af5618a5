"""`splice`: some text exchanged inside the bytes of a file, all others untouched.

The model writes LF; a file may have CRLF, or both. A line end in the text to find stands for either, and a line end in
the new text takes the form of the one it replaces, or of its neighbours. Only a text to find that holds a carriage
return itself, and is found so, means what it says: then the new text is put in as it is written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tools.files.text import TextForm

__all__ = ["MOST_MATCHES", "Spliced", "is_literal", "matches", "splice"]

MOST_MATCHES = 10_000

LINE_END = re.compile(r"\r\n|\n")
ANY_LINE_END = r"(?:\r\n|(?<!\r)\n)"  # the second half of a CRLF is no line end of its own

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Spliced:
    content: bytes
    count: int


def matches(text: str, wanted: str) -> list[Span]:
    """Return where `wanted` stands in `text`, overlapping places included, at most `MOST_MATCHES` + 1."""
    if is_literal(text, wanted):
        return _spans(text, re.compile(re.escape(wanted)))
    parts = wanted.replace("\r\n", "\n").split("\n")
    return _spans(text, re.compile(ANY_LINE_END.join(re.escape(part) for part in parts)))


def is_literal(text: str, wanted: str) -> bool:
    """Does `wanted` name the line ends it means, and stand in `text` so?"""
    return "\r" in wanted and wanted in text


def splice(raw: bytes, form: TextForm, spans: list[Span], new_text: str, *, literal: bool = False) -> Spliced:
    """Put `new_text` in the place of each span of the decoded text; of overlapping ones the first wins.

    literal: leave its line ends as they are. Raises UnicodeEncodeError when the file's encoding cannot hold `new_text`.
    """
    text = form.decode(raw)
    pieces: list[bytes] = [form.mark]
    at = count = 0
    for start, end in spans:
        if start < at:
            continue
        new = new_text if literal else _with_line_ends(new_text, text, start, end)
        pieces += [form.encode(text[at:start]), new.encode(form.codec)]
        at, count = end, count + 1
    pieces.append(form.encode(text[at:]))
    return Spliced(b"".join(pieces), count)


def _spans(text: str, pattern: re.Pattern[str]) -> list[Span]:
    found: list[Span] = []
    match = pattern.search(text)
    while match and len(found) <= MOST_MATCHES:
        found.append(match.span())
        match = pattern.search(text, match.start() + 1)
    return found


def _with_line_ends(new_text: str, text: str, start: int, end: int) -> str:
    """Give each line end of `new_text` the form of its counterpart in the text it replaces."""
    new = new_text.replace("\r\n", "\n")
    old = text[start:end]
    ends = LINE_END.findall(old)
    old_lines, new_lines = old.replace("\r\n", "\n").split("\n"), new.split("\n")
    kept_before = _same(old_lines, new_lines)
    kept_after = _same(old_lines[::-1], new_lines[::-1])
    fallback = ends[-1] if ends else _neighbour(text, start, end)
    written = [new_lines[0]]
    total = len(new_lines) - 1
    for index, line in enumerate(new_lines[1:]):
        from_end = total - index
        if index < kept_before and index < len(ends):
            written.append(ends[index])
        elif from_end <= min(kept_after, len(ends)):
            written.append(ends[-from_end])
        else:
            written.append(ends[index] if index < len(ends) else fallback)
        written.append(line)
    return "".join(written)


def _same(old_lines: list[str], new_lines: list[str]) -> int:
    count = 0
    for old, new in zip(old_lines, new_lines, strict=False):
        if old != new:
            break
        count += 1
    return count


def _neighbour(text: str, start: int, end: int) -> str:
    """Return the line end nearest behind a span, else before it, else LF."""
    if behind := LINE_END.search(text, end):
        return behind[0]
    at = text.rfind("\n", 0, start)
    return "\r\n" if at > 0 and text[at - 1] == "\r" else "\n"
