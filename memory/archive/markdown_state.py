"""`Folder`: the Markdown files of an archive as they are at this moment, each read again when it has changed."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from stat import S_ISREG

from memory.archive.entry import CONVERSATION, ArchiveRefusal, Entry, Slot, clean_category, slot, ticks
from memory.archive.sections import Section, parse, read_entry
from memory.archive.text import Terms, analyse

__all__ = ["Category", "Folder", "Record", "State"]

# A file this young may change again without its time showing it.
UNSURE_S = 0.1
# Each may go to the model with every search.
ODD_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Record:
    """An entry with its number in this process, and the section that holds it.

    `undated`: a time of it is that of the file, and goes into the section before a write makes the file younger.
    """

    id: int
    entry: Entry
    terms: Terms
    section: Section
    undated: bool = False


@dataclass(frozen=True, slots=True)
class Category:
    """One file. `trouble`: why it cannot be read; then it holds nothing, and must not be written."""

    path: Path
    name: str
    signature: tuple[int, ...]
    sections: tuple[Section, ...] = ()
    records: dict[int, Record] = field(default_factory=dict)
    # place among the sections -> what it holds
    trouble: str = ""
    odd: Sequence[tuple[str, str]] = ()
    # owner, and what of a section of theirs cannot be read


class State:
    """All files at one moment. `outdated`: what a write that was broken off left of entries that it moved."""

    def __init__(self, categories: tuple[Category, ...]) -> None:
        self.categories = categories
        every = {record.id: record for category in categories for record in category.records.values()}
        self.outdated = outdated(every.values())
        left = {number for numbers in self.outdated.values() for number in numbers}
        self.records = {number: every[number] for number in sorted(every.keys() - left)}

    @property
    def troubles(self) -> list[str]:
        """What is wrong with whole files."""
        return [each.trouble for each in self.categories if each.trouble]

    def odd(self, owner: str | None) -> list[str]:
        """Return what is wrong with sections of this owner, or of all: the first few, and how many more there are."""
        found = [text for each in self.categories for whose, text in each.odd if owner in (None, whose)]
        more = [f"and {len(found) - ODD_SHOWN} sections more"] if len(found) > ODD_SHOWN else []
        return found[:ODD_SHOWN] + more

    @cached_property
    def times(self) -> dict[tuple[str, str], list[tuple[int, str, int]]]:
        """For each owner and session (created, key, id) of the entries that have neighbours, in order."""
        found: dict[tuple[str, str], list[tuple[int, str, int]]] = {}
        for number, record in self.records.items():
            entry = record.entry
            if entry.category != CONVERSATION and entry.session:
                found.setdefault((entry.owner, entry.session), []).append((ticks(entry.created), entry.key, number))
        return {place: sorted(times) for place, times in found.items()}


class Folder:
    """Reads a directory. Not for several threads at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._state = State(())
        self._numbers = itertools.count(1)

    def state(self) -> State:
        """Return the files as they are, reading what has changed. Raises OSError if the directory cannot be read."""
        known = {category.path: category for category in self._state.categories}
        found = tuple(self._look(path, name, known.get(path)) for path, name in self._files())
        if found != self._state.categories:
            self._number_new(found)
            self._state = State(found)
        return self._state

    def adopt(self, old: Category, sections: tuple[Section, ...], records: dict[int, Record]) -> None:
        """Take over what was just written to a file, so that its entries keep their numbers."""
        stat = old.path.stat()
        # What was odd may be so no more, or have the time of the file: then it is read again.
        signature = () if old.odd else (stat.st_mtime_ns, stat.st_size, stat.st_ino)
        fresh = Category(old.path, old.name, signature, sections, records)
        others = [category for category in self._state.categories if category.path != old.path]
        self._state = State(tuple(sorted([*others, fresh], key=lambda category: category.path.name)))

    def number(self) -> int:
        return next(self._numbers)

    def _files(self) -> Iterator[tuple[Path, str]]:
        if not os.path.lexists(self.path):  # a link to nowhere is no empty archive
            return
        with os.scandir(self.path) as entries:
            names = sorted(entry.name for entry in entries if entry.name.endswith(".md"))
        for name in names:
            try:
                yield self.path / name, clean_category(name.removesuffix(".md"))
            except ArchiveRefusal:
                continue  # no name of a category, so no file of ours

    def _look(self, path: Path, name: str, known: Category | None) -> Category:
        try:
            stat = path.stat()
            if not S_ISREG(stat.st_mode):  # to read a pipe would wait for ever
                trouble = f"{str(path)!r} is no file but a folder, pipe or device: it is left as it is; move it away"
                return Category(path, name, (), trouble=trouble)
            settled = time.time() - stat.st_mtime > UNSURE_S
            signature = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
            if known and known.signature == signature and settled:
                return known
            data = path.read_bytes()
        except OSError as error:
            if not os.path.lexists(path):
                return Category(path, name, ())  # gone meanwhile
            return Category(path, name, (), trouble=f"{str(path)!r} cannot be read: {error.strerror}")
        try:
            text = data.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            trouble = f"{str(path)!r} is not UTF-8 text (byte {error.start}): it is left as it is; repair or move it"
            return Category(path, name, signature, trouble=trouble)
        sections = tuple(parse(text))
        if known and known.signature == signature and known.sections == sections:
            return known
        return self._read(Category(path, name, signature, sections), known, stat.st_mtime)

    def _read(self, category: Category, known: Category | None, mtime: float) -> Category:
        """Read the entries: those that stand as they stood keep their numbers, new ones have 0."""
        old = {(record.section, record.entry.updated): record for record in known.records.values()} if known else {}
        when = datetime.fromtimestamp(mtime, UTC)
        records: dict[int, Record] = {}
        odd: list[tuple[str, str]] = []
        for place, section in enumerate(category.sections):
            if not section.heading:
                continue
            entry, trouble, dated = read_entry(section, category.name, when)
            if trouble:
                odd.append((entry.owner if entry else "", f"{str(category.path)!r}: {trouble}"))
            if entry and (record := old.pop((section, entry.updated), None)):
                records[place] = record
            elif entry:
                # A comment that cannot be read stays as it is.
                records[place] = Record(0, entry, analyse(entry), section, undated=not dated and not trouble)
        return replace(category, records=records, odd=odd)

    def _number_new(self, categories: Sequence[Category]) -> None:
        """Give numbers to the new entries of all files, the oldest write first."""
        fresh = [
            (record.entry.updated, file, place)
            for file, category in enumerate(categories)
            for place, record in category.records.items()
            if not record.id
        ]
        for _, file, place in sorted(fresh):
            records = categories[file].records
            records[place] = replace(records[place], id=self.number())


def outdated(records: Iterable[Record]) -> dict[Slot, set[int]]:
    """Return, by slot, what is the same entry as another and older. What a hand wrote twice under a key is not."""
    slots: dict[Slot, list[Record]] = {}
    for record in records:
        slots.setdefault(slot(record.entry), []).append(record)
    found: dict[Slot, set[int]] = {}
    for place, those in slots.items():
        if len(those) > 1:
            ours = [record for record in those if record.section.ours]
            newest = {each.created: each.updated for each in sorted((r.entry for r in ours), key=lambda e: e.updated)}
            found[place] = {record.id for record in ours if record.entry.updated < newest[record.entry.created]}
    return found
