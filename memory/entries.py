"""Entries: the text of a file of them, parted by lines that hold only `§`, and what one change makes of a list."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Sequence
from typing import Literal

from memory.credentials import credential_kind, known_keys
from memory.guard import reason_to_refuse, shown
from memory.refusal import AmbiguousMatch, BudgetExceeded, ContentRefused, EntryNotFound, MemoryRefusal

__all__ = ["ENTRY_DELIMITER", "Target", "check_budget", "checked_content", "checked_old_text", "checked_target"]
__all__ += ["excerpt", "find_entry", "join_entries", "listing", "parse_entries", "tidy", "without_secrets"]

Target = Literal["memory", "user"]
ENTRY_DELIMITER = "\n§\n"
DIVIDER = r"(?m)^[^\S\n]*§[^\S\n]*$"  # only "\n" ends a line
LONGEST_QUOTE = 200
LONGEST_EXCERPT = 2_000
LONGEST_LISTING = 12_000
MOST_LISTED = 200


def parse_entries(text: str) -> list[str]:
    """Return the entries of a file's text, each once, without blanks round them.

    Tolerant: byte order marks, CRLF, blanks beside a `§`, blank lines and empty entries are nothing.
    """
    text = text.replace("\ufeff", "")
    if "\r" in text:
        text = re.sub("\r+\n", "\n", text)
    parts = text.split(ENTRY_DELIMITER)
    if text.count("§") >= len(parts):  # not all of them stand between two entries as we write them
        parts = re.split(DIVIDER, text)
    return list(dict.fromkeys(entry for part in parts if (entry := part.strip())))


def join_entries(entries: Sequence[str]) -> str:
    """Return the text of a file with these entries. Its length is what counts against the budget."""
    return ENTRY_DELIMITER.join(entries)


def tidy(content: str) -> str:
    """Return content as it is stored: line ends are `\\n`, no byte order mark, no blanks round it."""
    return content.replace("\ufeff", "").replace("\r\n", "\n").replace("\r", "\n").strip()


def checked_content(content: object, name: str) -> str:
    """Return content as it is stored. Raises `ContentRefused`, or `MemoryRefusal` for what is empty or no text."""
    if not isinstance(content, str):
        raise MemoryRefusal(f"{name} must be text, not {type(content).__name__}")
    entry = tidy(content)
    if not entry:
        raise MemoryRefusal(f"{name} is empty; give the text of the entry (to take an entry out, use remove)")
    if reason := reason_to_refuse(entry, known_keys(os.environ)):
        raise ContentRefused(f"Not stored: {reason}")
    return entry


def checked_old_text(old_text: object) -> str:
    if not isinstance(old_text, str):
        raise MemoryRefusal(f"old_text must be text, not {type(old_text).__name__}")
    if not tidy(old_text):
        raise MemoryRefusal("old_text is empty; give a part of the entry that no other entry holds")
    return old_text


def checked_target(target: object) -> Target:
    if target == "memory":
        return "memory"
    if target == "user":
        return "user"
    raise MemoryRefusal(f"Unknown target {target!r}; use 'memory' (your notes) or 'user' (the user's profile)")


def find_entry(entries: Sequence[str], old_text: str, target: str) -> int:
    """Return the index of the one entry that `old_text` means.

    A whole entry that equals it wins; else it is the one entry that contains it, as written, or where none does, after
    normalising (NFC, line ends, blanks round it). Raises `EntryNotFound` or `AmbiguousMatch`.
    """
    hits = _matches(entries, old_text) or _matches([_normal(entry) for entry in entries], _normal(old_text))
    if len(hits) == 1:
        return hits[0]
    quoted = excerpt(old_text, LONGEST_QUOTE)
    if not hits:
        raise EntryNotFound(f"Text '{quoted}' not found in {target}. {what_is_there(entries, target)}")
    raise AmbiguousMatch(
        f"Ambiguous match: found {len(hits)} entries matching '{quoted}'. Please provide a more specific old_text.\n"
        + listing([entries[hit] for hit in hits])
    )


def check_budget(new: Sequence[str], old: Sequence[str], limit: int, target: str) -> None:
    """Raise `BudgetExceeded` if the file would be too long; one that is too long already may be made shorter."""
    would = len(join_entries(new))
    if would > limit and would >= len(join_entries(old)):
        raise BudgetExceeded(
            f"{target} would hold {would}/{limit} chars. Shorten the text, or first replace several entries with one "
            f"or remove what is out of date, then try again. {what_is_there(old, target)}"
        )


def what_is_there(entries: Sequence[str], target: str) -> str:
    return f"The entries of {target}:\n{listing(entries)}" if entries else f"There is no entry in {target}."


def listing(entries: Sequence[str]) -> str:
    """Return the entries for a message, a line with a dash before each; poisoned ones blocked, endless ones cut."""
    whole = sum(map(len, entries)) <= LONGEST_LISTING
    room = LONGEST_LISTING if whole else max(60, LONGEST_LISTING // len(entries))
    lines = [f"- {excerpt(shown(entry), room)}" for entry in entries[:MOST_LISTED]]
    return "\n".join([*lines, f"... and {len(entries) - MOST_LISTED} more"] if len(entries) > MOST_LISTED else lines)


def excerpt(text: str, length: int = LONGEST_EXCERPT) -> str:
    """Return the text, or its beginning and how much is left out."""
    return text if len(text) <= length else f"{text[:length]}... ({len(text) - length} more characters)"


def without_secrets(entries: Sequence[str]) -> str | None:
    """Return entries as the journal keeps them, None for none; one that holds a key is named and not shown."""
    if not entries:
        return None
    keys = known_keys(os.environ)
    return join_entries(
        [f"[not kept: {kind}]" if (kind := credential_kind(entry, keys)) else entry for entry in entries]
    )


def _matches(entries: Sequence[str], old_text: str) -> list[int]:
    whole = [index for index, entry in enumerate(entries) if entry == old_text]
    return whole or [index for index, entry in enumerate(entries) if old_text in entry]


def _normal(text: str) -> str:
    return unicodedata.normalize("NFC", tidy(text))
