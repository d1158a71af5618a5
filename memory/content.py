"""The arguments of a change of the curated memory, checked: `checked_content`, `checked_old_text`, `checked_target`."""

from __future__ import annotations

from typing import Literal, get_args

from memory.entries import tidy
from memory.guard import holds_delimiter_line, reason_to_refuse
from memory.refusal import ContentRefused, MemoryRefusal

__all__ = ["Target", "checked_content", "checked_old_text", "checked_target"]

Target = Literal["memory", "user"]


def checked_content(content: object, name: str) -> str:
    """Return content as it is stored. Raises `ContentRefused`, or `MemoryRefusal` for what is empty or no text."""
    if not isinstance(content, str):
        raise MemoryRefusal(f"{name} must be text, not {type(content).__name__}")
    entry = tidy(content)
    if not entry:
        raise MemoryRefusal(f"{name} is empty; give the text of the entry (to take an entry out, use remove)")
    if holds_delimiter_line(entry):
        raise ContentRefused("Not stored: a line with only § divides entries; give one entry at a time, without it")
    if reason := reason_to_refuse(entry):
        raise ContentRefused(f"Not stored: {reason}")
    return entry


def checked_old_text(old_text: object) -> str:
    """Return a text to look for, as it was given."""
    if not isinstance(old_text, str):
        raise MemoryRefusal(f"old_text must be text, not {type(old_text).__name__}")
    if not tidy(old_text):
        raise MemoryRefusal("old_text is empty; give a part of the entry that no other entry holds")
    return old_text


def checked_target(target: object) -> Target:
    for known in get_args(Target):
        if target == known:
            return "user" if known == "user" else "memory"
    raise MemoryRefusal(f"Unknown target {target!r}; use 'memory' (your notes) or 'user' (the user's profile)")
