"""`file_search`: the lines of many files that a regular expression matches."""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Annotated

from pydantic import Field

from tools.files.globs import Glob
from tools.files.jail import Jail, Place
from tools.files.matcher import DEADLINE_S, Matcher, MatcherStopped
from tools.files.read import open_or_say
from tools.files.refusals import PathRefused
from tools.files.text import SAMPLE_BYTES, text_form
from tools.files.walk import SKIPPED, walk
from tools.thread import in_thread

__all__ = ["make_search"]

MOST_HITS = 1_000
MOST_CHARS = 30_000
MOST_FILE_BYTES = 16 << 20


def make_search(jail: Jail) -> Callable[..., Awaitable[str]]:
    async def file_search(
        pattern: Annotated[str, Field(min_length=1, description="regular expression (Python), tried on each line")],
        path: Annotated[str, Field(description="folder or file, relative to the workspace")] = ".",
        glob: Annotated[str | None, Field(description="only these files, such as *.py or src/**/*.{ts,tsx}")] = None,
        ignore_case: bool = False,
        limit: Annotated[int, Field(ge=1, le=MOST_HITS, description="number of lines to show")] = 100,
    ) -> str:
        """Search the lines of files; each hit is shown as path:line: text.

        Binary files and folders such as .git, .venv and node_modules are left out (give one as path to look inside).
        """
        matcher = Matcher(pattern, ignore_case=ignore_case)
        search = Search(jail, matcher, Glob(glob) if glob else None, limit)
        try:
            return await in_thread(search.run, path, pattern)
        finally:
            matcher.stop()  # after a cancel the thread goes on until it asks again

    return file_search


class Search:
    """One search on its way: what was found and what was left out."""

    def __init__(self, jail: Jail, matcher: Matcher, glob: Glob | None, limit: int) -> None:
        self._jail = jail
        self._matcher = matcher
        self._glob = glob
        self._limit = limit
        self._lines: list[str] = []
        self._chars = 0
        self._files = self._binary = self._large = 0

    def run(self, path: str, pattern: str) -> str:
        """Return hits and notes. Raises ValueError for a bad pattern or path, and when time ran out before a hit."""
        place, stopped = self._jail.find(path), False
        end = time.monotonic() + DEADLINE_S
        try:
            with self._matcher:
                for _ in self._looked_into(place):
                    if self._full() or time.monotonic() > end:
                        stopped = not self._full()
                        break
        except MatcherStopped:
            stopped = True
        notes = self._notes(stopped)
        if stopped and not self._lines:
            raise ValueError(
                f"nothing found in time: {'; '.join(notes)}; use a simpler pattern, a glob or a path below"
            )
        found = self._lines or [f"no line matches {pattern!r} in {self._files} files"]
        return "\n".join([*found, *([f"[{'; '.join(notes)}]"] if notes else [])])

    def _looked_into(self, place: Place) -> Iterator[None]:
        """Look into one file after the other."""
        try:
            with self._jail.folder(place) as folder:
                for entry in walk(folder, place, lambda entry: entry.real.name not in SKIPPED):
                    if entry.is_file and (self._glob is None or self._glob.matches(entry.name)):
                        self._look_into(self._jail.below(place, entry.real), entry.folder)
                    yield
        except NotADirectoryError:
            with os.fdopen(open_or_say(self._jail, place), "rb") as file:
                self._match(place, file.read(MOST_FILE_BYTES))
            yield
        except FileNotFoundError:
            raise PathRefused(f"there is no file or folder {place.shown!r}") from None

    def _look_into(self, place: Place, folder: int) -> None:
        try:
            opened = self._jail.open_file(place, within=folder)
        except (OSError, PathRefused):
            return  # gone, changed or closed to us since it was listed
        with os.fdopen(opened, "rb") as file:
            if os.fstat(opened).st_size > MOST_FILE_BYTES:
                self._large += 1
            else:
                self._match(place, file.read())

    def _match(self, place: Place, raw: bytes) -> None:
        form = text_form(raw[:SAMPLE_BYTES], cut=len(raw) > SAMPLE_BYTES)
        if form is None:
            self._binary += 1
            return
        self._files += 1
        for number, text in self._matcher.hits(raw[len(form.mark) :], form.codec, self._limit - len(self._lines)):
            self._lines.append(f"{place.shown}:{number}: {text}")
            self._chars += len(self._lines[-1])

    def _full(self) -> bool:
        return len(self._lines) >= self._limit or self._chars > MOST_CHARS

    def _notes(self, stopped: bool) -> list[str]:
        notes = []
        if stopped:
            notes.append(f"stopped after {DEADLINE_S} s and {self._files} files")
        elif self._full():
            notes.append(f"truncated at {len(self._lines)} lines; there may be more")
        if self._large:
            notes.append(f"{self._large} files over {MOST_FILE_BYTES >> 20} MB left out")
        if self._binary and not self._lines:
            notes.append(f"{self._binary} binary files left out")
        return notes
