"""`file_edit`: one passage of a text file exchanged, every other byte as it was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from tools.files.change import Make, change_file, preview_change
from tools.files.jail import FileRefused, Jail, Place
from tools.files.splice import MOST_MATCHES, matches, splice
from tools.files.text import TextForm, text_form
from tools.tool import Bar, Tool

__all__ = ["make_edit"]

MOST_LINES = 5_000
LINE_CHARS = 200
CONTEXT = 2


def make_edit(jail: Jail, bar: Bar) -> Tool:
    def file_edit(
        path: Annotated[str, Field(description="relative to the workspace")],
        old_text: Annotated[str, Field(description="the exact text to replace, with its blanks and indentation")],
        new_text: Annotated[str, Field(description="the text in its place")],
        replace_all: Annotated[bool, Field(description="replace every place, not just the only one")] = False,
    ) -> str:
        """Replace `old_text` by `new_text` in a text file.

        `old_text` must stand there exactly once: give enough of the lines round it, or set replace_all. Line ends,
        encoding and the rest of the file stay as they are.
        """
        return change_file(*edit(path, old_text, new_text, replace_all))

    def preview(arguments: Mapping[str, Any]) -> str:
        return preview_change(*edit(**arguments))

    def edit(path: str, old_text: str, new_text: str, replace_all: bool) -> tuple[Place, Make]:
        place = jail.find(path, writing=True)
        return place, lambda before: edited(place, before, old_text, new_text, replace_all)

    return Tool(file_edit, preview=preview, bar=bar)


def edited(place: Place, before: bytes | None, old_text: str, new_text: str, replace_all: bool) -> tuple[bytes, str]:
    """Return the bytes after the edit, and words for the model. Raises `FileRefused`."""
    if before is None:
        raise FileRefused(f"there is no file {place.shown!r}; file_write makes a new one")
    if not old_text:
        raise FileRefused("old_text is empty; give the text to replace (file_write writes a whole file)")
    if old_text == new_text:
        raise FileRefused("old_text and new_text are the same; there is nothing to change")
    form, text = decoded(place, before)
    spans = matches(text, old_text)
    lines = [str(text.count("\n", 0, start) + 1) for start, _ in spans[:5]]
    if not spans:
        raise FileRefused(f"old_text was not found in {place.shown!r}{nearest(text, old_text)}")
    if len(spans) > MOST_MATCHES:
        raise FileRefused(f"old_text matches more than {MOST_MATCHES} places in {place.shown!r}; use shell")
    if len(spans) > 1 and not replace_all:
        where = (
            f"{len(spans)} places in {place.shown!r} (lines {', '.join(map(str, lines))}{', ...' * (len(spans) > 5)})"
        )
        advice = "give more of the lines round the one you mean, or set replace_all"
        raise FileRefused(f"old_text matches {where}; nothing was changed: {advice}")
    spliced, count = splice(text, spans, new_text)
    try:
        after = form.mark + form.encode(spliced)
    except UnicodeEncodeError as error:
        letter = error.object[error.start : error.end][:10]
        raise FileRefused(f"{place.shown!r} is {form.name}, which cannot hold {letter!r}") from None
    if after == before:
        raise FileRefused("the edit changes nothing: only its line ends differ, and those of the file are kept")
    return after, f"Edited {place.shown}: " + (f"1 place, line {lines[0]}" if count == 1 else f"{count} places")


def decoded(place: Place, raw: bytes) -> tuple[TextForm, str]:
    form = text_form(raw, cut=False)
    if form is None:
        raise FileRefused(f"{place.shown!r} is a binary file; file_edit changes text only")
    text = form.decode(raw)
    if form.mark + form.encode(text) != raw:
        raise FileRefused(f"{place.shown!r} is {form.name} with bytes that would not survive an edit; use shell")
    return form, text


def nearest(text: str, wanted: str) -> str:
    """Return words that go on after "was not found": the nearest lines, with their numbers, or that there are none."""
    import difflib  # 10 ms, and only a failed edit needs it

    lines = [line[:LINE_CHARS] for line in text.replace("\r\n", "\n").split("\n")[:MOST_LINES]]
    anchor = max((line.strip()[:LINE_CHARS] for line in wanted.split("\n")), key=len)
    if not anchor:
        return "; it holds only blanks"
    stripped = [line.strip() for line in lines]
    close = difflib.get_close_matches(anchor, stripped, n=1)
    if not close:
        return " and no line is like it; read the file again"
    first = max(0, stripped.index(close[0]) - CONTEXT)
    shown = [f"{number}: {line}" for number, line in enumerate(lines[first : first + 2 * CONTEXT + 1], first + 1)]
    return "\n".join(["; the nearest lines are:", *shown])
