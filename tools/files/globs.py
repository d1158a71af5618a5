"""`Glob`: which paths a search looks into, as in `*.py`, `src/**/*.ts` and `*.{md,txt}`."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

__all__ = ["Glob"]

MOST_CHOICES = 64

BRACES = re.compile(r"\{([^{}]*)\}")


class Glob:
    """Without a slash a pattern is for names at any depth, with one for the path from where the search began."""

    def __init__(self, pattern: str) -> None:
        """Raises ValueError when the braces stand for too many patterns."""
        choices = [pattern.removeprefix("./")]
        while any(BRACES.search(choice) for choice in choices):
            choices = [written for choice in choices for written in _without_braces(choice)]
            if len(choices) > MOST_CHOICES:
                raise ValueError(f"glob {pattern!r} stands for more than {MOST_CHOICES} patterns; use a simpler one")
        self._choices = [choice.split("/") if "/" in choice else ["**", choice] for choice in choices]

    def matches(self, path: str) -> bool:
        names = path.split("/")
        return any(_matches(names, parts) for parts in self._choices)


def _without_braces(pattern: str) -> list[str]:
    braces = BRACES.search(pattern)
    if braces is None:
        return [pattern]
    before, after = pattern[: braces.start()], pattern[braces.end() :]
    return [f"{before}{choice}{after}" for choice in braces[1].split(",")]


def _matches(names: list[str], parts: list[str]) -> bool:
    """Follow all ways to read `parts` at once: with several `**` trying them in turn would not end."""
    states = _with_skips({0}, parts)
    for name in names:
        stepped = {at if parts[at] == "**" else at + 1 for at in states if at < len(parts) and _fits(name, parts[at])}
        states = _with_skips(stepped, parts)
    return len(parts) in states


def _fits(name: str, part: str) -> bool:
    return part == "**" or fnmatchcase(name, part)


def _with_skips(states: set[int], parts: list[str]) -> set[int]:
    """Add the states behind each `**`, which may stand for nothing."""
    reached = set(states)
    for at in sorted(states):
        while at < len(parts) and parts[at] == "**":
            at += 1
            reached.add(at)
    return reached
