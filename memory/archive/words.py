"""`Vocabulary`: the terms that the asker may see: which of them a query means, and what the entries with them score."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from memory.archive.access import View
from memory.archive.backend import Block, Reader, Vocable
from memory.archive.entry import CONVERSATION, CORE, DAILY, Filter
from memory.archive.hints import possible_names
from memory.archive.text import Word, category_term, filter_terms, query_words, stem, tag_term
from memory.archive.turned import STEM_START, Turned

if TYPE_CHECKING:
    from memory.archive.score import Bearers, Postings, Scores

__all__ = ["TextSearch", "Vocabulary"]

PREFIX_LETTERS = 3
PREFIX_TERMS = 24
# What a term counts that is not the word itself: one with its stem, one that begins with it.
STEM_WEIGHT, PREFIX_WEIGHT = 0.8, 0.2
KEPT_VIEWS = 8
# Their names are words that say nothing of a category.
BUILT_IN = {CORE, DAILY, CONVERSATION}

Groups = list[dict[str, float]]


class TextSearch:
    """Remembers loose and gone entries from search to search, a few views' worth; may be used by several threads."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str | None, str | None], Turned] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def sight(self, reader: Reader, view: View) -> Iterator[Vocabulary]:
        """Give the terms inside the view, for one thread at a time."""
        with self._lock:
            loose = self._turned("loose", reader, view, reader.loose(view))
            gone = self._turned("gone", reader, view, reader.gone(view))
            yield Vocabulary(reader, view, loose, gone)

    def _turned(self, kind: str, reader: Reader, view: View, ids: Sequence[int]) -> Turned:
        key = (kind, view.owner, view.session if kind == "loose" else None)
        turned = self._kept.pop(key, None) or Turned()
        turned.follow(reader, ids)
        self._kept[key] = turned
        while len(self._kept) > KEPT_VIEWS:
            self._kept.popitem(last=False)
        return turned


class Vocabulary:
    """The terms of all entries inside a view."""

    def __init__(self, reader: Reader, view: View, loose: Turned, gone: Turned) -> None:
        self._reader, self._owner, self._loose, self._gone = reader, view.owner, loose, gone
        self._vocables: dict[str, dict[int, Vocable]] = {}
        self._alike: set[str] = set()
        # terms of the blocks that have the stem of some word

    def scores(self, query: str, chosen: Filter) -> Scores:
        """Return the text scores of all entries inside the view that pass the filter and have a word of the query."""
        from memory.archive import score  # numpy takes 90 ms

        words = query_words(query)
        if not words:
            return score.NOTHING
        groups = self.groups(words)
        required = filter_terms(chosen)
        found = self.postings([*{term: None for group in groups for term in group}, *required])
        partitions = self._reader.partitions(self._owner)
        entries = sum(each.entries for each in partitions) + len(self._loose) - len(self._gone)
        length = sum(each.length for each in partitions) + self._loose.length - self._gone.length
        average = length / max(entries, 1)
        return score.score(groups, found, required=required, hidden=self._gone.ids(), entries=entries, average=average)

    def bearers(self, chosen: Filter) -> Bearers | None:
        """Return the entries that pass the filter, some of which may not be seen; None: all do."""
        from memory.archive.score import Bearers

        required = filter_terms(chosen)
        return Bearers.of([self.postings([term]).get(term) for term in required]) if required else None

    def names(self, query: str) -> frozenset[str]:
        """Return the tags, and the categories of one's own, that the query names and some entry inside the view has."""
        possible = possible_names(query)
        terms = {tag_term(name): name for name in possible}
        terms |= {category_term(name.lower()): name.lower() for name in possible if name.lower() not in BUILT_IN}
        self._learn(self._reader.vocables(self._owner, list(terms)))
        return frozenset(name for term, name in terms.items() if self.count(term) > 0)

    def groups(self, words: Sequence[Word]) -> Groups:
        """Return, for each word that some entry has, the terms that count as it, with their weights.

        Words of one stem are one.
        """
        stems = {word.text: word.text if word.paired else stem(word.text) for word in words}
        longer = [word.text for word in words if not word.paired and len(word.text) >= PREFIX_LETTERS]
        self._learn(self._reader.vocables(self._owner, list(stems)))
        alike = self._reader.with_stems(self._owner, [stems[word] for word in longer])
        self._learn(alike)
        self._alike = {vocable.term for vocable in alike}
        groups: dict[str, dict[str, float]] = {}
        for word, root in stems.items():
            group = groups.setdefault(root, {})
            if word in longer:
                for term in self._prefixed(word):
                    group[term] = max(group.get(term, 0), PREFIX_WEIGHT)
                for term in self._related(word, root):
                    group[term] = max(group.get(term, 0), STEM_WEIGHT)
            group[word] = 1.0
        seen = ({term: group[term] for term in sorted(group) if self.count(term) > 0} for group in groups.values())
        return [group for group in seen if group]

    def count(self, term: str) -> int:
        """Return how many entries inside the view have the term."""
        folded = sum(vocable.entries for vocable in self._vocables.get(term, {}).values())
        return folded + self._loose.count(term) - self._gone.count(term)

    def postings(self, terms: Sequence[str]) -> Mapping[str, Postings]:
        from memory.archive.score import postings

        # With several owners a term may be known of some of them only.
        new = [term for term in terms if self._owner is None or term not in self._vocables]
        self._learn(self._reader.vocables(self._owner, new))
        ids = [number for term in terms for number in self._vocables.get(term, {})]
        blocks: dict[int, list[Block]] = {}
        for block in self._reader.blocks(ids) if ids else ():
            blocks.setdefault(block.vocable, []).append(block)
        found = {}
        for term in terms:
            theirs = [block for number in sorted(self._vocables.get(term, {})) for block in blocks.get(number, ())]
            loose = list(self._loose.rows(term))
            if theirs or loose:
                found[term] = postings(theirs, loose)
        return found

    def _prefixed(self, word: str) -> list[str]:
        """Return the shortest terms that begin with the word."""
        there = self._gone.with_prefix(word, 1_000_000)
        vocables = self._reader.with_prefix(self._owner, word, PREFIX_TERMS + 1 + len(there))
        self._learn(vocables)
        terms = {vocable.term for vocable in vocables}
        terms.update(self._loose.with_prefix(word, PREFIX_TERMS + 1 + len(there)))
        terms.discard(word)
        seen = (term for term in sorted(terms, key=lambda term: (len(term), term)) if self.count(term) > 0)
        return [term for term, _ in zip(seen, range(PREFIX_TERMS), strict=False)]

    def _related(self, word: str, root: str) -> list[str]:
        start = word[:STEM_START]
        folded = [term for term in self._alike if term.startswith(start) and stem(term) == root]
        return [*folded, *self._loose.with_stem(word, root)]

    def _learn(self, vocables: Sequence[Vocable]) -> None:
        for vocable in vocables:
            self._vocables.setdefault(vocable.term, {})[vocable.id] = vocable
