"""`MarkdownWriter`: the writes of the archive over Markdown files."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence

from memory.archive.access import View
from memory.archive.backend import Block, Matrix, Stored, Vocable
from memory.archive.entry import ArchiveUnavailable, Entry, Slot, slot
from memory.archive.markdown_reader import MarkdownReader
from memory.archive.markdown_state import Category, Folder, Record, State
from memory.archive.markdown_vectors import MarkdownVectors
from memory.archive.sections import Section, dated, render, section_of
from memory.archive.text import Terms
from memory.atomic import replace_text, sweep

__all__ = ["MarkdownWriter"]

log = logging.getLogger(__name__)


class MarkdownWriter(MarkdownReader):
    """Gathers changes, and writes them when the transaction ends: files with something new first.

    If the machine stops between two files, an entry that moved stands in both, and is read where it is younger.
    """

    def __init__(self, folder: Folder, state: State, vectors: MarkdownVectors) -> None:
        super().__init__(state, vectors)
        self._folder = folder
        self._records = dict(state.records)
        self._keys: dict[str, set[int]] = {}
        for record in self._records.values():
            self._keys.setdefault(record.entry.key, set()).add(record.id)
        self._gone: set[int] = set()
        self._fresh: dict[int, Record] = {}
        self._embedded: list[tuple[str, int, Matrix]] = []

    def find(self, view: View, key: str) -> list[Stored]:
        return sorted(self.fetch(view, list(self._keys.get(key, ()))), key=lambda stored: stored.id)

    def insert(self, entry: Entry, terms: Terms) -> int:
        record = Record(self._folder.number(), entry, terms, section_of(entry))
        self._records[record.id] = self._fresh[record.id] = record
        self._keys.setdefault(entry.key, set()).add(record.id)
        return record.id

    def remove(self, ids: Sequence[int]) -> None:
        for number in ids:
            if record := self._records.pop(number, None):
                self._keys[record.entry.key].discard(number)
                if self._fresh.pop(number, None) is None:
                    self._gone |= {number, *self._state.outdated.get(slot(record.entry), ())}

    def put_vectors(self, model: str, rows: Mapping[int, Matrix]) -> None:
        self._embedded += [(model, number, passages) for number, passages in rows.items() if number in self._records]

    def finish(self) -> None:
        """Write what has changed. Raises OSError, and `ArchiveUnavailable` for a file that cannot be read."""
        fresh: dict[str, dict[Slot, Record]] = {}
        for record in self._fresh.values():
            fresh.setdefault(record.entry.category, {})[slot(record.entry)] = record
        for name, records in fresh.items():
            self._write(self._home(name), records)
        homes = [self._home(name).path for name in fresh]
        for category in self._state.categories:
            held = (record.id for record in category.records.values())
            if category.path not in homes and not self._gone.isdisjoint(held):
                self._write(category, {})
        if self._embedded:
            self._write_vectors(alone=not fresh)

    def _home(self, name: str) -> Category:
        """Return the file that takes new entries of a category."""
        path = self._folder.path / f"{name}.md"
        found = [category for category in self._state.categories if category.name == name]
        found.sort(key=lambda category: category.path != path)
        return found[0] if found else Category(path, name, (), (Section("", ()),))

    def _write(self, category: Category, fresh: Mapping[Slot, Record]) -> None:
        if category.trouble:
            raise ArchiveUnavailable(category.trouble)
        sections: list[Section] = []
        records: dict[int, Record] = {}
        left = dict(fresh)
        for place, section in enumerate(category.sections):
            record = category.records.get(place)
            if record and record.id in self._gone:
                record = left.pop(slot(record.entry), None)  # what replaces it takes its place
                if record is None:
                    continue
                section = record.section
            elif record and record.undated:
                section = dated(section, record.entry)
                record = Record(record.id, record.entry, record.terms, section)
            if record:
                records[len(sections)] = record
            sections.append(section)
        for record in left.values():
            records[len(sections)] = record
            sections.append(record.section)
        if category.path.exists():
            sweep(category.path)
        replace_text(category.path, render(sections))
        self._folder.adopt(category, tuple(sections), records)

    def _write_vectors(self, *, alone: bool) -> None:
        """Vectors are a cache: beside entries, a failure to keep them is no failure."""
        files: dict[tuple[str, str], dict[bytes, Matrix]] = {}
        for model, number, passages in self._embedded:
            if record := self._records.get(number):
                files.setdefault((record.entry.category, model), {})[self._vectors.digest(record.entry)] = passages
        for (category, model), vectors in files.items():
            theirs = (record.entry for record in self._records.values() if record.entry.category == category)
            try:
                self._vectors.put(category, model, vectors, {self._vectors.digest(entry) for entry in theirs})
            except OSError:
                if alone:
                    raise
                log.warning("vectors of %s could not be kept", category, exc_info=True)

    # All entries stay loose: nothing is ever folded.

    def unfolded(self, limit: int) -> list[int]:
        return []

    def removed(self, limit: int) -> list[int]:
        return []

    def blocks_at(self, places: Sequence[tuple[int, int]]) -> list[Block]:
        return []

    def put_vocables(self, owner: str, counts: Mapping[str, tuple[str, int]]) -> list[Vocable]:
        return []

    def put_blocks(self, blocks: Iterable[Block]) -> None:
        """There are none."""

    def drop_blocks(self, blocks: Iterable[tuple[int, int]]) -> None:
        """There are none."""

    def put_partition(self, owner: str, entries: int, length: int) -> None:
        """There are none."""

    def mark_folded(self, ids: Sequence[int]) -> None:
        """They are not."""

    def forget_removed(self, ids: Sequence[int]) -> None:
        """There are none."""

    def clear(self) -> None:
        """There is nothing to clear."""
