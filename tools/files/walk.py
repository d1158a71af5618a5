"""`walk`: what lies below a folder, in order, without following links and without what is protected."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from tools.files.jail import Place

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
    place: Place
    item: os.DirEntry[str]
    level: int
    # 1: directly below where the walk began.


def walk(place: Place, enters: Callable[[Entry], bool], *, level: int = 1) -> Iterator[Entry]:
    """Yield the entries below a folder, sorted by name, each folder before its contents if `enters` says so."""
    with os.scandir(place.real) as found:
        items = sorted(islice(found, MOST_NAMES), key=lambda item: item.name)
    for item in items:
        entry = Entry(place.below(item.name), item, level)
        if place.bars.bar(entry.place.real):
            continue
        yield entry
        if item.is_dir(follow_symlinks=False) and level < DEEPEST and enters(entry):
            with suppress(OSError):  # not readable, or no folder any more: it was shown, that is all there is
                yield from walk(entry.place, enters, level=level + 1)
