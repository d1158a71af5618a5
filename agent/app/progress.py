"""What a run shows while it works: `Lines` on stderr, `Shown` in a terminal, and `Progress`, which counts."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from agent.app.output import Output, is_terminal
from agent.app.tool_line import tool_line
from agent.events import AnswerDropped, Emit, Event, Notice, StepStarted, TextDelta, ToolFinished
from agent.messages import Usage
from agent.reply import memory_write

if TYPE_CHECKING:
    from agent.app.render import Renderer
    from agent.app.screen import Screen

__all__ = ["Lines", "Progress", "Shown", "figures"]

COLUMNS = 144  # of a tool's line where no window sets a limit


class Progress:
    """Use it as `on_event`. What it counted is there also when the turn fails."""

    def __init__(self, watchers: Sequence[Emit]) -> None:
        self.steps = 0
        self.memory_writes: list[dict[str, Any]] = []
        self._watchers = watchers

    def __call__(self, event: Event) -> None:
        if isinstance(event, StepStarted):
            self.steps = event.number
        elif isinstance(event, ToolFinished) and (write := memory_write(event.call, event.result)) is not None:
            self.memory_writes.append(write)
        for watcher in self._watchers:
            watcher(event)


class Lines:
    """One line on stderr for each tool call and each notice."""

    def __init__(self, output: Output) -> None:
        self._output = output

    def __call__(self, event: Event) -> None:
        output = self._output
        match event:
            case ToolFinished(call, result, seconds) if not output.quiet:
                output.show_progress(tool_line(call, result, seconds, columns=COLUMNS, styled=output.color_err))
            case AnswerDropped(reason):
                output.progress(f"the answer broke off: {reason}")
            case Notice(kind, text):
                output.progress(text, "dim" if kind in ("compaction", "recall", "session") else "yellow")


class Shown:
    """The turn as it comes, where a person looks at stdout."""

    def __init__(self, output: Output, *, markdown: bool) -> None:
        from agent.app.render import Renderer  # the Markdown of a terminal, and of nothing else
        from agent.app.screen import Screen

        # What goes on beside the answer is not to be lost where stderr is a file
        side = output.stdout if is_terminal(output.stderr) else output.stderr
        moves = output.color_out or output.color_err
        self._screen: Screen = Screen(output.stdout, side, styled=output.color_out, terminal=True, live=moves)
        self._renderer: Renderer = Renderer(self._screen, markdown=markdown)
        self._said: list[str] = []

    def __call__(self, event: Event) -> None:
        if isinstance(event, StepStarted | AnswerDropped):
            self._said.clear()
        elif isinstance(event, TextDelta):
            self._said.append(event.text)
        self._renderer(event)

    def end(self) -> None:
        self._renderer.end()

    def has_said(self, text: str) -> bool:
        """Say whether the answer stands on the screen already."""
        return "".join(self._said).strip() == text.strip()

    def held(self) -> AbstractContextManager[None]:
        """Keep everything back while a question stands there."""
        return self._screen.held()


def figures(usage: Usage, steps: int, seconds: float) -> str:
    """Return the line of figures after an answer."""
    cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
    tokens = f"{usage.prompt_tokens:,} tokens in{cached}, {usage.completion_tokens:,} out, " if usage != Usage() else ""
    return f"{tokens}{steps} step{'s' if steps != 1 else ''}, {seconds:.1f} s"
