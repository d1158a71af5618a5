"""What a write does to the store: one entry for each key that the writer sees, room made, old things swept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from memory.archive import index
from memory.archive.access import View
from memory.archive.backend import Reader, Stored, Writer
from memory.archive.entry import ArchiveUnavailable, Entry, EntryMissing, slot
from memory.archive.passages import embedded_text
from memory.archive.text import Terms

__all__ = ["Change", "complain", "find", "forget", "meant", "put", "restore", "sweep"]

SWEPT_AT_ONCE = 100


class Change(NamedTuple):
    stored: Stored
    before: Entry | None
    # what stood under the key
    embedded: bool
    # its vectors are there already


def meant(found: Sequence[Stored], owner: str, shared: bool) -> list[Stored]:
    """Return what a key means among the entries that have it: one's own, youngest first, then the oldest.

    `shared`: a key is everybody's; else only the first one's owner's count. Mostly that is one entry. There are more
    where conversations or other owners have the key, too, or a hand wrote it twice: the first is what the key gives,
    and all of them go together.
    """
    own = [each for each in found if each.entry.owner == owner]
    own.sort(key=lambda each: (each.entry.updated, each.id), reverse=True)
    others = [each for each in found if each.entry.owner != owner]
    others.sort(key=lambda each: (each.entry.created, each.entry.owner, each.id))
    every = [*own, *others]
    return [each for each in every if shared or each.entry.owner == every[0].entry.owner]


def put(writer: Writer, entry: Entry, terms: Terms, view: View, model: str) -> Change:
    """Keep an entry in place of those that its key means inside the view."""
    # Of all times: what has expired must make room, too.
    there = writer.find(View(owner=view.owner, session=view.session), entry.key)
    old = next(iter(meant([each for each in there if view.sees(each.entry)], entry.owner, shared=True)), None)
    if old:
        entry = replace(entry, owner=old.entry.owner, created=old.entry.created)
    vectors = {}
    if old and model and embedded_text(old.entry) == embedded_text(entry):
        vectors = dict(writer.vectors(model, [old.id]))
    writer.remove([each.id for each in there])
    number = writer.insert(entry, terms)
    if old and vectors:
        writer.put_vectors(model, {number: vectors[old.id]})
    sweep(writer, view, SWEPT_AT_ONCE)
    if number % index.LOOK_EVERY == 0:
        index.fold(writer)
    return Change(Stored(number, entry), old.entry if old else None, bool(vectors))


def restore(writer: Writer, entry: Entry, terms: Terms) -> bool:
    """Keep an entry as it is, its owner, session and times included; tells whether one stood in its place."""
    there = [each.id for each in writer.find(View(owner=entry.owner), entry.key) if slot(each.entry) == slot(entry)]
    writer.remove(there)
    writer.insert(entry, terms)
    return bool(there)


def find(reader: Reader, key: str, view: View, owner: str, shared: bool) -> list[Stored]:
    """Return what the key means inside the view, as `meant` does.

    Raises `EntryMissing`, and `ArchiveUnavailable` where it may stand in what cannot be read.
    """
    found = meant(reader.find(view, key), owner, shared)
    if not found:
        complain(reader.troubles())
        raise EntryMissing(f"there is no entry {key!r}: search for it, or check the key")
    return found


def forget(writer: Writer, key: str, view: View, owner: str, shared: bool) -> Entry:
    """Remove all that the key means inside the view, and return the first. Raises as `find` does."""
    found = find(writer, key, view, owner, shared)
    writer.remove([each.id for each in found])
    index.fold(writer)
    return found[0].entry


def complain(troubles: Sequence[str], done: object = None) -> None:
    """Raise `ArchiveUnavailable` where something could not be read; `done`: what was done all the same."""
    if troubles:
        error = ArchiveUnavailable("; ".join(troubles))
        error.done = done
        raise error


def sweep(writer: Writer, view: View, limit: int) -> int:
    """Remove expired entries, whoever they belong to: nobody sees them any more."""
    ids = writer.expired(view, limit)
    if ids:
        writer.remove(ids)
    return len(ids)
