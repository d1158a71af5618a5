"""What a run shows while it works: `Progress`, lines on stderr, and `Shown`, the turn as it comes, in a terminal."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from agent.app.output import Output, is_terminal
from agent.app.tool_line import tool_line
from agent.events import AnswerDropped, Emit, Event, Notice, StepStarted, TextDelta, ToolFinished
from agent.messages import Usage
from agent.reply import memory_write

__all__ = ["Progress", "Shown", "figures"]

COLUMNS = 144  # of a tool's line where no window sets a limit


class Progress:
    """Use it as `on_event`. What it counted is there also when the turn fails."""

    def __init__(self, output: Output, first: Emit | None = None) -> None:
        self.counted: dict[str, Any] = {"steps": 0, "memory_writes": []}
        self._output = output
        self._first = first
        # Sees each event before anything is shown

    def __call__(self, event: Event) -> None:
        if isinstance(event, StepStarted):
            self.counted["steps"] = event.number
        elif isinstance(event, ToolFinished) and (write := memory_write(event.call, event.result)) is not None:
            self.counted["memory_writes"].append(write)
        if self._first is not None:
            self._first(event)
        self.show(event)

    def show(self, event: Event) -> None:
        match event:
            case ToolFinished(call, result, seconds) if not self._output.quiet:
                line = tool_line(call, result, seconds, columns=COLUMNS, styled=self._output.color_err)
                self._output.show_progress(line)
            case AnswerDropped(reason):
                self._output.progress(f"the answer broke off: {reason}")
            case Notice(kind, text):
                self._output.progress(text, "dim" if kind in ("compaction", "recall", "session") else "yellow")

    def has_said(self, text: str) -> bool:
        """Say whether the answer stands on the screen already."""
        return False

    def held(self) -> AbstractContextManager[None]:
        """Keep everything back while a question stands there."""
        return nullcontext()

    def end(self) -> None:
        """Leave the screen as it should stay."""


class Shown(Progress):
    """For a person who looks at stdout."""

    def __init__(self, output: Output, *, markdown: bool) -> None:
        from agent.app.render import Renderer  # the Markdown of a terminal, and of nothing else
        from agent.app.screen import Screen

        super().__init__(output)
        # What goes on beside the answer is not to be lost where stderr is a file
        side = output.stdout if is_terminal(output.stderr) else output.stderr
        moves = output.color_out or output.color_err
        self._screen = Screen(output.stdout, side, styled=output.color_out, terminal=True, live=moves)
        self._renderer = Renderer(self._screen, markdown=markdown)
        self._said: list[str] = []

    def show(self, event: Event) -> None:
        if isinstance(event, StepStarted | AnswerDropped):
            self._said.clear()
        elif isinstance(event, TextDelta):
            self._said.append(event.text)
        self._renderer(event)

    def has_said(self, text: str) -> bool:
        return "".join(self._said).strip() == text.strip()

    def held(self) -> AbstractContextManager[None]:
        return self._screen.held()

    def end(self) -> None:
        self._renderer.end()


def figures(usage: Usage, steps: int, seconds: float) -> str:
    """Return the line of figures after an answer."""
    cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
    tokens = f"{usage.prompt_tokens:,} tokens in{cached}, {usage.completion_tokens:,} out, " if usage != Usage() else ""
    return f"{tokens}{steps} step{'s' if steps != 1 else ''}, {seconds:.1f} s"
