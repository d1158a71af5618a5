"""`file_list`: what is in a folder."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Annotated

from pydantic import Field

from tools.files.jail import Jail, Place
from tools.files.read import size_in_words
from tools.files.refusals import PathRefused
from tools.files.walk import SKIPPED, Entry, walk

__all__ = ["make_list"]

MOST_ENTRIES = 1_000
DEEPEST = 10


def make_list(jail: Jail) -> Callable[..., str]:
    def file_list(
        path: Annotated[str, Field(description="folder, relative to the workspace")] = ".",
        hidden: Annotated[bool, Field(description="show names that begin with a dot")] = False,
        depth: Annotated[int, Field(ge=1, le=DEEPEST, description="levels of folders to go down")] = 1,
    ) -> str:
        """List a folder: one name a line, folders with a slash at the end, files with their size."""
        place, listing = jail.find(path), Listing(jail, hidden, depth)
        lines = list(islice(listing.lines(place), MOST_ENTRIES + 1))
        notes = []
        if len(lines) > MOST_ENTRIES:
            lines.pop()
            notes.append(f"truncated after {MOST_ENTRIES} names; list a folder below, or use file_search")
        if listing.left_out:
            notes.append(f"{listing.left_out} hidden names left out; hidden=true shows them")
        return "\n".join([*lines, *([f"[{'; '.join(notes)}]"] if notes else [])]) or "(the folder is empty)"

    return file_list


class Listing:
    def __init__(self, jail: Jail, hidden: bool, depth: int) -> None:
        self.left_out = 0
        self._jail = jail
        self._hidden = hidden
        self._depth = depth

    def lines(self, place: Place) -> Iterator[str]:
        try:
            with self._jail.folder(place) as folder:
                for entry in walk(folder, place, self._enters):
                    if self._hides(entry):
                        self.left_out += 1
                    else:
                        yield self._line(entry).replace("\n", "\\n")
        except FileNotFoundError:
            raise PathRefused(f"there is no folder {place.shown!r}") from None
        except NotADirectoryError:
            raise PathRefused(f"{place.shown!r} is no folder; file_read reads files") from None
        except OSError as error:
            raise OSError(error.errno, error.strerror, place.shown) from None

    def _hides(self, entry: Entry) -> bool:
        return entry.real.name.startswith(".") and not self._hidden

    def _enters(self, entry: Entry) -> bool:
        return entry.level < self._depth and entry.real.name not in SKIPPED and not self._hides(entry)

    def _line(self, entry: Entry) -> str:
        if entry.is_folder:
            return f"{entry.name}/"
        if entry.is_file:
            return f"{entry.name} ({size_in_words(entry.status.st_size)})"
        if not stat.S_ISLNK(entry.status.st_mode):
            return f"{entry.name} (no regular file)"
        try:
            return f"{entry.name} -> {self._jail.find(str(entry.real)).shown}"
        except PathRefused:
            return f"{entry.name} (a link that leads out of reach)"
