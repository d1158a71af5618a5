"""`Section`: an entry as a person sees it in a Markdown file, and how such a file is read and written.

    ## user_timezone
    <!-- memory {"tags": ["place"], "owner": "main", "created": "2026-03-10T09:00:00Z", "updated": "..."} -->

    UTC+8, Shanghai.

The comment may be missing, as in what is written by hand. A line of the content that would be read as a heading bears a
backslash. What cannot be an entry stays in the file as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from memory.archive.entry import ArchiveRefusal, Entry, clean_content, clean_key, clean_metadata, clean_tags

__all__ = ["Section", "parse", "read_entry", "render", "section_of"]

HEADING = re.compile(r"##[ \t]+(\S.*)")
ESCAPED = re.compile(r"\\+##[ \t]+\S")
TO_ESCAPE = re.compile(r"\\*##[ \t]+\S")
COMMENT = re.compile(r"<!-- memory (\{.*\}) -->[ \t]*")
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class Section:
    """The lines of a file from one heading to the next, without blank ones at the end; before the first it is ""."""

    heading: str
    lines: tuple[str, ...]

    @property
    def ours(self) -> bool:
        """Tell whether it bears the comment of an entry that was written by us."""
        return len(self.lines) > 1 and COMMENT.fullmatch(self.lines[1]) is not None

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


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
    found = []
    skipped_to = 0
    by_hand = True
    for number, line in enumerate(lines):
        if number < skipped_to:
            continue
        if HEADING.fullmatch(line):
            found.append(number)
            by_hand = not is_ours(lines, number)
        elif by_hand and found and (fence := FENCE.match(line)):
            skipped_to = end_of_fence(lines, number, fence[1])
    return found


def is_ours(lines: Sequence[str], heading: int) -> bool:
    """Tell whether the section was written by us: then its headings are escaped, and a fence means nothing."""
    return heading + 1 < len(lines) and COMMENT.fullmatch(lines[heading + 1]) is not None


def end_of_fence(lines: Sequence[str], start: int, fence: str) -> int:
    """Return the line behind a fenced block; one that is not closed before a section of ours is none."""
    for number in range(start + 1, len(lines)):
        line = lines[number].strip()
        if HEADING.fullmatch(lines[number]) and is_ours(lines, number):
            break
        if line.startswith(fence) and not line.strip(fence[0]):
            return number + 1
    return start + 1


def read_entry(section: Section, category: str, when: datetime) -> Entry | None:
    """Return the entry, or None if the section is none; `when` stands for times that it does not tell."""
    body = list(section.lines[1:])
    told: dict[str, Any] = {}
    if body and (match := COMMENT.fullmatch(body[0])):
        try:
            told = json.loads(match[1])
            body = body[1:]
        except ValueError:
            pass  # a comment of somebody else's, so part of the text
    content = "\n".join(line[1:] if ESCAPED.match(line) else line for line in body)
    try:
        return Entry(
            key=clean_key(section.heading),
            content=clean_content(content),
            category=category,
            tags=clean_tags(texts(told.get("tags"))),
            metadata=clean_metadata(told["metadata"] if isinstance(told.get("metadata"), dict) else {}),
            owner=str(told.get("owner", "")),
            session=str(told.get("session", "")),
            created=time_of(told.get("created"), when),
            updated=time_of(told.get("updated"), when),
        )
    except ArchiveRefusal:
        return None


def texts(value: Any) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def time_of(text: Any, otherwise: datetime) -> datetime:
    try:
        told = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return otherwise
    return (told if told.tzinfo else told.replace(tzinfo=UTC)).astimezone(UTC)


def section_of(entry: Entry) -> Section:
    told: dict[str, Any] = {}
    if entry.tags:
        told["tags"] = list(entry.tags)
    if entry.metadata:
        told["metadata"] = dict(entry.metadata)
    told |= {"owner": entry.owner} if entry.owner else {}
    told |= {"session": entry.session} if entry.session else {}
    for name, when in (("created", entry.created), ("updated", entry.updated)):
        told[name] = when.isoformat().replace("+00:00", "Z")
    # `>` would end the comment.
    comment = f"<!-- memory {json.dumps(told, ensure_ascii=False).replace('>', chr(92) + 'u003e')} -->"
    content = [f"\\{line}" if TO_ESCAPE.match(line) else line for line in entry.content.split("\n")]
    return Section(entry.key, (f"## {entry.key}", comment, "", *content))


def render(sections: Iterable[Section]) -> str:
    parts = [section.text for section in sections if section.lines]
    return "\n\n".join(parts) + "\n" if parts else ""
