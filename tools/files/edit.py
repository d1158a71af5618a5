"""`file_edit`: one passage of a text file exchanged, every other byte as it was."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import Field

from tools.files.change import Record, change_file, read_whole
from tools.files.difference import difference
from tools.files.jail import Jail, Place
from tools.files.nearest import nearest
from tools.files.refusals import EditRefused, PathRefused
from tools.files.splice import MOST_MATCHES, is_literal, matches, splice
from tools.files.text import TextForm, text_form

__all__ = ["make_edit", "preview_edit"]


def make_edit(jail: Jail, record: Record | None) -> Callable[..., str]:
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
        place = jail.find(path, writing=True)
        told: list[str] = []

        def edit(before: bytes | None) -> bytes:
            after, where = edited(place, before, old_text, new_text, replace_all=replace_all)
            told.append(where)
            return after

        change_file(jail, place, edit, record)
        return f"Edited {place.shown}: {told[0]}"

    return file_edit


def preview_edit(jail: Jail) -> Callable[[Mapping[str, Any]], str]:
    def preview(arguments: Mapping[str, Any]) -> str:
        place = jail.find(arguments["path"], writing=True)
        before = read_whole(jail, place)
        old_text, new_text = arguments["old_text"], arguments["new_text"]
        after, _ = edited(place, before, old_text, new_text, replace_all=arguments["replace_all"])
        return difference(place.shown, before, after)

    return preview


def edited(place: Place, before: bytes | None, old_text: str, new_text: str, *, replace_all: bool) -> tuple[bytes, str]:
    """Return the bytes after the edit and where it happened, in words. Raises `PathRefused` or `EditRefused`."""
    if before is None:
        raise PathRefused(f"there is no file {place.shown!r}; file_write makes a new one")
    if not old_text:
        raise EditRefused("old_text is empty; give the text to replace (file_write writes a whole file)")
    if old_text == new_text:
        raise EditRefused("old_text and new_text are the same; there is nothing to change")
    form, text = _decoded(place, before)
    spans = matches(text, old_text)
    if not spans:
        raise EditRefused(f"old_text was not found in {place.shown!r}{nearest(text, old_text)}")
    if len(spans) > 1 and not replace_all:
        raise EditRefused(_ambiguous(place, text, [start for start, _ in spans]))
    if len(spans) > MOST_MATCHES:
        raise EditRefused(f"old_text stands in more than {MOST_MATCHES} places of {place.shown!r}; use shell")
    try:
        spliced = splice(before, form, spans, new_text, literal=is_literal(text, old_text))
    except UnicodeEncodeError as error:
        letter = error.object[error.start : error.end][:10]
        raise EditRefused(f"{place.shown!r} is {form.name}, which cannot hold {letter!r}") from None
    if spliced.content == before:
        raise EditRefused("the edit changes nothing: only its line ends differ, and those of the file are kept")
    line = text.count("\n", 0, spans[0][0]) + 1
    return spliced.content, f"1 place, line {line}" if spliced.count == 1 else f"{spliced.count} places"


def _decoded(place: Place, raw: bytes) -> tuple[TextForm, str]:
    form = text_form(raw, cut=False)
    if form is None:
        raise PathRefused(f"{place.shown!r} is a binary file; file_edit changes text only")
    try:
        text = form.decode(raw)
        exact = form.mark + form.encode(text) == raw
    except UnicodeError:
        exact = False
    if not exact:
        raise PathRefused(f"{place.shown!r} is {form.name} with bytes that would not survive an edit; use shell")
    return form, text


def _ambiguous(place: Place, text: str, starts: list[int]) -> str:
    count = f"more than {MOST_MATCHES}" if len(starts) > MOST_MATCHES else str(len(starts))
    lines = ", ".join(str(text.count("\n", 0, start) + 1) for start in starts[:5])
    more = ", ..." if len(starts) > 5 else ""
    return (
        f"old_text matches {count} places in {place.shown!r} (lines {lines}{more}); nothing was changed: "
        "give more of the lines round the one you mean, or set replace_all"
    )
