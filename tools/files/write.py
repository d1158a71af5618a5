"""`file_write`: a whole file, new or in the place of an old one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from tools.files.change import change_file, difference, read_whole
from tools.files.jail import FileRefused, Jail
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
        if path.endswith("/"):
            raise FileRefused("path ends with a slash, as a folder does; name a file in it")
        place, after = jail.find(path, writing=True), content.encode()
        was: list[bytes | None] = []

        def take(before: bytes | None) -> bytes:
            was.append(before)
            return after

        change_file(place, take)
        if was[0] == after:
            return f"{place.shown} holds this text already; nothing was written"
        old = "new file" if was[0] is None else f"before: {size_in_words(len(was[0]))}"
        return f"Wrote {size_in_words(len(after))} to {place.shown} ({old})"

    def preview(arguments: Mapping[str, Any]) -> str:
        place = jail.find(arguments["path"], writing=True)
        return difference(place.shown, read_whole(place), arguments["content"].encode())

    return Tool(file_write, preview=preview, bar=bar)
