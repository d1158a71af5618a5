"""`MemoryStore`: the curated memory, MEMORY.md and USER.md, with its live entries and its frozen snapshot."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from memory.atomic import LOCK_TIMEOUT_S
from memory.entries import (
    Target,
    check_budget,
    checked_content,
    checked_old_text,
    checked_target,
    excerpt,
    find_entry,
    join_entries,
    parse_entries,
    tidy,
    without_secrets,
)
from memory.entry_file import EntryFile
from memory.guard import blocked, defuse, reason_to_hide, shown
from memory.journal import Action, Journal, Origin, utc_now
from memory.refusal import StoreChanged, StoreDamaged
from prompts import render

__all__ = ["MEMORY_CHAR_LIMIT", "USER_CHAR_LIMIT", "MemoryStore"]

MEMORY_CHAR_LIMIT = 2200
USER_CHAR_LIMIT = 1375
FENCE = "MEMORY_CONTEXT"

log = logging.getLogger(__name__)


class Edit(NamedTuple):
    entries: list[str]
    before: list[str]
    # What is gone
    after: list[str]
    # What came
    place: int = 0


class MemoryStore:
    """Two bounded files of entries, with a snapshot for the prompt that `load_from_disk()` freezes.

    Every write reads the file again under a lock, so that other processes lose nothing. A refusal is a
    `MemoryRefusal` and changes nothing; a disk that does not take the write is an `OSError`, and the old bytes stay.
    """

    def __init__(
        self,
        mem_dir: Path | str,
        memory_char_limit: int = MEMORY_CHAR_LIMIT,
        user_char_limit: int = USER_CHAR_LIMIT,
        *,
        origin: Callable[[], Origin] | None = None,
        clock: Callable[[], datetime] = utc_now,
        lock_timeout_s: float = LOCK_TIMEOUT_S,
    ) -> None:
        """Touch nothing: the first write makes the folder. `origin` (who?) and `clock` are asked for the journal."""
        self.mem_dir = Path(mem_dir)
        self.limits: dict[str, int] = {"memory": memory_char_limit, "user": user_char_limit}
        self.files: dict[str, str] = {"memory": "MEMORY.md", "user": "USER.md"}
        self.notices: list[str] = []  # sentences for the person about what the last load found
        self.journal = Journal(self.mem_dir, clock=clock)
        self._entries: dict[str, list[str]] = {target: [] for target in self.files}
        self._frozen: dict[str, list[str]] = {target: [] for target in self.files}
        self._snapshot: dict[str, str] = dict.fromkeys(self.files, "")
        self._damaged: set[str] = set()  # targets whose file the last load could not read
        self._unrecorded = ""  # what to say of the last write, if the journal did not take it
        self._origin = origin or Origin
        self._on_disk = {
            target: EntryFile(self.mem_dir / name, lock_timeout_s=lock_timeout_s) for target, name in self.files.items()
        }

    def load_from_disk(self) -> None:
        """Read both files and freeze the snapshot. Never raises: what is wrong with a file is in `notices`."""
        self.notices = []
        self._damaged.clear()
        for target in self.files:
            try:
                entries = parse_entries(self._on_disk[target].read())
            except StoreDamaged as error:
                entries = []
                self._damaged.add(target)
                self._notify(f"{error} This session goes on without it.")
            self._entries[target], self._frozen[target] = entries, list(entries)
            self._snapshot[target] = defuse(join_entries(self._visible(target)), FENCE)

    def entries(self, target: Target) -> list[str]:
        """Return the live entries, as the last load or write of this store saw them."""
        return list(self._entries[checked_target(target)])

    def snapshot(self, target: Target) -> list[str]:
        """Return the entries that are in the frozen snapshot."""
        return list(self._frozen[checked_target(target)])

    def used(self, target: Target) -> int:
        """Return how many characters of the budget the live entries take."""
        return len(join_entries(self._entries[checked_target(target)]))

    def reread(self, target: Target) -> list[str]:
        """Return the entries on disk. Raises `StoreDamaged`."""
        return parse_entries(self._on_disk[checked_target(target)].read())

    def find(self, target: Target, old_text: str) -> str:
        """Return the entry on disk that `old_text` means. Raises as `remove` does."""
        entries = self.reread(target)
        return entries[find_entry(entries, checked_old_text(old_text), target)]

    def format_for_system_prompt(self, target: Target) -> str:
        """Return the frozen entries of one file, without a heading; "" when there are none."""
        return self._snapshot[checked_target(target)]

    def format_all_for_system_prompt(self) -> str:
        """Return the frozen entries of both files with headings, in a fence; "" when there are none."""
        if not any(self._snapshot.values()):
            return ""
        missing = {target: "(cannot be read)" if target in self._damaged else "(empty)" for target in self.files}
        return render(FENCE.lower(), **{target: text or missing[target] for target, text in self._snapshot.items()})

    def add(self, target: Target, content: str) -> str:
        """Append an entry. An exact double is answered, and nothing is written.

        Returns one line for the model, with the characters used. Raises `ContentRefused` or `BudgetExceeded`.
        """
        entry = checked_content(content, "content")

        def appended(entries: list[str]) -> Edit | None:
            return None if entry in entries else Edit([*entries, entry], [], [entry], len(entries))

        if self._change(target, "add", appended) is None:
            return f"Entry already exists in {target}; nothing was written."
        return f"Added to {self._fill(target)}"

    def replace(self, target: Target, old_text: str, new_content: str) -> str:
        """Put `new_content` in place of the one entry that `old_text` means, the whole of it.

        Where the same entry stands already the two become one, in the first place. Returns a line with the characters
        used, and the entry that is gone. Raises `EntryNotFound`, `AmbiguousMatch`, `ContentRefused`, `BudgetExceeded`.
        """
        wanted, entry = checked_old_text(old_text), checked_content(new_content, "new_content")
        return f"Replaced in {self._swap(target, 'replace', wanted, [entry])}"

    def remove(self, target: Target, old_text: str) -> str:
        """Take out the one entry that `old_text` means.

        Returns a line with the characters used, and the entry. Raises `EntryNotFound` or `AmbiguousMatch`.
        """
        return f"Removed from {self._swap(target, 'remove', checked_old_text(old_text), [])}"

    def rewrite(self, target: Target, entries: Sequence[str], *, base: Sequence[str], action: Action = "edit") -> str:
        """Put a whole list in the place of the entries, as an editor does that began with `base`.

        Entries that were there already are not checked again. Raises `StoreChanged` if the file no longer holds `base`,
        `ContentRefused` or `BudgetExceeded`.
        """
        checked = [entry if entry in base else checked_content(entry, "an entry") for entry in entries if tidy(entry)]
        new = list(dict.fromkeys(checked))

        def rewritten(found: list[str]) -> Edit | None:
            if found != list(base):
                raise StoreChanged(
                    f"{self.files[target]} was changed by somebody else meanwhile; nothing was written. Look at its "
                    "entries again and make the change once more"
                )
            return None if new == found else Edit(new, found, new)

        if self._change(target, action, rewritten) is None:
            return f"Nothing to change in {target}."
        return f"Rewritten: {self._fill(target)}"

    def _swap(self, target: Target, action: Action, old_text: str, new: list[str]) -> str:
        """Put none or one new entry in the place of an old one, and say how full the file is and what is gone."""

        def swapped(entries: list[str]) -> Edit:
            place = find_entry(entries, old_text, target)
            merged = dict.fromkeys([*entries[:place], *new, *entries[place + 1 :]])
            return Edit(list(merged), [entries[place]], new, place)

        edit = self._change(target, action, swapped)
        gone = "".join(excerpt(shown(entry)) for entry in (edit.before if edit else []))
        return f"{self._fill(target)} It was:\n{gone}"

    def _change(self, target: Target, action: Action, make: Callable[[list[str]], Edit | None]) -> Edit | None:
        """Read the file again under the lock, change it, and write it and the journal. None: nothing was to do."""

        def made(entries: list[str]) -> Edit | None:
            if edit := make(entries):
                check_budget(edit.entries, entries, self.limits[target], target)
            return edit

        file = self._on_disk[checked_target(target)]
        self._unrecorded = ""
        if not self.mem_dir.is_dir():
            if made([]) is None:  # a refusal, or nothing to do, makes no folder
                return None
            file.make_folder()
        with file.locked():
            text = file.read()
            entries = self._entries[target] = parse_entries(text)
            edit = made(entries)
            if edit is None or join_entries(edit.entries) == text:
                return edit
            self._entries[target] = edit.entries
            try:
                self._atomic_save(target)
            except BaseException:
                self._entries[target] = entries
                raise
            self._record(target, action, edit)
        return edit

    def _atomic_save(self, target: str) -> None:
        """Write the live entries of one file, so that it is the old or the new one whatever happens."""
        self._on_disk[target].write(join_entries(self._entries[target]))

    def _record(self, target: str, action: Action, edit: Edit) -> None:
        before, after = without_secrets(edit.before), without_secrets(edit.after)
        try:
            self.journal.append(action, target, before=before, after=after, place=edit.place, origin=self._origin())
        except OSError as error:
            self._unrecorded = f" It is written, but the journal does not have it: {error}."
            log.warning("the change of %s is written, but not its line in the journal: %s", self.files[target], error)

    def _visible(self, target: str) -> list[str]:
        """Return the frozen entries as a model may see them, and tell the person what is wrong with them."""
        frozen, limit, name = self._frozen[target], self.limits[target], self.files[target]
        if (used := len(join_entries(frozen))) > limit:
            self._notify(f"{name} holds {used}/{limit} chars: it is read whole, but may only be made smaller")
        reasons = [reason_to_hide(entry) for entry in frozen]
        if why := dict.fromkeys(filter(None, reasons)):
            count = f"{len(frozen) - reasons.count(None)} of {len(frozen)}"
            self._notify(f"{name}: {count} entries hidden from the model ({'; '.join(why)}); look, and take them out")
        return [blocked(reason) if reason else entry for entry, reason in zip(frozen, reasons, strict=True)]

    def _notify(self, notice: str) -> None:
        log.warning("%s", notice)
        self.notices.append(notice)

    def _fill(self, target: Target) -> str:
        return f"{target} ({self.used(target)}/{self.limits[target]} chars used).{self._unrecorded}"
