"""`MarkdownStream`: an answer in Markdown, styled piece by piece and written once.

Nothing that was written is ever touched again: no cursor movement, nothing to flicker, nothing to repaint when the
window changes. Prose flows word by word; only what needs its end to be understood waits for it: a heading for its
line, an accent for its closing mark, a table for its last row. Code is neither wrapped nor indented, so that it can be
copied.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from agent.app.markdown.inline import split_spans
from agent.app.markdown.table import draw_table
from agent.app.markdown.wrap import WordWrap
from agent.app.plain import cell_width
from agent.app.style import BOLD, CODE, DIM, HEAD, combine, paint

__all__ = ["MarkdownStream"]

_FENCE = re.compile(r"\s*(`{3,}|~{3,})([^`]*)")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*")
_RULE = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*")
_TABLE = re.compile(r"\s*\|")
_ITEM = re.compile(r"(\s*)(?:[-*+]|(\d{1,9}[.)]))[ \t]+(?=\S)")
_QUOTE = re.compile(r" {0,3}>[ \t>]*(?=[^ \t>])")
_INDENT = re.compile(r"[ \t]*")
# What the beginning of a line may be as long as nothing else has come
_OPEN = re.compile(r"\s*(?:#{0,6}|`{1,2}|[-*_+][-*_+ \t]*|~{1,2}|\d{1,9}[.)]?[ \t]*|>[> \t]*)")
_WHOLE_LINE = re.compile(r"\s*(?:#{1,6}[ \t]|`{3}|~{3}|\|)")
RULE_COLUMNS = 40


class MarkdownStream:
    """Takes an answer in pieces and returns what is to be written. `width`: the columns of the terminal."""

    def __init__(self, width: Callable[[], int]) -> None:
        self._width = width
        self._held = ""
        # Text that nothing has been made of
        self._prose: _Prose | None = None
        # The line that is being written
        self._fence = ""
        # The marks that opened the code block; empty outside of one
        self._in_code_line = False
        self._in_list = False
        self._table: list[str] = []

    @property
    def holding(self) -> bool:
        """Tell whether something has come that is not on the screen: a table, or the beginning of a line."""
        return bool(self._held.strip() or self._table)

    def feed(self, text: str) -> str:
        """Return what can be written once `text` has come. `text` must be `plain`."""
        self._held += text
        written: list[str] = []
        while self._held:
            line, newline, rest = self._held.partition("\n")
            if newline:
                self._held = rest
                written.append(self._end_line(line))
            else:
                self._held = self._keep(line, written)
                break
        return "".join(written)

    def finish(self) -> str:
        """Return all that was held back; the stream is as at its beginning again."""
        line, self._held = self._held, ""
        written = self._end_line(line) if line or self._prose or self._in_code_line else ""
        written += self._end_table()
        self._fence, self._in_list = "", False
        return written

    def _keep(self, line: str, written: list[str]) -> str:
        """Write what may be written of a line that is not whole, and return the rest of it."""
        if self._fence:
            if not self._in_code_line and _FENCE.match(line + self._fence):
                return line  # perhaps the closing fence
            self._in_code_line = True
            written.append(paint(line, CODE))
            return ""
        if self._prose is None:
            if _OPEN.fullmatch(line) or _WHOLE_LINE.match(line):
                return line
            self._prose = self._begin(line)
            line = line[self._prose.taken :]
            written.append(self._end_table() + self._prose.lead)
        return self._prose.feed(line, written)

    def _end_line(self, line: str) -> str:
        if self._fence:
            return self._end_code_line(line)
        if self._prose is not None:
            prose, self._prose = self._prose, None
            return prose.finish(line) + "\n"
        if _TABLE.match(line):
            self._table.append(line)
            return ""
        return self._end_table() + self._whole(line) + "\n"

    def _end_code_line(self, line: str) -> str:
        closing = _FENCE.fullmatch(line)
        if not self._in_code_line and closing and closing[1].startswith(self._fence) and not closing[2].strip():
            self._fence = ""
            return paint(line.strip(), DIM) + "\n"
        self._in_code_line = False
        return paint(line, CODE) + "\n"

    def _whole(self, line: str) -> str:
        if fence := _FENCE.fullmatch(line):
            self._fence = fence[1]
            return paint(line.strip(), DIM)
        if heading := _HEADING.fullmatch(line):
            self._in_list = False
            spans, _ = split_spans(heading[2], final=True)
            look = HEAD if len(heading[1]) == 1 else BOLD
            wrap = WordWrap(self._width())
            return wrap.feed((text, combine(look, style)) for text, style in spans) + wrap.finish()
        if _RULE.fullmatch(line):
            return paint("─" * min(RULE_COLUMNS, self._width()), DIM)
        if not line.strip():
            return ""
        prose = self._begin(line)
        return prose.lead + prose.finish(line[prose.taken :])

    def _begin(self, line: str) -> _Prose:
        """Judge a line by its beginning."""
        width = self._width()
        if item := _ITEM.match(line):
            self._in_list = True
            lead = f"{item[1].expandtabs(4)}{item[2] or '•'} "
            return _Prose(width, lead, " " * cell_width(lead), item.end())
        if quote := _QUOTE.match(line):
            lead = "│ " * quote[0].count(">")
            return _Prose(width, paint(lead, DIM), lead, quote.end())
        blank = _INDENT.match(line)
        indent = blank[0].expandtabs(4) if blank is not None else ""
        if len(indent) >= 4 and not self._in_list:
            return _Verbatim(width, "", "", 0)
        self._in_list = self._in_list and bool(indent)
        return _Prose(width, indent, indent, blank.end() if blank is not None else 0)

    def _end_table(self) -> str:
        lines, self._table = self._table, []
        if not lines:
            return ""
        self._in_list = False
        drawn = draw_table(lines, self._width())
        return drawn if drawn is not None else "".join(f"{_Prose(self._width()).finish(line)}\n" for line in lines)


class _Prose:
    """One line of running text."""

    def __init__(self, width: int, lead: str = "", indent: str = "", taken: int = 0) -> None:
        self.lead = lead
        self.taken = taken
        # How much of the line the lead stands for
        self._wrap = WordWrap(width, column=cell_width(indent), indent=indent)
        self._before = ""

    def feed(self, text: str, written: list[str]) -> str:
        spans, held = split_spans(text, final=False, before=self._before)
        self._before = text[: len(text) - len(held)][-1:] or self._before
        written.append(self._wrap.feed(spans))
        return held

    def finish(self, text: str) -> str:
        spans, _ = split_spans(text, final=True, before=self._before)
        return self._wrap.feed(spans) + self._wrap.finish()


class _Verbatim(_Prose):
    """One line of an indented code block."""

    def feed(self, text: str, written: list[str]) -> str:
        written.append(paint(text, CODE))
        return ""

    def finish(self, text: str) -> str:
        return paint(text, CODE)
