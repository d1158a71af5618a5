"""`Jail`: the folders file tools may enter, judged by real path and held while a file is open.

A path is resolved first (links, `..`, `~`), also where its end does not exist yet, and must lie below the root or, for
reading, below a readable folder. Then it is walked from there name by name without following any link, so that a
link put in place after the check leads nowhere. Protected folders are known by name and by inode.
"""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools.files.refusals import PathRefused

__all__ = ["Bars", "Jail", "Place", "short"]

FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK  # a FIFO must not block the opening
SHOWN_CHARS = 200
MOST_BARRED_FILES = 10_000  # looked at for a hard link

SYSTEM = Path("/proc")  # the environment of every process is a file there, keys included


@dataclass(frozen=True, slots=True)
class Place:
    """A path that passed the check."""

    real: Path
    base: Path
    # The folder it was found to lie below.
    shown: str
    # As the model should see it: relative to the root, else absolute.
    bars: Bars
    # What was protected when it was found.


class Bars:
    """The protected folders and files as they are at this moment."""

    def __init__(self, protected: Sequence[Path]) -> None:
        self._places = [Path(os.path.realpath(path)) for path in protected]
        self._folded = {fold(place) for place in self._places}
        self._inodes: set[tuple[int, int]] = set()
        self._linked: set[tuple[int, int]] | None = None
        for place in self._places:
            try:
                self._inodes.add(inode(place.stat()))
            except OSError:
                continue  # not there yet: known by name only

    def cover(self, real: Path) -> bool:
        """Is this path, or a folder above it, protected? Spellings that look alike count as one."""
        return any(fold(path) in self._folded for path in (real, *real.parents))

    def bar(self, real: Path, status: os.stat_result) -> bool:
        """Is this entry of a folder that is not protected itself protected?"""
        return bool(self._places) and (fold(real) in self._folded or self.hold(status))

    def hold(self, status: os.stat_result) -> bool:
        """Is this open file or folder itself protected, or a hard link to a protected file?"""
        if inode(status) in self._inodes:
            return True
        if not stat.S_ISREG(status.st_mode) or status.st_nlink < 2:
            return False
        if self._linked is None:
            self._linked = self._files_inside()
        return inode(status) in self._linked

    def _files_inside(self) -> set[tuple[int, int]]:
        found: set[tuple[int, int]] = set()
        for place in self._places:
            for folder, _, names in os.walk(place):
                for name in names:
                    try:
                        found.add(inode(Path(folder, name).lstat()))
                    except OSError:
                        continue  # gone since it was listed
                if len(found) > MOST_BARRED_FILES:
                    return found
        return found


class Jail:
    """The root for reading and writing, readable folders beside it, and what is protected in all of them."""

    def __init__(self, root: Path | str, *, protected: Sequence[Path] = (), readable: Sequence[Path] = ()) -> None:
        self.root = Path(os.path.realpath(root))
        self.readable = tuple(Path(os.path.realpath(folder)) for folder in readable)
        self.protected = tuple(Path(path) for path in protected)

    def barred(self, folders: Sequence[Path]) -> Jail:
        """Return the same jail with more protected folders."""
        return Jail(self.root, protected=(*self.protected, *folders), readable=self.readable)

    def find(self, path: str, *, writing: bool = False) -> Place:
        """Resolve a path of the model, relative ones from the root. Raises `PathRefused`."""
        if not path.strip() or "\0" in path:
            raise PathRefused(f"path {short(path)} is no path; give one relative to the workspace")
        spelled = os.path.expanduser(path) if path == "~" or path.startswith("~/") else path  # noqa: PTH111
        try:
            real = Path(os.path.realpath(self.root / spelled))
        except (OSError, ValueError) as error:
            raise PathRefused(f"path {short(path)} cannot be resolved: {error}") from None
        bases = [self.root] if writing else [self.root, *self.readable]
        base = next((folder for folder in bases if real.is_relative_to(folder)), None)
        if base is None:
            only_read = any(real.is_relative_to(folder) for folder in self.readable)
            where = "in a folder that is only for reading" if only_read else "outside the workspace"
            raise PathRefused(f"path {short(path)} is {where}; use a path below {str(self.root)!r}")
        bars = Bars(self.protected)
        if bars.cover(real) or (real.is_relative_to(SYSTEM) and not base.is_relative_to(SYSTEM)):
            raise self._protected(path)
        return self._place(real, base, bars)

    def below(self, place: Place, real: Path) -> Place:
        """Return the place of a real path below a folder that was found, known not to be protected."""
        return self._place(real, place.base, place.bars)

    def _place(self, real: Path, base: Path, bars: Bars) -> Place:
        shown = str(real.relative_to(self.root)) if real.is_relative_to(self.root) else str(real)
        return Place(real, base, shown, bars)

    @contextmanager
    def folder(self, place: Place, *, parent: bool = False, make: bool = False) -> Iterator[int]:
        """Hold the descriptor of a folder (or of the folder above a file), reached without following links.

        make: create the missing ones. Raises OSError or `PathRefused`.
        """
        names = place.real.relative_to(place.base).parts
        held = os.open(place.base, FOLDER_FLAGS)
        try:
            for name in names[:-1] if parent else names:
                if make:
                    _make_folder(name, held)
                within = os.open(name, FOLDER_FLAGS, dir_fd=held)
                os.close(held)
                held = within
                if place.bars.hold(os.fstat(held)):
                    raise self._protected(place.shown)
            if not names and place.bars.hold(os.fstat(held)):
                raise self._protected(place.shown)
            yield held
        finally:
            os.close(held)

    def open_file(self, place: Place, *, within: int | None = None) -> int:
        """Open a regular file for reading and return its descriptor. Raises OSError or `PathRefused`.

        within: the descriptor of its folder, where it is held already.
        """
        if within is None:
            if place.real == place.base:
                raise PathRefused(f"{place.shown!r} is a folder; use file_list")
            with self.folder(place, parent=True) as folder:
                return self.open_file(place, within=folder)
        opened = os.open(place.real.name, FILE_FLAGS, dir_fd=within)
        status = os.fstat(opened)
        if stat.S_ISREG(status.st_mode) and not place.bars.hold(status):
            return opened
        os.close(opened)
        if stat.S_ISDIR(status.st_mode):
            raise PathRefused(f"{place.shown!r} is a folder; use file_list")
        if stat.S_ISREG(status.st_mode):
            raise self._protected(place.shown)
        raise PathRefused(f"{place.shown!r} is no regular file (a device, pipe or socket); it is not read")

    @staticmethod
    def _protected(path: str) -> PathRefused:
        return PathRefused(f"path {short(path)} is protected; file tools do not enter there")


def short(path: str) -> str:
    """Return a path for a message, in quotes; a model that writes ten thousand characters need not read them again."""
    return repr(path if len(path) <= SHOWN_CHARS else f"{path[:SHOWN_CHARS]}...")


def inode(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def fold(path: Path) -> str:
    """Return a path with the differences taken out that some file systems, and most eyes, do not see."""
    text = unicodedata.normalize("NFKC", str(path)).casefold()
    return text if text.isascii() else "".join(c for c in text if unicodedata.category(c) != "Cf")


def _make_folder(name: str, within: int) -> None:
    try:
        os.mkdir(name, dir_fd=within)
    except FileExistsError:
        return
