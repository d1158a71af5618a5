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
_EASY = re.compile("[ -~\u3001-\u303e\u3041-\u3096\u30a0-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60]+")
# One column or two, as sure as one byte or three
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
        # The last character of the word, or empty

    def feed(self, spans: Iterable[Span]) -> str:
        """Return what can be written once `spans` have come."""
        written: list[Span] = []
        for text, style in spans:
            if not self._fits(text, style, written):
                self._break(text, style, written)
        return paint_spans(written)

    def finish(self) -> str:
        """Return what was still held back, but for blanks at the end."""
        written: list[Span] = []
        self._end_word(written)
        self._blank = ("", "")
        return paint_spans(written)

    def _fits(self, text: str, style: str, written: list[Span]) -> bool:
        """Take the whole text at once where it stays on the line, as most of it does. Only its last word waits."""
        if not _EASY.fullmatch(text):
            return False
        start = self._column + len(self._blank[0]) + self._word_width
        if start + _easy_width(text) > self._width:
            return False
        place = _last_break(text)
        words, word = text[:place].rstrip(" "), text[place:]
        blank = text[len(words) : place]
        if words:
            written += [self._blank, *self._word, (words, style)]
            self._column = start + _easy_width(words)
            self._blank, self._word, self._word_width = ("", ""), [], 0
        elif blank or self._may_break(text[0]):
            self._end_word(written)
        if blank:
            self._blank = (self._blank[0] + blank, style)
            self._last = ""
        if word:
            self._word.append((word, style))
            self._word_width += _easy_width(word)
            self._last = word[-1]
        return True

    def _break(self, text: str, style: str, written: list[Span]) -> None:
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


def _easy_width(text: str) -> int:
    """The columns of a text that is ASCII or wide: a wide character has three bytes."""
    return len(text) + (len(text.encode()) - len(text)) // 2


def _last_break(text: str) -> int:
    """Return where the last word of an easy text begins: at its end after a blank, at 0 where it is one word."""
    if text[-1:] == " ":
        return len(text)
    for place in range(len(text) - 1, 0, -1):
        last, following = text[place - 1], text[place]
        if last == " ":
            return place
        if (last >= FIRST_WIDE or following >= FIRST_WIDE) and following not in _NOT_FIRST and last not in _NOT_LAST:
            return place
    return 0


def paint_spans(spans: list[Span]) -> str:
    """Return the spans painted, neighbours of one style together."""
    if not any(map(itemgetter(1), spans)):
        return "".join(map(itemgetter(0), spans))
    filled = (span for span in spans if span[0])
    return "".join(
        paint("".join(text for text, _ in group), style) for style, group in groupby(filled, key=itemgetter(1))
    )
