"""`file_read`: a window of lines out of a text file of any size."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, BinaryIO

from pydantic import Field

from tools.files.jail import Jail, Place
from tools.files.refusals import PathRefused
from tools.files.text import SAMPLE_BYTES, TextForm, text_form

__all__ = ["make_read", "open_or_say", "size_in_words"]

MOST_LINES = 2_000
MOST_CHARS = 40_000  # about 10,000 tokens of English
LINE_CHARS = 2_000
LINE_BYTES = 4 * (LINE_CHARS + 2)  # no encoding needs more for a line that is shown whole
BLOCK_BYTES = 1 << 20
MOST_SKIPPED_BYTES = 64 << 20  # of one line: its end is not looked for any further
COUNTED_BYTES = 64 << 20  # up to this size the lines after the window are counted too
MOST_WIDE_BYTES = 64 << 20  # UTF-16 and UTF-32 are decoded whole


@dataclass(slots=True)
class Window:
    """The lines that were read, and what there is to say about them."""

    lines: list[str] = field(default_factory=list)
    chars: int = 0
    whole: bool = False
    # The file ended before the window was full.
    crlf: bool = False
    cut: list[int] = field(default_factory=list)
    # Numbers of the lines that are longer than shown.
    endless: bool = False
    # The end of the last one was not found.


def make_read(jail: Jail) -> Callable[..., str]:
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
        with os.fdopen(open_or_say(jail, place), "rb", buffering=BLOCK_BYTES) as file:
            return read_window(file, place.shown, offset, min(limit, MOST_LINES))

    return file_read


def open_or_say(jail: Jail, place: Place) -> int:
    """Open a file for reading; what stands in the way is told with the path as the model knows it."""
    try:
        return jail.open_file(place)
    except FileNotFoundError:
        raise PathRefused(f"there is no file {place.shown!r}; file_list shows what there is") from None
    except OSError as error:
        raise OSError(error.errno, error.strerror, place.shown) from None


def size_in_words(size: int) -> str:
    for unit, bytes_in_it in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= bytes_in_it:
            return f"{size / bytes_in_it:.1f} {unit}"
    return f"{size} bytes"


def read_window(file: BinaryIO, shown: str, offset: int, limit: int) -> str:
    """Return `limit` lines from number `offset` on, and what to know about them. Raises `PathRefused`."""
    size = os.fstat(file.fileno()).st_size
    sample = os.pread(file.fileno(), SAMPLE_BYTES, 0)
    form = text_form(sample, cut=len(sample) == SAMPLE_BYTES)
    if form is None:
        raise PathRefused(f"{shown!r} is a binary file ({size_in_words(size)}); file_read shows text only")
    source, codec = _as_lines(file, form, shown, size)
    skipped = _skip(source, offset - 1)
    window = _take(source, codec, offset, limit) if skipped == offset - 1 else Window()
    if offset > 1 and not window.lines:
        raise PathRefused(f"offset {offset} is past the end: {shown!r} has {skipped} lines")
    text = "".join(window.lines) or "(the file is empty)"
    notes = _notes(window, form, "\N{REPLACEMENT CHARACTER}" in text)
    if window.endless:
        notes.append(f"the file ({size_in_words(size)}) goes on in that line; shell shows the rest")
    elif not window.whole:
        total = f" of {offset - 1 + len(window.lines) + _rest(source)}" if size <= COUNTED_BYTES else ""
        after = offset + len(window.lines)
        notes.insert(
            0, f"lines {offset}-{after - 1}{total} ({size_in_words(size)}); truncated, go on with offset={after}"
        )
    if not notes:
        return text
    return f"{text}{'' if text.endswith(chr(10)) else chr(10)}[{'; '.join(notes)}]"


def _as_lines(file: BinaryIO, form: TextForm, shown: str, size: int) -> tuple[BinaryIO, str]:
    """Return the file behind its mark, in an encoding where the byte 10 always ends a line, and that encoding."""
    file.seek(len(form.mark))
    if not form.codec.startswith(("utf-16", "utf-32")):
        return file, form.codec
    if size > MOST_WIDE_BYTES:
        raise PathRefused(f"{shown!r} is {form.name} and too large for file_read ({size_in_words(size)}); use shell")
    return io.BytesIO(file.read().decode(form.codec, "replace").encode("utf-8", "replace")), "utf-8"


def _skip(source: BinaryIO, lines: int) -> int:
    """Go to the line behind so many lines; return how many there were."""
    skipped, last = 0, b"\n"
    while skipped < lines:
        start = source.tell()
        block = source.read(BLOCK_BYTES)
        if not block:
            return skipped + (last != b"\n")  # the last line may have no end
        found, last = block.count(b"\n"), block[-1:]
        if skipped + found < lines:
            skipped += found
            continue
        at = -1
        while skipped < lines:
            at = block.index(b"\n", at + 1)
            skipped += 1
        source.seek(start + at + 1)
    return skipped


def _take(source: BinaryIO, codec: str, offset: int, limit: int) -> Window:
    window = Window()
    while len(window.lines) < limit and window.chars < MOST_CHARS:
        start = source.tell()
        raw = source.readline(LINE_BYTES)
        if not raw:
            break
        number = offset + len(window.lines)
        long = len(raw) == LINE_BYTES and not raw.endswith(b"\n")
        line = raw.decode(codec, "replace")
        if long or len(line) > LINE_CHARS + 2:
            line = f"{line[:LINE_CHARS]}\n"
            window.cut.append(number)
            window.endless = long and not _skip_line(source)
        if window.lines and window.chars + len(line) > MOST_CHARS:
            source.seek(start)
            return window
        if line.endswith("\r\n"):
            window.crlf, line = True, f"{line[:-2]}\n"
        window.lines.append(line)
        window.chars += len(line)
        if window.endless:
            return window
    window.whole = not source.read(1)
    if not window.whole:
        source.seek(-1, os.SEEK_CUR)
    return window


def _skip_line(source: BinaryIO) -> bool:
    """Go behind the end of this line; return whether it was found."""
    for _ in range(MOST_SKIPPED_BYTES // BLOCK_BYTES):
        raw = source.readline(BLOCK_BYTES)
        if not raw or raw.endswith(b"\n"):
            return True
    return False


def _rest(source: BinaryIO) -> int:
    lines, last = 0, b"\n"
    while block := source.read(BLOCK_BYTES):
        lines, last = lines + block.count(b"\n"), block[-1:]
    return lines + (last != b"\n")


def _notes(window: Window, form: TextForm, replaced: bool) -> list[str]:
    notes = []
    if window.cut:
        first = f"line {window.cut[0]} is" if len(window.cut) == 1 else f"{len(window.cut)} lines are"
        notes.append(f"{first} truncated to {LINE_CHARS} characters; shell shows the rest")
    kept = [*([f"encoding {form.name}"] if form.name else []), *(["CRLF line ends"] if window.crlf else [])]
    if kept:
        notes.append(f"{', '.join(kept)}: file_edit keeps {'them' if window.crlf else 'it'}")
    if replaced and form.codec == "utf-8":
        notes.append("bytes that are no text are shown as \N{REPLACEMENT CHARACTER}")
    return notes
