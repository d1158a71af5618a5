"""Entries and the text of a file of them: parted by lines that hold only `§`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from memory.guard import shown
from memory.refusal import AmbiguousMatch, EntryNotFound

__all__ = ["ENTRY_DELIMITER", "excerpt", "find_entry", "join_entries", "listing", "parse_entries", "tidy"]

ENTRY_DELIMITER = "\n§\n"
DIVIDER = re.compile(r"^[^\S\n]*§[^\S\n]*$", re.MULTILINE)  # only "\n" ends a line

LONGEST_QUOTE = 200
LONGEST_EXCERPT = 2_000
LONGEST_LISTING = 12_000


def parse_entries(text: str) -> list[str]:
    """Return the entries of a file's text, each once, without blanks round them.

    Tolerant: byte order marks, CRLF, blanks beside a `§`, blank lines and empty entries are nothing.
    """
    text = text.replace("\ufeff", "").replace("\r\n", "\n")
    parts = text.split(ENTRY_DELIMITER)
    if text.count("§") >= len(parts):  # not all of them stand between two entries as we write them
        parts = DIVIDER.split(text)
    return list(dict.fromkeys(entry for part in parts if (entry := part.strip())))


def join_entries(entries: Sequence[str]) -> str:
    """Return the text of a file with these entries. Its length is what counts against the budget."""
    return ENTRY_DELIMITER.join(entries)


def tidy(content: str) -> str:
    """Return content as it is stored: line ends are `\\n`, no byte order mark, no blanks round it."""
    return content.replace("\ufeff", "").replace("\r\n", "\n").replace("\r", "\n").strip()


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
        there = f"The entries of {target}:\n{listing(entries)}" if entries else f"There is no entry in {target}."
        raise EntryNotFound(f"Text '{quoted}' not found in {target}. {there}")
    raise AmbiguousMatch(
        f"Ambiguous match: found {len(hits)} entries matching '{quoted}'. Please provide a more specific old_text.\n"
        + listing([entries[hit] for hit in hits])
    )


def listing(entries: Sequence[str]) -> str:
    """Return the entries for a message, a line with a dash before each; poisoned ones blocked, endless ones cut."""
    room = max(60, LONGEST_LISTING // max(1, len(entries)))
    whole = sum(map(len, entries)) <= LONGEST_LISTING
    most = LONGEST_LISTING // 60
    lines = [f"- {shown(entry) if whole else excerpt(shown(entry), room)}" for entry in entries[:most]]
    return "\n".join([*lines, f"... and {len(entries) - most} more"] if len(entries) > most else lines)


def excerpt(text: str, length: int = LONGEST_EXCERPT) -> str:
    """Return the text, or its beginning and how much is left out."""
    return text if len(text) <= length else f"{text[:length]}... ({len(text) - length} more characters)"


def _matches(entries: Sequence[str], old_text: str) -> list[int]:
    whole = [index for index, entry in enumerate(entries) if entry == old_text]
    return whole or [index for index, entry in enumerate(entries) if old_text in entry]


def _normal(text: str) -> str:
    return unicodedata.normalize("NFC", tidy(text))
