"""The process that looks for the lines of a search: it prints each as JSON text, and at last an object about all.

It runs without site-packages: nothing here may import one.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.files.globs import glob_pattern
from tools.files.jail import FileRefused, Jail, Place, open_file
from tools.files.text import SAMPLE_BYTES, text_form
from tools.files.walk import SKIPPED, walk
from tools.words import sentence

__all__ = ["Job", "main"]

LINE_CHARS = 300
MOST_CHARS = 30_000
MOST_FILE_BYTES = 32 << 20
CR = "\r"


@dataclass(frozen=True, slots=True)
class Job:
    """What is looked for, and where one may look."""

    root: str
    protected: list[str]
    readable: list[str]
    path: str
    pattern: str
    glob: str | None
    ignore_case: bool
    limit: int


def main(job: str) -> None:
    try:
        end = look(Job(**json.loads(job)))
    except (ValueError, OSError, re.error) as error:
        end = {"refused": sentence(error)}
    tell(end)


def tell(answer: object) -> None:
    sys.stdout.write(f"{json.dumps(answer)}\n")
    sys.stdout.flush()


def look(job: Job) -> dict[str, object]:
    """Print the hits and return how many files were looked into, and notes on what was left out."""
    try:
        search = re.compile(job.pattern, re.IGNORECASE if job.ignore_case else 0).search
    except (re.error, OverflowError, RecursionError, MemoryError) as error:
        advice = "put a backslash before a character that is meant as it is"
        raise ValueError(f"pattern {job.pattern!r} is no regular expression: {error}; {advice}") from None
    files = large = binary = hits = chars = 0
    for place in places(job):
        try:
            with open_file(place) as file:
                raw = file.read(MOST_FILE_BYTES + 1)
        except (OSError, FileRefused):
            continue  # gone or closed to us
        form = text_form(raw[:SAMPLE_BYTES], cut=len(raw) > SAMPLE_BYTES)
        large += len(raw) > MOST_FILE_BYTES
        binary += form is None
        if form is None or len(raw) > MOST_FILE_BYTES:
            continue
        files += 1
        for number, line in enumerate(raw[len(form.mark) :].decode(form.codec, "replace").split("\n"), start=1):
            if found := search(line.removesuffix(CR)):
                hit = f"{place.shown}:{number}: {around(line.removesuffix(CR), found.start())}"
                tell(hit)
                hits, chars = hits + 1, chars + len(hit)
                if hits >= job.limit or chars > MOST_CHARS:
                    return {"files": files, "notes": [f"truncated at {hits} lines; there may be more"]}
    notes = [f"{large} files over {MOST_FILE_BYTES >> 20} MB left out"] if large else []
    if binary and not hits:
        notes.append(f"{binary} binary files left out")
    return {"files": files, "notes": notes}


def places(job: Job) -> Iterator[Place]:
    """Yield the files below the path, or the file it is. Raises `FileRefused`, or re.error for a bad glob."""
    protected, readable = [Path(path) for path in job.protected], [Path(path) for path in job.readable]
    start = Jail(job.root, protected=protected, readable=readable).find(job.path)
    glob = glob_pattern(job.glob or "**")
    if start.real.is_file():
        yield start
        return
    try:
        for entry in walk(start, lambda entry: entry.item.name not in SKIPPED):
            if entry.is_file and glob.fullmatch(entry.place.real.relative_to(start.real).as_posix()):
                yield entry.place
    except FileNotFoundError:
        raise FileRefused(f"there is no file or folder {start.shown!r}") from None


def around(line: str, at: int) -> str:
    """Return the part of a line round a place in it."""
    if len(line) <= LINE_CHARS:
        return line
    start = max(0, min(at - LINE_CHARS // 4, len(line) - LINE_CHARS))
    end = start + LINE_CHARS
    return f"{'...' if start else ''}{line[start:end]}{'...' if end < len(line) else ''}"
