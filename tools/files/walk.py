"""`walk`: what lies below a folder, in order, without following links and without what is protected."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tools.files.jail import FOLDER_FLAGS, Bars, Place

__all__ = ["SKIPPED", "Entry", "walk"]

MOST_NAMES = 100_000  # of one folder: all must be known before the first is shown in order
DEEPEST = 64

SKIPPED = frozenset(
    {".git", ".hg", ".svn", ".venv", "venv", "node_modules", "__pycache__", ".my_agent_core"}
    | {".mypy_cache", ".ruff_cache", ".pytest_cache", ".tox", ".hypothesis"}
)
# Folders that are named but not entered: there is much in them, and seldom what is wanted.


@dataclass(frozen=True, slots=True)
class Entry:
    real: Path
    name: str
    # Relative to where the walk began, with slashes.
    level: int
    # 1: directly below where the walk began.
    status: os.stat_result
    # Of the entry itself, not of what a link leads to.
    folder: int
    # The descriptor of the folder it is in, open until the next step of the walk.

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.status.st_mode)

    @property
    def is_file(self) -> bool:
        return stat.S_ISREG(self.status.st_mode)


def walk(folder: int, place: Place, enters: Callable[[Entry], bool]) -> Iterator[Entry]:
    """Yield the entries below an open folder, sorted by name, each folder before its contents if `enters` says so."""
    yield from _below(folder, place.real, "", 1, place.bars, enters)


def _below(
    folder: int, real: Path, prefix: str, level: int, bars: Bars, enters: Callable[[Entry], bool]
) -> Iterator[Entry]:
    with os.scandir(folder) as found:
        names = sorted(entry.name for entry in islice(found, MOST_NAMES))
    for name in names:
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except OSError:
            continue  # gone since it was listed
        entry = Entry(real / name, prefix + name, level, status, folder)
        if bars.bar(entry.real, status):
            continue
        yield entry
        if not entry.is_folder or level >= DEEPEST or not enters(entry):
            continue
        try:
            within = os.open(name, FOLDER_FLAGS, dir_fd=folder)
        except OSError:
            continue  # not readable, or no folder any more: it was shown, that is all there is
        try:
            if not bars.hold(os.fstat(within)):
                yield from _below(within, entry.real, f"{entry.name}/", level + 1, bars, enters)
        finally:
            os.close(within)
