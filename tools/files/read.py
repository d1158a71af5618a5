"""`file_read`: a window of lines out of a text file of any size."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from itertools import islice
from typing import Annotated, BinaryIO

from pydantic import Field

from tools.files.jail import FileRefused, Jail, open_file
from tools.files.text import SAMPLE_BYTES, TextForm, text_form
from tools.tool import Bar, Tool
from tools.words import size_in_words, with_notes

__all__ = ["make_read"]

MOST_LINES = 2_000
MOST_CHARS = 40_000  # about 10,000 tokens of English
LINE_CHARS = 2_000
BLOCK_CHARS = 1 << 20
MOST_BLOCKS = 64  # of one line: its end is not looked for any further
COUNTED_BYTES = 64 << 20  # up to this size the lines after the window are counted too


def make_read(jail: Jail, bar: Bar) -> Tool:
    def file_read(
        path: Annotated[str, Field(description="relative to the workspace")],
        offset: Annotated[int, Field(ge=1, description="number of the first line")] = 1,
        limit: Annotated[int, Field(ge=1, description=f"number of lines, at most {MOST_LINES}")] = MOST_LINES,
    ) -> str:
        """Read a text file, or a window of its lines.

        The answer is the text as it is, without line numbers. A last line in brackets says what was left out and where
        to read on, and tells an unusual encoding or line end.
        """
        place = jail.find(path)
        try:
            file = open_file(place)
        except FileNotFoundError:
            raise FileRefused(f"there is no file {place.shown!r}; file_list shows what there is") from None
        with file:
            return read_window(file, place.shown, offset, min(limit, MOST_LINES))

    return Tool(file_read, parallel=True, bar=bar)


class Lines:
    """The lines of a file, each cut to what can be shown, and what was found out on the way."""

    def __init__(self, file: BinaryIO, form: TextForm) -> None:
        file.seek(len(form.mark))
        self._text = io.TextIOWrapper(file, form.codec, "replace", newline="\n")
        self.count = 0
        self.cut: list[int] = []
        # Numbers of the lines that are longer than shown.
        self.endless = False
        # The end of the last one was not found.

    def __iter__(self) -> Iterator[str]:
        while not self.endless and (line := self._text.readline(LINE_CHARS + 2)):
            self.count += 1
            if len(line) == LINE_CHARS + 2 and not line.endswith("\n"):
                self.cut.append(self.count)
                self.endless = not self._skip_line()
                line = f"{line[:LINE_CHARS]}\n"
            yield line

    def _skip_line(self) -> bool:
        """Go behind the end of this line; return whether it was found."""
        for _ in range(MOST_BLOCKS):
            block = self._text.readline(BLOCK_CHARS)
            if not block or block.endswith("\n"):
                return True
        return False


def read_window(file: BinaryIO, shown: str, offset: int, limit: int) -> str:
    """Return `limit` lines from number `offset` on, and what to know about them. Raises `FileRefused`."""
    size = os.fstat(file.fileno()).st_size
    sample = os.pread(file.fileno(), SAMPLE_BYTES, 0)
    form = text_form(sample, cut=len(sample) == SAMPLE_BYTES)
    if form is None:
        raise FileRefused(f"{shown!r} is a binary file ({size_in_words(size)}); file_read shows text only")
    source = Lines(file, form)
    lines = iter(source)
    skipped = sum(1 for _ in islice(lines, offset - 1))
    window: list[str] = []
    chars = 0
    for line in islice(lines, limit):
        window.append(line)
        chars += len(line)
        if chars > MOST_CHARS:
            break
    if offset > 1 and not window:
        raise FileRefused(f"offset {offset} is past the end: {shown!r} has {skipped} lines")
    after = offset + len(window)
    cut, endless = [number for number in source.cut if number >= offset], source.endless
    text = "".join(window).replace("\r\n", "\n")
    notes = []
    if next(lines, None) is not None:
        total = f" of {after + sum(1 for _ in lines)}" if size <= COUNTED_BYTES else ""
        where = f"lines {offset}-{after - 1}{total} ({size_in_words(size)})"
        notes.append(f"{where}; truncated, go on with offset={after}")
    if cut:
        which = f"line {cut[0]} is" if len(cut) == 1 else f"{len(cut)} lines are"
        notes.append(f"{which} truncated to {LINE_CHARS} characters; shell shows the rest")
    if endless:
        notes.append(f"the file ({size_in_words(size)}) goes on in that line")
    kept = [f"encoding {form.name}"] if form.name else []
    if any(line.endswith("\r\n") for line in window):
        kept.append("CRLF line ends")
    if kept:
        notes.append(f"{', '.join(kept)}: file_edit keeps {'them' if len(kept) > 1 else 'it'}")
    if form.codec == "utf-8" and "\N{REPLACEMENT CHARACTER}" in text:
        notes.append("bytes that are no text are shown as \N{REPLACEMENT CHARACTER}")
    return with_notes(text or "(the file is empty)", notes)
