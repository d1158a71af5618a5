"""`MarkdownStream`: an answer in Markdown. Each block is drawn by rich when it is finished, and written once.

A block ends at a blank line, at the next item of a list, or before a heading or a fence. Code is written line by line
as it stands, so that it can be copied. What has come of an open block is kept unread, so a piece costs the same however
long the block is.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from typing import ClassVar

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.emphasis import tokenize
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderResult
from rich.markdown import Heading, Markdown, Paragraph, TableElement
from rich.table import Table
from rich.theme import Theme

from agent.app.style import CODE, DIM, paint

__all__ = ["MarkdownStream"]

COLUMN_CELLS = 4  # of a column at the least, with the blanks beside it
MOST_DRAWN_CHARS = 20_000  # a longer block is written as it stands: drawing takes 7 ms for 1,000 characters

_FENCE = re.compile(r"\s*(`{3,}|~{3,})([^`]*)")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+\S")
_HEADING = re.compile(r" {0,3}#{1,6}\s")
_CODE_SPAN = re.compile(r"`[^`\n]+`")
_RULE = re.compile(r"[\s:|]*-[\s:|-]*")  # the second line of a table
_BARE_BAR = re.compile(r"(?<!\\)\|")
_INDENT = re.compile(r"[ \t]*")

# Beside these a line may break although there is no blank: Chinese, Japanese, Korean
_WIDE = "\u1100-\u115f\u2e80-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf"
_WIDE += "\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uffef\U00020000-\U0003fffd"
_CLOSING = "，。、；：？！）］｝】》〉」』”’…"  # never first on a line
_OPENING = "（［｛【《〈「『“‘"  # never last on one
_WORD = re.compile(rf"[{_OPENING}]*(?:[{_WIDE}]|[^\s{_WIDE}{_OPENING}]+)?[{_CLOSING}]*\s*")
_WIDE_CHAR = re.compile(f"[{_WIDE}]")
_LEFT_OUT = ["html_block", "html_inline", "reference", "lheading", "code", "image", "entity", "autolink"]


class MarkdownStream:
    """Takes an answer in pieces and returns what is to be written. `width`: the columns of the terminal."""

    def __init__(self, width: Callable[[], int]) -> None:
        self._width = width
        self._pieces: list[str] = []
        # Of the line that is not whole
        self._block: list[str] = []
        self._fence = ""
        # The marks that opened the code block; empty outside of one
        self._in_list = False

    @property
    def holding(self) -> bool:
        """Tell whether something has come that is not on the screen."""
        return bool(self._pieces or self._block)

    def feed(self, text: str) -> str:
        """Return what can be written once `text` has come. `text` must be `plain`."""
        self._pieces.append(text)
        if "\n" not in text:
            return ""
        *lines, rest = "".join(self._pieces).split("\n")
        self._pieces = [rest] if rest else []
        return "".join(map(self._end_line, lines))

    def finish(self) -> str:
        """Return all that was held back; the stream is as at its beginning again."""
        line = "".join(self._pieces)
        written = (self._end_line(line) if line else "") + self._end_block()
        self._pieces, self._fence, self._in_list = [], "", False
        return written

    def _end_line(self, line: str) -> str:
        fence = _FENCE.fullmatch(line)
        if self._fence:
            closes = fence is not None and fence[1].startswith(self._fence) and not fence[2].strip()
            self._fence = "" if closes else self._fence
            return paint(line, DIM if closes else CODE) + "\n"
        if fence is not None:
            self._fence = fence[1]
            return self._end_block() + paint(line, DIM) + "\n"
        if not line.strip():
            return self._end_block() + "\n"
        item, heading = _ITEM.match(line), _HEADING.match(line)
        if item is not None or not line[0].isspace():
            self._in_list = item is not None
        elif not self._block and not self._in_list and line.startswith(("    ", "\t")):
            return paint(line, CODE) + "\n"
        before = self._end_block() if item or heading else ""
        self._block.append(line)
        return before + (self._end_block() if heading else "")

    def _end_block(self) -> str:
        lines, self._block = self._block, []
        text = "\n".join(lines)
        if not text or len(text) > MOST_DRAWN_CHARS or _is_too_wide(lines, self._width()):
            return f"{text}\n" if text else ""
        found = _INDENT.match(text)
        indent = found[0] if found is not None else ""
        lead = indent.expandtabs(4)
        try:
            drawn = _draw("\n".join(line.removeprefix(indent) for line in lines), max(self._width() - len(lead), 8))
        except Exception:  # an answer must never be lost to the way it looks
            logging.getLogger(__name__).warning("A block of Markdown could not be drawn", exc_info=True)
            return text + "\n"
        return "".join(f"{lead}{line.rstrip()}\n" for line in drawn.strip("\n").split("\n"))


def _is_too_wide(lines: list[str], width: int) -> bool:
    """Tell whether it is a table with more columns than fit side by side: some would be left out."""
    return len(lines) > 1 and _RULE.fullmatch(lines[1]) is not None and COLUMN_CELLS * lines[1].count("|") > width


def _draw(text: str, width: int) -> str:
    markdown = _Blocks("", hyperlinks=False)
    if text.startswith("|"):
        text = _CODE_SPAN.sub(lambda span: _BARE_BAR.sub(r"\\|", span[0]), text)  # a bar in code divides no cells
    markdown.parsed = _PARSER.parse(text)
    for token in markdown.parsed:
        for child in token.children or ():
            if child.type == "softbreak":
                child.type = "hardbreak"  # lines stay lines
    with _CONSOLE.capture() as capture:
        _CONSOLE.print(markdown, width=width)
    return capture.get()


def _accents(state: StateInline, silent: bool) -> bool:
    """Read `*`, but not `_`, which is a letter of names, nor `2*3*4`; beside wide characters there are no blanks."""
    if state.src[state.pos] != "*":
        return False
    known, start = len(state.delimiters), state.pos
    found = tokenize(state, silent)
    before, after = state.src[:start][-1:], state.src[state.pos : state.pos + 1]
    for mark in state.delimiters[known:]:
        if _WIDE_CHAR.match(before) or _WIDE_CHAR.match(after):
            mark.open, mark.close = not (after or " ").isspace(), not (before or " ").isspace()
        elif mark.length == 1 and before.isascii() and before.isalnum():
            mark.open = False
    return found


class _Prose(Paragraph):
    """Running text, broken between words and between wide characters."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self.text.split("\n"):
            yield from line.divide(_breaks(line.plain, options.max_width))


class _LeftHeading(Heading):
    LEVEL_ALIGN: ClassVar[dict[str, JustifyMethod]] = {}


class _WholeTable(TableElement):
    """A table of which nothing is cut off."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for table in super().__rich_console__(console, options):
            if isinstance(table, Table):
                table.show_edge = False
                for column in table.columns:
                    column.overflow = "fold"
            yield table


class _Blocks(Markdown):
    elements = Markdown.elements | {
        "paragraph_open": _Prose,
        "heading_open": _LeftHeading,
        "table_open": _WholeTable,
    }


def _breaks(line: str, width: int) -> Iterator[int]:
    """Yield the places where a line is to be broken."""
    column = 0
    for word in _WORD.finditer(line):
        if column and column + cell_len(word[0].rstrip()) > width:
            yield word.start()
            column = 0
        column += cell_len(word[0])


_PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"]).disable(_LEFT_OUT)
_PARSER.inline.ruler.at("emphasis", _accents)
_CONSOLE = Console(
    force_terminal=True,
    color_system="standard",
    no_color=False,
    legacy_windows=False,
    theme=Theme(
        {
            "markdown.code": "cyan",
            "markdown.block_quote": "none",
            "markdown.item.bullet": "none",
            "markdown.item.number": "none",
            "markdown.table.border": "none",
            "markdown.table.header": "bold",
        }
    ),
)
