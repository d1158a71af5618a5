"""`Turned`: entries that are not in the blocks, turned round as the blocks are: which of them have a term."""

from __future__ import annotations

from bisect import bisect_left, insort
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
        self._terms: list[str] = []
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
        start = bisect_left(self._terms, prefix)
        end = bisect_left(self._terms, prefix + "\U0010ffff", lo=start)
        return self._terms[start:end]

    def _add(self, entry: int, terms: Terms) -> None:
        self._entries[entry] = terms
        self.length += terms.length
        for term, count in terms.counts.items():
            holders = self._holders.get(term)
            if holders is None:
                holders = self._holders[term] = {}
                insort(self._terms, term)
            holders[entry] = count

    def _drop(self, entry: int) -> None:
        terms = self._entries.pop(entry)
        self.length -= terms.length
        for term in terms.counts:
            holders = self._holders[term]
            del holders[entry]
            if not holders:
                del self._holders[term]
                del self._terms[bisect_left(self._terms, term)]
