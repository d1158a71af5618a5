"""`fold`: puts the terms of loose entries into blocks, where a search reads them without touching the entries.

A block holds up to some thousand entries of one term, as three columns: 4 bytes each for how far the id lies above the
block's `first`, 2 for the entry's length, 1 for how often it has the term. Little endian, by rising id.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from memory.archive.backend import Block, Writer
from memory.archive.text import Terms, stem

__all__ = ["BULK", "FOLD_AT", "LOOK_EVERY", "ROW_BYTES", "fold", "fold_all", "split"]

# So many entries may be loose: each costs every search some 5 us, and each fold is paid by one store.
FOLD_AT = 128
LOOK_EVERY = 16
BULK = 8_192
BLOCK_ROWS = 2_048
ROW_BYTES = 7


def fold(writer: Writer, at: int = FOLD_AT) -> None:
    """Fold if so many entries have come together since the last time."""
    if len(writer.unfolded(at)) + len(writer.removed(at)) >= at:
        fold_all(writer)


def fold_all(writer: Writer) -> None:
    while some := writer.unfolded(BULK):
        fold_in(writer, some)
    while some := writer.removed(BULK):
        take_out(writer, some)


def fold_in(writer: Writer, ids: Sequence[int]) -> None:
    for owner, entries in by_owner(writer, ids).items():
        gathered: dict[str, Rows] = {}
        for entry, terms in sorted(entries.items()):
            for term, count in terms.counts.items():
                gathered.setdefault(term, Rows()).add(entry, terms.length, count)
        # A stem takes 100 us to find, and is asked for only where a term is new.
        known = {vocable.term for vocable in writer.vocables(owner, list(gathered))}
        counts = {term: ("" if term in known else stem(term), len(rows.ids)) for term, rows in gathered.items()}
        vocables = writer.put_vocables(owner, counts)
        # Ids only rise, so what is new belongs behind the last block.
        old = {
            block.vocable: block
            for block in writer.blocks_at([(vocable.id, gathered[vocable.term].ids[0]) for vocable in vocables])
        }
        writer.put_blocks(
            block for vocable in vocables for block in joined(vocable.id, old.get(vocable.id), gathered[vocable.term])
        )
        writer.put_partition(owner, len(entries), sum(terms.length for terms in entries.values()))
    writer.mark_folded(ids)


def take_out(writer: Writer, ids: Sequence[int]) -> None:
    for owner, entries in by_owner(writer, ids).items():
        holders: dict[str, list[int]] = {}
        for entry, terms in sorted(entries.items()):
            for term in terms.counts:
                holders.setdefault(term, []).append(entry)
        vocables = writer.put_vocables(owner, {term: ("", -len(held)) for term, held in holders.items()})
        places = [(vocable.id, entry) for vocable in vocables for entry in holders[vocable.term]]
        terms_of = {vocable.id: vocable.term for vocable in vocables}
        blocks = {block[:2]: block for block in writer.blocks_at(places)}
        left = [without(block, holders[terms_of[block.vocable]]) for block in blocks.values()]
        writer.put_blocks(block for block in left if block.data)
        writer.drop_blocks(block[:2] for block in left if not block.data)
        writer.put_partition(owner, -len(entries), -sum(terms.length for terms in entries.values()))
    writer.forget_removed(ids)


def by_owner(writer: Writer, ids: Sequence[int]) -> dict[str, dict[int, Terms]]:
    owners: dict[str, dict[int, Terms]] = {}
    for entry, (owner, terms) in writer.terms(ids).items():
        owners.setdefault(owner, {})[entry] = terms
    return owners


@dataclass(slots=True)
class Rows:
    """The columns of a block."""

    ids: list[int] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)

    def add(self, entry: int, length: int, count: int) -> None:
        self.ids.append(entry)
        self.lengths.append(length)
        self.counts.append(count)


def joined(vocable: int, old: Block | None, new: Rows) -> Iterable[Block]:
    """Give the blocks that hold the old block's rows and then the new ones."""
    first = old.first if old else new.ids[0]
    before, lengths, counts = split(old.data) if old else (b"", b"", b"")
    steps = before + packed("I", [entry - first for entry in new.ids])
    lengths += packed("H", new.lengths)
    counts += bytes(new.counts)
    if len(counts) <= BLOCK_ROWS:
        yield Block(vocable, first, steps + lengths + counts)
        return
    ids = [first + step for step in unpacked("I", steps)]
    for start in range(0, len(ids), BLOCK_ROWS):
        some = ids[start : start + BLOCK_ROWS]
        base = first if start == 0 else some[0]
        columns = [packed("I", [entry - base for entry in some]), lengths[2 * start : 2 * (start + BLOCK_ROWS)]]
        yield Block(vocable, base, b"".join([*columns, counts[start : start + BLOCK_ROWS]]))


def without(block: Block, ids: Sequence[int]) -> Block:
    steps, lengths, counts = split(block.data)
    there = unpacked("I", steps)
    for entry in ids:
        place = bisect_left(there, entry - block.first) if entry >= block.first else len(there)
        if place < len(there) and there[place] == entry - block.first:
            del there[place]
            lengths = lengths[: 2 * place] + lengths[2 * place + 2 :]
            counts = counts[:place] + counts[place + 1 :]
    return Block(block.vocable, block.first, packed("I", there) + lengths + counts)


def split(data: bytes) -> tuple[bytes, bytes, bytes]:
    """Return the three columns."""
    rows = len(data) // ROW_BYTES
    return data[: 4 * rows], data[4 * rows : 6 * rows], data[6 * rows :]


def packed(kind: str, numbers: Iterable[int]) -> bytes:
    column = array(kind, numbers)
    if BIG_ENDIAN:
        column.byteswap()
    return column.tobytes()


def unpacked(kind: str, data: bytes) -> array[int]:
    column = array(kind, data)
    if BIG_ENDIAN:
        column.byteswap()
    return column


BIG_ENDIAN = array("H", [1]).tobytes() == b"\0\1"
