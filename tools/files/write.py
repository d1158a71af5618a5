"""`file_write`: a whole file, new or in the place of an old one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from tools.files.change import Make, change_file, preview_change
from tools.files.jail import FileRefused, Jail, Place
from tools.files.text import text_form
from tools.tool import Bar, Tool
from tools.words import size_in_words

__all__ = ["make_write"]


def make_write(jail: Jail, bar: Bar) -> Tool:
    def file_write(
        path: Annotated[str, Field(description="relative to the workspace; missing folders are made")],
        content: Annotated[str, Field(description="the whole text of the file")],
    ) -> str:
        """Write a whole text file (UTF-8), in the place of the old one if there is one.

        To change a part of a file use file_edit.
        """
        return change_file(*written(path, content))

    def preview(arguments: Mapping[str, Any]) -> str:
        return preview_change(*written(**arguments))

    def written(path: str, content: str) -> tuple[Place, Make]:
        if path.endswith("/"):
            raise FileRefused("path ends with a slash, as a folder does; name a file in it")
        place, after = jail.find(path, writing=True), content.encode()

        def make(before: bytes | None) -> tuple[bytes, str]:
            if before == after:
                return after, f"{place.shown} holds this text already; nothing was written"
            return after, f"Wrote {size_in_words(len(after))} to {place.shown} ({_was(before, after)})"

        return place, make

    return Tool(file_write, preview=preview, bar=bar)


def _was(before: bytes | None, after: bytes) -> str:
    """Return what a file was before, and what of its form is lost."""
    if before is None:
        return "new file"
    form = text_form(before, cut=False)
    lost = [f"{form.name}, now UTF-8"] if form is not None and form.name else []
    if b"\r\n" in before and b"\r\n" not in after and b"\n" in after:
        lost.append("line ends CRLF, now LF")
    return "; ".join([f"before: {size_in_words(len(before))}", *lost])
