"""`WordWrap`: styled text broken between words, as it streams in."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter

from agent.app.markdown.inline import Span
from agent.app.plain import cell_width
from agent.app.style import DIM, paint

__all__ = ["WordWrap", "paint_spans"]

# Between two of these, or beside one, a line may break although there is no blank: Chinese, Japanese, Korean
_WIDE = "\u1100-\u115f\u2e80-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf"
_WIDE += "\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uffef\U00020000-\U0003fffd"
_TOKEN = re.compile(f"[ \t]+|[{_WIDE}]|[^ \t{_WIDE}]+")
_WIDE_CHAR = re.compile(f"[{_WIDE}]")
FIRST_WIDE = _WIDE[0]
_NOT_FIRST = frozenset("，。、；：？！）］｝】》〉」』”’％…—·,.;:?!)]}%")
_NOT_LAST = frozenset("（［｛【《〈「『“‘([{")


class WordWrap:
    """Breaks one line of text at `width` columns; what follows a break is indented by `indent`.

    A word is written when it is whole. One that is longer than a line is left to the terminal.
    """

    def __init__(self, width: int, *, column: int = 0, indent: str = "") -> None:
        self._width = max(width, 8)
        self._indent = indent if cell_width(indent) <= self._width // 2 else ""
        self._column = column
        self._blank: Span = ("", "")
        self._word: list[Span] = []
        self._word_width = 0
        self._last = ""

    def feed(self, spans: Iterable[Span]) -> str:
        """Return what can be written once `spans` have come."""
        written: list[Span] = []
        for text, style in spans:
            for token in _TOKEN.findall(text):
                if token[0] in " \t":
                    self._end_word(written)
                    self._blank = (self._blank[0] + token.expandtabs(4), style)
                    self._last = ""
                    continue
                if self._may_break(token[0]):
                    self._end_word(written)
                self._word.append((token, style))
                self._word_width += len(token) if token.isascii() else cell_width(token)
                self._last = token[-1]
        return paint_spans(written)

    def finish(self) -> str:
        """Return what was still held back, but for blanks at the end."""
        written: list[Span] = []
        self._end_word(written)
        self._blank = ("", "")
        return paint_spans(written)

    def _may_break(self, following: str) -> bool:
        if self._last < FIRST_WIDE and following < FIRST_WIDE:
            return False  # most text, decided at once
        if not self._last or following in _NOT_FIRST or self._last in _NOT_LAST:
            return False
        return _WIDE_CHAR.match(following) is not None or _WIDE_CHAR.match(self._last) is not None

    def _end_word(self, written: list[Span]) -> None:
        if not self._word:
            return
        blank = self._blank
        if self._column > len(self._indent) and self._column + len(blank[0]) + self._word_width > self._width:
            written += [("\n", ""), (self._indent, DIM if self._indent.strip() else "")]
            self._column, blank = cell_width(self._indent), ("", "")
        written.append(blank)
        written += self._word
        self._column = (self._column + len(blank[0]) + self._word_width - 1) % self._width + 1
        self._blank, self._word, self._word_width = ("", ""), [], 0


def paint_spans(spans: Iterable[Span]) -> str:
    """Return the spans painted, neighbours of one style together."""
    filled = (span for span in spans if span[0])
    return "".join(
        paint("".join(text for text, _ in group), style) for style, group in groupby(filled, key=itemgetter(1))
    )
