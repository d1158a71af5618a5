"""`Edit`: what one change makes of a list of entries, and whether the result fits. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory.credentials import credential_kind
from memory.entries import ENTRY_DELIMITER, find_entry, join_entries, listing
from memory.refusal import BudgetExceeded, StoreChanged

__all__ = ["Edit", "appended", "check_budget", "removed", "replaced", "rewritten", "without_secrets"]


@dataclass(frozen=True, slots=True)
class Edit:
    entries: list[str]
    before: str | None = None
    # What is gone, as the journal keeps it: an entry, or of a rewrite the text of the file
    after: str | None = None
    # What came
    place: int = 0
    # The index of the entry


def appended(entries: Sequence[str], entry: str) -> Edit | None:
    """Return the entries with one more at the end; None if it is there already."""
    return None if entry in entries else Edit([*entries, entry], after=entry, place=len(entries))


def replaced(entries: Sequence[str], old_text: str, entry: str, target: str) -> Edit:
    """Return the entries with another in place of the one that `old_text` means; equal ones become one, the first."""
    place = find_entry(entries, old_text, target)
    merged = dict.fromkeys([*entries[:place], entry, *entries[place + 1 :]])
    return Edit(list(merged), before=entries[place], after=entry, place=place)


def removed(entries: Sequence[str], old_text: str, target: str) -> Edit:
    """Return the entries without the one that `old_text` means."""
    place = find_entry(entries, old_text, target)
    return Edit([*entries[:place], *entries[place + 1 :]], before=entries[place], place=place)


def rewritten(entries: Sequence[str], new: Sequence[str], base: Sequence[str], name: str) -> Edit | None:
    """Return the new entries, if the file still holds what their writer began with; None where nothing changes."""
    if list(entries) != list(base):
        raise StoreChanged(
            f"{name} was changed by somebody else meanwhile; nothing was written. Look at its entries again and make "
            "the change once more"
        )
    return None if list(new) == list(base) else Edit(list(new), before=join_entries(base), after=join_entries(new))


def check_budget(edit: Edit, entries: Sequence[str], limit: int, target: str) -> None:
    """Raise `BudgetExceeded` if the file would be too long; one that is too long already may be made shorter."""
    would, used = len(join_entries(edit.entries)), len(join_entries(entries))
    if would <= limit or would < used:
        return
    there = f"The entries of {target} ({used} chars):\n{listing(entries)}" if entries else "It holds no entry."
    raise BudgetExceeded(
        f"{target} would hold {would}/{limit} chars. Shorten the text, or first replace several entries with one or "
        f"remove what is out of date, then try again. {there}"
    )


def without_secrets(text: str | None) -> str | None:
    """Return an entry, or several as the file has them, with those that hold a key named and not shown."""
    if text is None:
        return None
    entries = text.split(ENTRY_DELIMITER)
    return ENTRY_DELIMITER.join(
        f"[not kept: {kind}]" if (kind := credential_kind(entry)) else entry for entry in entries
    )
