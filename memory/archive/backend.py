"""`Backend`: storage of the archive, and nothing else: no rules, no scoring.

A backend keeps four things. Who may see an entry, which entry a key means, what a query finds and in which order is
decided once, above it; a backend applies the `View` it is given before any limit.

*Entries*, each with a number of its own (`id`). A changed entry is a new one: the old is removed, the new inserted
under a new, higher id, so whatever is known of an id stays true for ever. Ids are never given twice.

*Terms* of each entry (`text.Terms`, handed in with it).

*Blocks*: the terms of most entries once more, turned round: for a term of an owner, which ids have it, how often, and
how long each entry is. `index.py` alone writes them (it *folds* loose entries in) and reads their bytes. An entry is
*loose* until it is folded; conversation entries are loose for ever. Statistics of an owner count what is in the blocks,
nothing else, and a removed entry stays counted until the next fold: then it is *gone*. Folding changes no answer.

*Vectors* of entries: a cache, float32, length 1, one row a passage, for each model identity.

What blocks stays blocking here: `Archive` runs it in threads, so `reading()` and `writing()` are called from several
threads at once, and what each gives is used by one thread. Raises `ArchiveUnavailable` where the store cannot be used:
the text names the file or server and what to do, without words of the machinery.
"""

# Over 250 lines because a protocol is read from one page, and its docstrings are what a backend is written from.

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from memory.archive.access import View
from memory.archive.entry import Entry
from memory.archive.text import Terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]
else:
    Matrix = object  # numpy takes 90 ms to import

__all__ = ["Backend", "Block", "Matrix", "Neighbour", "Partition", "Reader", "Stored", "Vocable", "Writer"]


class Stored(NamedTuple):
    id: int
    entry: Entry


class Neighbour(NamedTuple):
    id: int
    steps: int
    # 1: nothing lies between
    apart: int
    # ticks between the two `created`


class Partition(NamedTuple):
    """The folded entries of one owner."""

    owner: str
    entries: int
    length: int
    # sum of their `Terms.length`


class Vocable(NamedTuple):
    """A term of an owner, in the blocks."""

    id: int
    owner: str
    term: str
    entries: int
    # how many folded entries have it


class Block(NamedTuple):
    vocable: int
    first: int
    # smallest entry id in it; (vocable, first) is unique
    data: bytes


class Reader(Protocol):
    """One consistent sight of the store. Nothing in it writes."""

    def troubles(self) -> Sequence[str]:
        """Return sentences that name what of the store cannot be read, while the rest can; mostly there are none."""
        ...

    # Entries

    def find(self, view: View, key: str) -> list[Stored]:
        """Return the entries of exactly this key inside the view, smallest id first."""
        ...

    def fetch(self, view: View, ids: Sequence[int]) -> list[Stored]:
        """Return those of the ids that are inside the view, in any order. Up to a few thousand ids."""
        ...

    def page(self, view: View, after: int, limit: int) -> list[Stored]:
        """Return entries inside the view with an id above `after`, smallest first, at most `limit`."""
        ...

    def expired(self, view: View, limit: int) -> list[int]:
        """Return ids of entries that `view.expired` is true for, of any owner, at most `limit`."""
        ...

    def around(self, view: View, ids: Sequence[int], reach: int) -> Mapping[int, list[Neighbour]]:
        """Return, for each id, its neighbours in time inside the view: the `reach` entries next before and after it.

        Neighbours have the same owner and session, one that is not "", and another `created`; those of one time are in
        order of key, by code point. Conversation entries are nobody's neighbours. In any order, without itself.
        """
        ...

    def counts(self, view: View) -> Mapping[tuple[str, str], int]:
        """Return how many entries of each (owner, category) are inside the view."""
        ...

    # Terms

    def loose(self, view: View) -> list[int]:
        """Return the ids of entries inside the view that are not folded."""
        ...

    def gone(self, view: View) -> list[int]:
        """Return the ids in the blocks of the view's owner (of all, if it is None) that are not inside the view.

        That is: removed since the last fold, or expired.
        """
        ...

    def terms(self, ids: Sequence[int]) -> Mapping[int, tuple[str, Terms]]:
        """Return owner and terms of entries and of gone ones. Up to a few thousand ids."""
        ...

    def partitions(self, owner: str | None) -> list[Partition]:
        """Return the partition of the owner, or all, those with folded entries only."""
        ...

    def vocables(self, owner: str | None, terms: Sequence[str], stems: Sequence[str] = ()) -> list[Vocable]:
        """Return those of exactly these terms, and those whose `text.stem` is one of these; each once."""
        ...

    def with_prefixes(self, owner: str | None, prefixes: Sequence[str], limit: int) -> list[Vocable]:
        """Return those that begin with a prefix: of each owner and prefix, at most `limit`.

        The shortest (in characters) first, those of one length by code point.
        """
        ...

    def blocks(self, vocables: Sequence[int]) -> list[Block]:
        """Return all blocks of these vocables, for each of them by rising `first`."""
        ...

    # Vectors

    def unembedded(self, view: View, model: str, limit: int) -> list[Stored]:
        """Return entries inside the view that have no vectors of this model, in any order, at most `limit`."""
        ...

    def nearest(self, owner: str | None, model: str, vector: Matrix, limit: int) -> list[int]:
        """Return the ids whose best passage is nearest to the vector (one dimension, length 1), nearest first.

        Each id once, entries of the owner only, removed ones may be among them. With an owner the answer may not depend
        on anybody else's rows: an approximate index over all owners is for None alone.
        """
        ...

    def vectors(self, model: str, ids: Sequence[int]) -> Mapping[int, Matrix]:
        """Return the passages (rows) of those ids that have vectors of this model, bit for bit as they were put."""
        ...

    def embedded(self, view: View, model: str) -> int:
        """Return how many entries inside the view have vectors of this model."""
        ...


class Writer(Reader, Protocol):
    """One exclusive transaction: all of it is kept, durably, when the block ends, or nothing if it raises."""

    def insert(self, entry: Entry, terms: Terms) -> int:
        """Keep an entry, loose, under a new id."""
        ...

    def remove(self, ids: Sequence[int]) -> None:
        """Remove entries and their vectors; a folded one is gone from here on, and its terms stay readable."""
        ...

    def put_vectors(self, model: str, rows: Mapping[int, Matrix]) -> None:
        """Keep passages of these ids in place of any they had, of whatever model; pass over ids that are no more."""
        ...

    # For `index.py`: folding. `terms` gives what is to be folded.

    def unfolded(self, limit: int) -> list[int]:
        """Return ids of loose entries, except conversation entries, smallest first, at most `limit`."""
        ...

    def removed(self, limit: int) -> list[int]:
        """Return ids that were removed since the last fold and are still in blocks, smallest first, at most `limit`."""
        ...

    def blocks_at(self, places: Sequence[tuple[int, int]]) -> list[Block]:
        """Return, for each (vocable, id), the block of the vocable with the highest `first` that is not above the id.

        In any order; one that several places have in common may come several times.
        """
        ...

    def put_vocables(self, owner: str, counts: Mapping[str, tuple[str, int]]) -> list[Vocable]:
        """Add differences to the number of entries of terms: term -> (stem, difference).

        Unknown terms are made; a term left with none stays until `clear`. Returns them all, as they are afterwards.
        """
        ...

    def put_blocks(self, blocks: Iterable[Block]) -> None:
        """Keep blocks, in place of those with the same (vocable, first)."""
        ...

    def drop_blocks(self, blocks: Iterable[tuple[int, int]]) -> None:
        """Drop the blocks of these (vocable, first)."""
        ...

    def put_partition(self, owner: str, entries: int, length: int) -> None:
        """Add differences (which may be negative) to a partition; it is made if it is not there."""
        ...

    def mark_folded(self, ids: Sequence[int]) -> None:
        """These entries are no longer loose."""
        ...

    def forget_removed(self, ids: Sequence[int]) -> None:
        """These removed ids are no longer in blocks."""
        ...

    def clear(self) -> None:
        """Drop all partitions, vocables, blocks and what was removed; every entry is loose."""
        ...


class Backend(Protocol):
    name: str
    # "markdown", "sqlite" or "postgres"
    place: str
    # the file, folder or server, for messages; without a password
    folders: Sequence[Path]
    # what holds its files: no sub-agent may read or write in there

    def reading(self) -> AbstractContextManager[Reader]: ...

    def writing(self) -> AbstractContextManager[Writer]:
        """Give the only writer at this moment, over all processes; waits some seconds for another to end."""
        ...

    def close(self) -> None:
        """Give everything back; a second call does nothing."""
        ...
