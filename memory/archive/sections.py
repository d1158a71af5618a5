"""`Section`: an entry as a person sees it in a Markdown file, and how such a file is read and written.

    ## user_timezone
    <!-- memory {"tags": ["place"], "owner": "main", "created": "2026-03-10T09:00:00Z", "updated": "..."} -->

    UTC+8, Shanghai.

The comment may be missing, as in what is written by hand. A line of the content that would be read as a heading bears a
backslash. What cannot be an entry, and a comment that cannot be read, stays in the file as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, NamedTuple

from memory.archive.entry import (
    ArchiveRefusal,
    Entry,
    check_text,
    clean_content,
    clean_key,
    clean_metadata,
    clean_tags,
)

__all__ = ["Reading", "Section", "dated", "parse", "read_entry", "render", "section_of"]

HEADING = re.compile(r"##[ \t]+(\S.*)")
ESCAPED = re.compile(r"\\+##[ \t]+\S")
TO_ESCAPE = re.compile(r"\\*##[ \t]+\S")
COMMENT = re.compile(r"\s*<!--\s*(?i:memory)\s*:?\s*(\{.*)-->\s*")
MEANT = re.compile(r"\s*<!--\s*(?i:memory)\s*:?\s*\{")
FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)")
# Longer marks count as this long: so few lengths are looked at for each.
LONGEST_MARK = 32


@dataclass(frozen=True, slots=True)
class Section:
    """The lines of a file from one heading to the next, without blank ones at the end; before the first it is ""."""

    heading: str
    lines: tuple[str, ...]

    @property
    def ours(self) -> bool:
        """Tell whether it bears what is meant as our comment."""
        return find_comment(self.lines, 0) is not None

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


class Reading(NamedTuple):
    entry: Entry | None
    # None: the section is none
    trouble: str
    # what of it cannot be read, and is left out, in a sentence; mostly ""
    dated: bool = False
    # it tells both times itself


def parse(text: str) -> list[Section]:
    """Return what stands before the first heading (always, maybe without lines), then one section a heading."""
    lines = text.split("\n")
    starts = headings(lines)
    sections = [Section("", without_end(lines[: starts[0] if starts else None]))]
    for start, end in pairwise([*starts, len(lines)]):
        sections.append(Section(lines[start][2:].strip(), without_end(lines[start:end])))
    return sections


def without_end(lines: list[str]) -> tuple[str, ...]:
    while lines and not lines[-1].strip():
        lines.pop()
    return tuple(lines)


def headings(lines: Sequence[str]) -> list[int]:
    """Return the lines that are headings: those that stand in no fenced block.

    No block reaches into an entry of ours. Where marks do not pair up, those are blocks that leave the fewest open,
    and then hold the fewest headings: so one that was never closed takes no entry with it.
    """
    found = {number for number, line in enumerate(lines) if HEADING.fullmatch(line)}
    ends: dict[int, int] = {}
    # where a block begins -> the line behind it
    closing: dict[str, tuple[int, int]] = {}
    # the next line that closes a block of this mark, and how many that can only open one stand before it
    cost = [(0, 0)] * (len(lines) + 1)
    # of the lines from here on: how many marks are left open, how many headings stand in blocks
    later = [0] * (len(lines) + 1)
    # how many headings there are from here on
    for number in reversed(range(len(lines))):
        left, held = cost[number] = cost[number + 1]
        later[number] = later[number + 1] + (number in found)
        if number in found and find_comment(lines, number):
            closing.clear()
            cost[number] = (0, 0)
        elif fence := FENCE.fullmatch(lines[number]):
            mark = fence[1][:LONGEST_MARK]
            cost[number] = (left + 1, held)
            if reach := [each for other, each in closing.items() if other.startswith(mark)]:
                end, passed = min(reach)[0] + 1, min(reach)[1]
                block = (cost[end][0] + passed, cost[end][1] + later[number] - later[end])
                if block <= cost[number]:
                    cost[number], ends[number] = block, end
            if not fence[2].strip():
                closing[mark] = number, 0
            elif mark in closing:
                closing[mark] = closing[mark][0], closing[mark][1] + 1
    kept, number = [], 0
    while number < len(lines):
        kept += [number] if number in found else []
        number = ends.get(number, number + 1)
    return kept


def find_comment(lines: Sequence[str], heading: int) -> int | None:
    """Return the line that is meant as our comment: the first one under the heading that is not blank, or None."""
    for number in range(heading + 1, len(lines)):
        if lines[number].strip():
            return number if MEANT.match(lines[number]) else None
    return None


def read_entry(section: Section, category: str, when: datetime) -> Reading:
    """Read the entry of a section; `when` stands for times that it does not tell."""
    body = list(section.lines[1:])
    told: dict[str, Any] = {}
    wrong: list[str] = []
    if place := find_comment(section.lines, 0):
        comment = COMMENT.fullmatch(section.lines[place])
        try:
            told = json.loads(comment[1] if comment else "")
        except (ValueError, RecursionError) as error:
            wrong.append(f"it is not one line of JSON: {error}")
        if comment:
            body = body[place:]
    fields: dict[str, Any] = {"created": when, "updated": when}
    for name, read in FIELDS.items():
        if told.get(name) is not None:
            try:
                fields[name] = read(told[name])
            except (TypeError, ValueError, OverflowError) as error:
                wrong.append(f"{name}: {str(error).removeprefix(f'{name}: ')}"[:120])
    trouble = f"the comment of {section.heading!r} is kept, but cannot be read ({'; '.join(wrong)}): repair it"
    trouble = trouble if wrong else ""
    content = "\n".join(line[1:] if ESCAPED.match(line) else line for line in body)
    if not content.strip():
        return Reading(None, trouble)
    try:
        entry = Entry(clean_key(section.heading), clean_content(content), category, **fields)
    except ArchiveRefusal as error:
        return Reading(None, f"section {section.heading[:40]!r} is kept, but is no entry: {error}")
    return Reading(entry, trouble, all(told.get(name) is not None for name in TIMES))


def tags_of(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError(f"{value!r} is no list")
    return clean_tags(value)


def metadata_of(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"{value!r} is no JSON object")
    return clean_metadata(value)


def name_of(value: Any) -> str:
    check_text("it", value)
    return str(value)


def time_of(value: Any) -> datetime:
    told = datetime.fromisoformat(value)
    return (told if told.tzinfo else told.replace(tzinfo=UTC)).astimezone(UTC)


FIELDS = {
    "tags": tags_of,
    "metadata": metadata_of,
    "owner": name_of,
    "session": name_of,
    "created": time_of,
    "updated": time_of,
}


TIMES = ("created", "updated")


def dated(section: Section, entry: Entry) -> Section:
    """Return the section with the times of its entry in the comment, and all else of it as it was written."""
    lines = list(section.lines)
    place = find_comment(lines, 0)
    if place is None:
        lines.insert(1, comment_of(times_of(entry)))
    elif comment := COMMENT.fullmatch(lines[place]):
        told = json.loads(comment[1])
        missing = {name: when for name, when in times_of(entry).items() if told.get(name) is None}
        start, end = comment.span(1)
        inside = comment[1].rstrip()[:-1].rstrip() + (", " if told else "")
        tail = lines[place][start + len(comment[1].rstrip()) : end]
        lines[place] = f"{lines[place][:start]}{inside}{json.dumps(missing)[1:]}{tail}{lines[place][end:]}"
    return Section(section.heading, tuple(lines))


def section_of(entry: Entry) -> Section:
    told: dict[str, Any] = {}
    if entry.tags:
        told["tags"] = list(entry.tags)
    if entry.metadata:
        told["metadata"] = dict(entry.metadata)
    told |= {"owner": entry.owner} if entry.owner else {}
    told |= {"session": entry.session} if entry.session else {}
    comment = comment_of(told | times_of(entry))
    content = [f"\\{line}" if TO_ESCAPE.match(line) else line for line in entry.content.split("\n")]
    return Section(entry.key, (f"## {entry.key}", comment, "", *content))


def times_of(entry: Entry) -> dict[str, Any]:
    return {name: getattr(entry, name).isoformat().replace("+00:00", "Z") for name in TIMES}


def comment_of(told: dict[str, Any]) -> str:
    # `>` would end the comment.
    return f"<!-- memory {json.dumps(told, ensure_ascii=False).replace('>', chr(92) + 'u003e')} -->"


def render(sections: Iterable[Section]) -> str:
    parts = [section.text for section in sections if section.lines]
    return "\n\n".join(parts) + "\n" if parts else ""
