"""`Jail`: the folders file tools may enter, judged by real path, and the one way to open a file in them."""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO

__all__ = ["Bars", "FileRefused", "Jail", "Place", "open_file"]

FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK  # a FIFO must not block the opening
MOST_BARRED_FILES = 10_000  # looked at for a hard link

SYSTEM = Path("/proc")  # the environment of every process is a file there, keys included


class FileRefused(ValueError):
    """A file tool refuses, in words for the model; nothing was changed, nothing of a closed file is told."""


@dataclass(frozen=True, slots=True)
class Place:
    """A path that passed the check."""

    real: Path
    shown: str
    # As the model should see it: relative to the root, else absolute.
    bars: Bars
    # What was protected when it was found.

    def below(self, name: str) -> Place:
        return Place(self.real / name, os.path.normpath(f"{self.shown}/{name}"), self.bars)


class Bars:
    """The protected folders and files as they are at this moment."""

    def __init__(self, protected: Sequence[Path | str]) -> None:
        self._places = [Path(os.path.realpath(path)) for path in protected]
        self._folded = {fold(place) for place in self._places}

    def bar(self, real: Path) -> bool:
        """Is this path itself protected? Spellings that look alike count as one."""
        return bool(self._folded) and fold(real) in self._folded

    def hold(self, status: os.stat_result) -> bool:
        """Is this open file a hard link to a protected one?"""
        return status.st_nlink > 1 and (status.st_dev, status.st_ino) in self._inodes

    @cached_property
    def _inodes(self) -> set[tuple[int, int]]:
        inside = (Path(folder, name) for top in self._places for folder, _, names in os.walk(top) for name in names)
        found = set()
        for path in islice(chain(self._places, inside), MOST_BARRED_FILES):
            with suppress(OSError):  # not there yet, or gone since it was listed
                status = path.lstat()
                found.add((status.st_dev, status.st_ino))
        return found


class Jail:
    """The root for reading and writing, readable folders beside it, and what is protected in all of them."""

    def __init__(
        self, root: Path | str, *, protected: Sequence[Path | str] = (), readable: Sequence[Path | str] = ()
    ) -> None:
        self.root = Path(os.path.realpath(root))
        self.readable = tuple(Path(os.path.realpath(folder)) for folder in readable)
        self.protected = tuple(protected)

    def barred(self, folders: Sequence[Path]) -> Jail:
        """Return the same jail with more protected folders."""
        return Jail(self.root, protected=(*self.protected, *folders), readable=self.readable)

    def find(self, path: str, *, writing: bool = False) -> Place:
        """Resolve a path of the model, relative ones from the root. Raises `FileRefused`."""
        if not path.strip() or "\0" in path:
            raise FileRefused(f"path {path!r} is no path; give one relative to the workspace")
        real = Path(os.path.realpath(self.root / os.path.expanduser(path)))  # noqa: PTH111
        inside = real.is_relative_to(self.root)
        readable = any(real.is_relative_to(folder) for folder in self.readable)
        if not inside and (writing or not readable):
            where = "in a folder that is only for reading" if readable else "outside the workspace"
            raise FileRefused(f"path {path!r} is {where}; use a path below {str(self.root)!r}")
        bars = Bars(self.protected)
        if real.is_relative_to(SYSTEM) or any(bars.bar(above) for above in (real, *real.parents)):
            raise FileRefused(f"path {path!r} is protected; file tools do not enter there")
        return Place(real, str(real.relative_to(self.root)) if inside else str(real), bars)


def open_file(place: Place) -> BinaryIO:
    """Open a regular file for reading. Raises `FileRefused`, or OSError with the path as the model knows it."""
    try:
        opened = os.open(place.real, FILE_FLAGS)
    except OSError as error:
        raise OSError(error.errno, error.strerror, place.shown) from None
    status = os.fstat(opened)
    if stat.S_ISREG(status.st_mode) and not place.bars.hold(status):
        return os.fdopen(opened, "rb")
    os.close(opened)
    if stat.S_ISDIR(status.st_mode):
        raise FileRefused(f"{place.shown!r} is a folder; use file_list")
    if stat.S_ISREG(status.st_mode):
        raise FileRefused(f"path {place.shown!r} is protected; file tools do not enter there")
    raise FileRefused(f"{place.shown!r} is no regular file (a device, pipe or socket); it is not read")


def fold(path: Path) -> str:
    """Return a path with the differences taken out that some file systems do not see."""
    return unicodedata.normalize("NFKC", str(path)).casefold()
