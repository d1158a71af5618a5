"""`split_spans`: the styled pieces of a line, as far as it has come.

Known are code spans, `*`, `**` and `***`. `_` is not: it is a letter of names (`__init__`) more often than an accent.
What is not closed in its line stays as it was written.
"""

from __future__ import annotations

import re

from agent.app.style import BOLD, CODE, ITALIC, combine

__all__ = ["Span", "split_spans"]

Span = tuple[str, str]
# text and style

SPAN_CHARS = 1_000  # a longer one is not looked for, so that a line without end costs no more than its length
HELD_CHARS = 300  # how much of a stream may wait for the end of a span

_SPECIAL = re.compile(r"[\\`*]")
_OPENER = re.compile(r"\\[\\`*_#|]|`+|\*+")
_STYLES = {1: ITALIC, 2: BOLD, 3: combine(BOLD, ITALIC)}


def split_spans(text: str, *, final: bool, before: str = "") -> tuple[list[Span], str]:
    """Return the spans of `text` and its tail that cannot be judged yet.

    `final`: nothing more will come, so nothing is held back. `before`: the character that stands before `text`.
    """
    if not _SPECIAL.search(text):
        return [(text, "")], ""
    spans: list[Span] = []
    barren: dict[str, int] = {}
    # How far there is no closing mark of a kind, so that nothing is searched twice
    place = start = 0
    while (found := _OPENER.search(text, place)) is not None:
        place = found.end()
        run = found[0]
        if run[0] == "\\":
            spans += [(text[start : found.start()], ""), (run[1], "")]
            start = place
            continue
        if place == len(text) and not final:
            return _with_plain(spans, text[start : found.start()]), text[found.start() :]
        previous = text[found.start() - 1] if found.start() else before
        if not _may_open(run, previous, text[place : place + 1]):
            continue
        end = _closing(run).search(text, max(place, barren.get(run, 0)), place + SPAN_CHARS)
        grows = end is not None and end.end() == len(text) and not final
        if end is None or grows:
            if not final and len(text) - found.start() <= HELD_CHARS:
                return _with_plain(spans, text[start : found.start()]), text[found.start() :]
            if end is None:
                barren[run] = min(place + SPAN_CHARS - len(run), len(text))
                continue
        spans.append((text[start : found.start()], ""))
        spans += _inside(run, text[place : end.start()])
        start = place = end.end()
    rest = text[start:]
    if not final and rest.endswith("\\"):
        return _with_plain(spans, rest[:-1]), "\\"
    return _with_plain(spans, rest), ""


def _with_plain(spans: list[Span], text: str) -> list[Span]:
    return [span for span in [*spans, (text, "")] if span[0]]


def _may_open(run: str, previous: str, following: str) -> bool:
    if run[0] == "`":
        return True
    if len(run) > 3 or not following or following.isspace():
        return False
    # 2*3*4 is arithmetic; 这是**重点** is not
    return not (len(run) == 1 and previous.isascii() and previous.isalnum())


def _closing(run: str) -> re.Pattern[str]:
    if run[0] == "`":
        return re.compile(rf"(?<!`){run}(?!`)")
    return re.compile(rf"(?<![\s*])\*{{{len(run)}}}(?!\*)")


def _inside(run: str, text: str) -> list[Span]:
    if run[0] != "`":
        inner, _ = split_spans(text, final=True)
        return [(piece, combine(_STYLES[len(run)], style)) for piece, style in inner]
    if len(text) > 2 and text[0] == text[-1] == " ":
        text = text[1:-1]
    return [(text, CODE)]
