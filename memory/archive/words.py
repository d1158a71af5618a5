"""`Vocabulary`: the terms that the asker may see: which of them a query means, and what the entries with them score."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING

from memory.archive.access import View
from memory.archive.backend import Block, Reader, Vocable
from memory.archive.entry import CONVERSATION, CORE, DAILY, Filter
from memory.archive.hints import possible_names
from memory.archive.text import category_term, filter_terms, query_words, stem, tag_term
from memory.archive.turned import STEM_START, Turned

if TYPE_CHECKING:
    from memory.archive.score import Bearers, Postings, Scores

__all__ = ["TextSearch", "Vocabulary"]

PREFIX_LETTERS = 3
PREFIX_TERMS = 24
# What a term counts that is not the word itself: one with its stem, one that begins with it.
STEM_WEIGHT, PREFIX_WEIGHT = 0.8, 0.2
# What a word counts that may be none.
UNSURE_WEIGHT = 0.4
KEPT_VIEWS = 8
EVERY = 1_000_000
# Their names are words that say nothing of a category.
BUILT_IN = {CORE, DAILY, CONVERSATION}

Groups = list[dict[str, float]]


class TextSearch:
    """Remembers loose and gone entries from search to search, a few views' worth; may be used by several threads."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str | None, str | None], Turned] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def sight(self, reader: Reader, view: View, query: str, chosen: Filter) -> Iterator[Vocabulary]:
        """Give the terms inside the view that a query and its filter mean, for one thread at a time."""
        with self._lock:
            loose = self._turned("loose", reader, view, reader.loose(view))
            gone = self._turned("gone", reader, view, reader.gone(view))
            yield Vocabulary(reader, view, loose, gone, query, chosen)

    def _turned(self, kind: str, reader: Reader, view: View, ids: Sequence[int]) -> Turned:
        key = (kind, view.owner, view.session if kind == "loose" else None)
        turned = self._kept.pop(key, None) or Turned()
        turned.follow(reader, ids)
        self._kept[key] = turned
        while len(self._kept) > KEPT_VIEWS:
            self._kept.popitem(last=False)
        return turned


class Vocabulary:
    """The terms of all entries inside a view, as far as a query asks for them: in few questions to the reader."""

    def __init__(self, reader: Reader, view: View, loose: Turned, gone: Turned, query: str, chosen: Filter) -> None:
        self._reader, self._owner, self._loose, self._gone = reader, view.owner, loose, gone
        words = query_words(query)
        self._weights = {word.text: 1.0 if word.sure else UNSURE_WEIGHT for word in words}
        self._roots = {word.text: word.text if word.paired else stem(word.text) for word in words}
        self._longer = [
            word.text for word in words if word.sure and not word.paired and len(word.text) >= PREFIX_LETTERS
        ]
        self._required = filter_terms(chosen)
        possible = possible_names(query)
        self._names = {tag_term(name): name for name in possible}
        self._names |= {category_term(name.lower()): name.lower() for name in possible if name.lower() not in BUILT_IN}
        self._vocables: dict[str, dict[int, Vocable]] = {}
        terms = dict.fromkeys([*self._roots, *self._required, *self._names])
        asked = reader.vocables(view.owner, list(terms), list({self._roots[word] for word in self._longer}))
        self._learn(asked)
        self._alike = {vocable.term for vocable in asked}
        # terms of the blocks, among them all that have the stem of a word

    def scores(self) -> Scores:
        """Return the text scores of all entries inside the view that pass the filter and have a word of the query."""
        from memory.archive import score  # numpy takes 90 ms

        groups = self.groups()
        if not groups:
            return score.NOTHING
        found = self.postings([*{term: None for group in groups for term in group}, *self._required])
        partitions = self._reader.partitions(self._owner)
        entries = sum(each.entries for each in partitions) + len(self._loose) - len(self._gone)
        length = sum(each.length for each in partitions) + self._loose.length - self._gone.length
        return score.score(
            groups,
            found,
            required=self._required,
            hidden=self._gone.ids(),
            entries=entries,
            average=length / max(entries, 1),
        )

    def bearers(self) -> Bearers | None:
        """Return the entries that pass the filter, some of which may not be seen; None: all do."""
        from memory.archive.score import Bearers

        if not self._required:
            return None
        found = self.postings(self._required)
        return Bearers.of([found.get(term) for term in self._required])

    def names(self) -> frozenset[str]:
        """Return the tags, and the categories of one's own, that the query names and some entry inside the view has."""
        return frozenset(name for term, name in self._names.items() if self.count(term) > 0)

    def groups(self) -> Groups:
        """Return, for each word that some entry has, the terms that count as it, with their weights.

        Words of one stem are one.
        """
        gone = {word: len(self._gone.with_prefix(word, EVERY)) for word in self._longer}
        limit = PREFIX_TERMS + 1 + max(gone.values(), default=0)
        begun = self._reader.with_prefixes(self._owner, self._longer, limit) if self._longer else []
        self._learn(begun)
        groups: dict[str, dict[str, float]] = {}
        for word, root in self._roots.items():
            group = groups.setdefault(root, {})
            if word in gone:
                theirs = [vocable.term for vocable in begun if vocable.term.startswith(word)]
                for term in self._prefixed(word, [*theirs, *self._loose.with_prefix(word, limit)]):
                    group[term] = max(group.get(term, 0), PREFIX_WEIGHT)
                for term in self._related(word, root):
                    group[term] = max(group.get(term, 0), STEM_WEIGHT)
            group[word] = self._weights[word]
        seen = ({term: group[term] for term in sorted(group) if self.count(term) > 0} for group in groups.values())
        return [group for group in seen if group]

    def count(self, term: str) -> int:
        """Return how many entries inside the view have the term."""
        folded = sum(vocable.entries for vocable in self._vocables.get(term, {}).values())
        return folded + self._loose.count(term) - self._gone.count(term)

    def postings(self, terms: Sequence[str]) -> Mapping[str, Postings]:
        from memory.archive.score import postings

        if self._owner is None:  # what only begins with a word may be known of some owners only
            self._learn(self._reader.vocables(None, [term for term in terms if term not in self._alike]))
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

    def _prefixed(self, word: str, terms: Iterable[str]) -> list[str]:
        """Return the shortest of the terms that are not the word itself."""
        others = sorted(set(terms) - {word}, key=lambda term: (len(term), term))
        return list(islice((term for term in others if self.count(term) > 0), PREFIX_TERMS))

    def _related(self, word: str, root: str) -> list[str]:
        start = word[:STEM_START]
        folded = [term for term in self._alike if term.startswith(start) and stem(term) == root]
        return [*folded, *self._loose.with_stem(word, root)]

    def _learn(self, vocables: Sequence[Vocable]) -> None:
        for vocable in vocables:
            self._vocables.setdefault(vocable.term, {})[vocable.id] = vocable
