"""`file_list`: what is in a folder."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tools.files.jail import FileRefused, Jail
from tools.files.walk import SKIPPED, Entry, walk
from tools.tool import Bar, Tool
from tools.words import size_in_words, with_notes

__all__ = ["make_list"]

MOST_ENTRIES = 1_000
DEEPEST = 10


def make_list(jail: Jail, bar: Bar) -> Tool:
    def file_list(
        path: Annotated[str, Field(description="folder, relative to the workspace")] = ".",
        depth: Annotated[int, Field(ge=1, le=DEEPEST, description="levels of folders to go down")] = 1,
    ) -> str:
        """List a folder: one name a line, folders with a slash at the end, files with their size."""
        place = jail.find(path)
        lines: list[str] = []
        notes: list[str] = []

        def enters(entry: Entry) -> bool:
            return entry.level < depth and entry.item.name not in SKIPPED

        try:
            for entry in walk(place, enters):
                if len(lines) < MOST_ENTRIES:
                    name = entry.place.real.relative_to(place.real).as_posix()
                    lines.append(described(jail, entry, name.replace("\n", "\\n")))
                else:
                    notes.append(f"truncated after {MOST_ENTRIES} names; list a folder below, or use file_search")
                    break
        except FileNotFoundError:
            raise FileRefused(f"there is no folder {place.shown!r}") from None
        except NotADirectoryError:
            raise FileRefused(f"{place.shown!r} is no folder; file_read reads files") from None
        return with_notes("\n".join(lines), notes) or "(the folder is empty)"

    return Tool(file_list, parallel=True, bar=bar)


def described(jail: Jail, entry: Entry, name: str) -> str:
    if entry.item.is_dir(follow_symlinks=False):
        return f"{name}/"
    if entry.item.is_file(follow_symlinks=False):
        return f"{name} ({size_in_words(entry.item.stat(follow_symlinks=False).st_size)})"
    if not entry.item.is_symlink():
        return f"{name} (no regular file)"
    try:
        return f"{name} -> {jail.find(str(entry.place.real)).shown}"
    except FileRefused:
        return f"{name} (a link that leads out of reach)"
