"""`Turn`: what the offline model goes by when it decides what a request needs next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from agent.offline_knowledge import Entry
from agent.offline_words import say

__all__ = ["Call", "Step", "Turn", "bare", "listed"]

Call: TypeAlias = tuple[str, dict[str, Any]]
Step: TypeAlias = "list[Call] | str"
# What a request needs next: calls, or the answer


@dataclass(frozen=True, slots=True)
class Turn:
    chinese: bool
    offered: frozenset[str]
    before: Sequence[Entry]
    # The entries known when the turn began: calls are planned by these, in every step alike
    entries: Sequence[Entry]
    # Those known by now

    def say(self, key: str, **values: object) -> str:
        return say(key, chinese=self.chinese, **values)

    def has_memory(self) -> bool:
        return bool(self.entries) or any(name.startswith("memory") for name in self.offered)


def listed(entries: Sequence[Entry]) -> str:
    return entries[0].text if len(entries) == 1 else "\n".join(f"- {entry.text}" for entry in entries)


def bare(text: str, *, stops: bool = True) -> str:
    """The text without the quotes round it and, with `stops`, without the stop behind it."""
    text = text.strip()
    if stops:
        text = text.rstrip(".?!。？！").strip()
    quotes = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "「": "」", "『": "』"}
    return text[1:-1].strip() if len(text) > 2 and quotes.get(text[0]) == text[-1] else text
