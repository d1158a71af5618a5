"""`Event`: what a turn tells whoever watches it, in the order it happens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tools import ToolCall, ToolResult

__all__ = [
    "AnswerDropped",
    "Emit",
    "Event",
    "Notice",
    "NoticeKind",
    "StepStarted",
    "TextDelta",
    "ToolFinished",
    "ToolStarted",
    "ignore",
]

NoticeKind = Literal["retry", "compaction", "limit", "truncated", "repeat", "recall", "memory", "session", "warning"]


@dataclass(frozen=True, slots=True)
class StepStarted:
    """A model call begins."""

    number: int
    # 1-based, within the turn


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer, as it streams in."""

    text: str


@dataclass(frozen=True, slots=True)
class AnswerDropped:
    """What was streamed since the last `StepStarted` is void; the step is tried again or given up."""

    reason: str


@dataclass(frozen=True, slots=True)
class ToolStarted:
    call: ToolCall


@dataclass(frozen=True, slots=True)
class ToolFinished:
    call: ToolCall
    result: ToolResult
    seconds: float


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence for the person, not for the model."""

    kind: NoticeKind
    text: str


Event = StepStarted | TextDelta | AnswerDropped | ToolStarted | ToolFinished | Notice
Emit = Callable[[Event], None]


def ignore(event: Event) -> None:
    """Watch nothing."""
