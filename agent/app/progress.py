"""`Progress`: the events of a run as lines on stderr, and what is counted on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agent.app.output import Output
from agent.app.tool_line import tool_line
from agent.events import AnswerDropped, Event, Notice, StepStarted, ToolFinished
from agent.messages import Usage
from agent.reply import memory_write

__all__ = ["Progress", "figures"]

COLUMNS = 144


class Progress:
    """Use it as `on_event`. What it counted is there also when the turn fails."""

    def __init__(self, output: Output, also: Callable[[Event], None] | None = None) -> None:
        self.steps = 0
        self.memory_writes: list[dict[str, Any]] = []
        self._output = output
        self._also = also

    def __call__(self, event: Event) -> None:
        if self._also is not None:
            self._also(event)
        match event:
            case StepStarted(number):
                self.steps = number
            case ToolFinished(call, result, seconds):
                if (write := memory_write(call, result)) is not None:
                    self.memory_writes.append(write)
                if not self._output.quiet:
                    self._output.show_progress(
                        tool_line(call, result, seconds, columns=COLUMNS, styled=self._output.color_err)
                    )
            case AnswerDropped(reason):
                self._output.progress(f"the answer broke off: {reason}")
            case Notice(kind, text):
                self._output.progress(text, "dim" if kind in ("compaction", "recall", "session") else "yellow")


def figures(usage: Usage, steps: int, seconds: float) -> str:
    """Return the line of figures after an answer."""
    cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
    tokens = f"{usage.prompt_tokens:,} tokens in{cached}, {usage.completion_tokens:,} out, " if usage != Usage() else ""
    return f"{tokens}{steps} step{'s' if steps != 1 else ''}, {seconds:.1f} s"
