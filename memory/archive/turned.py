"""`Turned`: entries that are not in the blocks, turned round as the blocks are: which of them have a term."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from memory.archive.backend import Reader
from memory.archive.text import Terms, stem

__all__ = ["STEM_START", "Turned"]

# Only terms that begin alike count as of one stem, so that one stretch of the vocabulary has them all.
STEM_START = 3


class Turned:
    """What is known of some entries' terms. It follows the set of ids from search to search: an id never changes."""

    def __init__(self) -> None:
        self._entries: dict[int, Terms] = {}
        self._holders: dict[str, dict[int, int]] = {}
        self._begun: dict[str, set[str]] = {}
        # terms of three letters and more, by the first three: to keep an order would cost each new term a walk
        self.length = 0
        # sum over the entries

    def __len__(self) -> int:
        return len(self._entries)

    def follow(self, reader: Reader, ids: Collection[int]) -> None:
        wanted = set(ids)
        for entry in self._entries.keys() - wanted:
            self._drop(entry)
        fresh = sorted(wanted - self._entries.keys())
        for entry, (_, terms) in reader.terms(fresh).items() if fresh else ():
            self._add(entry, terms)

    def count(self, term: str) -> int:
        """Return how many of the entries have the term."""
        return len(self._holders.get(term, ()))

    def rows(self, term: str) -> Iterator[tuple[int, int, int]]:
        """Give (id, length, count) of the entries that have it."""
        for entry, count in self._holders.get(term, {}).items():
            yield entry, self._entries[entry].length, count

    def ids(self) -> Sequence[int]:
        return list(self._entries)

    def with_stem(self, word: str, wanted: str) -> list[str]:
        return [term for term in self._beginning(word[:STEM_START]) if stem(term) == wanted]

    def with_prefix(self, prefix: str, limit: int) -> list[str]:
        return sorted(self._beginning(prefix), key=lambda term: (len(term), term))[:limit]

    def _beginning(self, prefix: str) -> list[str]:
        """Return the terms that begin with `prefix`, which has three letters or more."""
        return [term for term in self._begun.get(prefix[:STEM_START], ()) if term.startswith(prefix)]

    def _add(self, entry: int, terms: Terms) -> None:
        self._entries[entry] = terms
        self.length += terms.length
        for term, count in terms.counts.items():
            if term not in self._holders:
                self._holders[term] = {}
                if len(term) >= STEM_START:
                    self._begun.setdefault(term[:STEM_START], set()).add(term)
            self._holders[term][entry] = count

    def _drop(self, entry: int) -> None:
        terms = self._entries.pop(entry)
        self.length -= terms.length
        for term in terms.counts:
            holders = self._holders[term]
            del holders[entry]
            if not holders:
                del self._holders[term]
                if len(term) >= STEM_START:
                    self._begun[term[:STEM_START]].discard(term)
