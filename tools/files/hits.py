"""The process that looks for the lines of a search: it prints each as JSON text, and at last an object about all.

It runs without site-packages: nothing here may import one.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from tools.files.jail import FileRefused, Jail, Place, open_file
from tools.files.text import SAMPLE_BYTES, text_form
from tools.files.walk import SKIPPED, walk
from tools.words import sentence

__all__ = ["glob_pattern", "main"]

LINE_CHARS = 300
MOST_CHARS = 30_000
MOST_FILE_BYTES = 32 << 20
CR = "\r"

TOKEN = re.compile(r"\*\*/|\*\*|\*|\?|\[[^]]+\]|\{[^{}]*\}|.", re.DOTALL)
MEANINGS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def main(job: str) -> None:
    """Do what `look` does; `job` is its arguments as JSON text."""
    try:
        end = look(**json.loads(job))
    except (ValueError, OSError, re.error) as error:
        end = {"refused": sentence(error)}
    tell(end)


def tell(answer: object) -> None:
    sys.stdout.write(f"{json.dumps(answer)}\n")
    sys.stdout.flush()


def look(
    *, jail: Mapping[str, Any], path: str, pattern: str, glob: str | None, ignore_case: bool, limit: int
) -> dict[str, Any]:
    """Print the hits and return how many files were looked into, and notes on what was left out.

    jail: the arguments of `Jail`.
    """
    try:
        search = re.compile(pattern, re.IGNORECASE if ignore_case else 0).search
    except (re.error, OverflowError, RecursionError, MemoryError) as error:
        advice = "put a backslash before a character that is meant as it is"
        raise ValueError(f"pattern {pattern!r} is no regular expression: {error}; {advice}") from None
    files = large = binary = hits = chars = 0
    for place in places(Jail(**jail).find(path), glob_pattern(glob or "**")):
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
                first = max(0, found.start() - LINE_CHARS // 4)
                hit = f"{place.shown}:{number}: {line[first : first + LINE_CHARS].removesuffix(CR)}"
                tell(hit)
                hits, chars = hits + 1, chars + len(hit)
                if hits >= limit or chars > MOST_CHARS:
                    return {"files": files, "notes": [f"truncated at {hits} lines; there may be more"]}
    notes = [f"{large} files over {MOST_FILE_BYTES >> 20} MB left out"] if large else []
    if binary and not hits:
        notes.append(f"{binary} binary files left out")
    return {"files": files, "notes": notes}


def places(start: Place, glob: re.Pattern[str]) -> Iterator[Place]:
    """Yield the files below a folder, or the file itself. Raises `FileRefused` where there is none."""
    if start.real.is_file():
        yield start
        return
    try:
        for entry in walk(start, lambda entry: entry.item.name not in SKIPPED):
            if entry.item.is_file(follow_symlinks=False) and glob.fullmatch(
                entry.place.real.relative_to(start.real).as_posix()
            ):
                yield entry.place
    except FileNotFoundError:
        raise FileRefused(f"there is no file or folder {start.shown!r}") from None


def glob_pattern(glob: str) -> re.Pattern[str]:
    """Return what a whole path must match.

    Without a slash a glob is for names at any depth, with one for the path from where the search began.
    """
    path = glob.removeprefix("./")
    return re.compile(_translated(path if "/" in path else f"**/{path}"))


def _translated(glob: str) -> str:
    return "".join(_meaning(token) for token in TOKEN.findall(glob))


def _meaning(token: str) -> str:
    if token[0] == "{" and len(token) > 1:
        return f"(?:{'|'.join(_translated(choice) for choice in token[1:-1].split(','))})"
    if token[0] == "[" and len(token) > 1:
        return f"[^{token[2:]}" if token[1] == "!" else token
    return MEANINGS.get(token) or re.escape(token)
