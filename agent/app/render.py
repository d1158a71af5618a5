"""`Renderer`: the events of a turn on a screen. `plain` defuses foreign text.

In a terminal with colours an answer is drawn block by block by `MarkdownStream`, in another it is written as it comes.
On a pipe it is written when its step is over, because a dropped stream makes what came before it void.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.app.plain import plain, shorten
from agent.app.screen import Screen
from agent.app.style import DIM, NOTE
from agent.app.tool_line import SHOWN_CELLS, short_call, tool_line
from agent.events import AnswerDropped, Event, Notice, NoticeKind, StepStarted, TextDelta, ToolFinished, ToolStarted

if TYPE_CHECKING:
    from agent.app.markdown import MarkdownStream

__all__ = ["Renderer", "plain"]

GRAVE = frozenset({"warning", "limit", "truncated", "repeat"})  # notices about what the answer may lack


class Renderer:
    """Shows one turn after the other. Use it as `on_event`, and call `end()` when a turn is over, however it went."""

    def __init__(self, screen: Screen, *, markdown: bool = True, quiet: bool = False) -> None:
        self._screen = screen
        self._quiet = quiet
        # Nothing but the answer, and what must be known
        self._markdown = markdown and screen.styled
        self._stream: MarkdownStream | None = None
        self._held: list[str] = []
        # What cannot be written yet: the answer on a pipe, and a carriage return that a newline may follow
        self._running: list[str] = []
        # The calls that have begun and not ended, as they are shown

    def __call__(self, event: Event) -> None:
        if isinstance(event, TextDelta):
            self._held.append(event.text)
            if self._screen.terminal and not event.text.endswith("\r"):
                self._write()
            return
        match event:
            case StepStarted():
                self._end_answer()
                self._screen.busy("thinking")
            case ToolStarted(call):
                self._end_answer()
                self._running.append(f"{call.name} {short_call(call)}")
                self._show_running()
            case ToolFinished(call, result, seconds):
                label = f"{call.name} {short_call(call)}"
                if label in self._running:
                    self._running.remove(label)
                if not self._quiet:
                    columns = self._screen.columns if self._screen.terminal else 2 * SHOWN_CELLS
                    line = tool_line(call, result, seconds, columns=columns, styled=self._screen.styled)
                    self._screen.say_painted(line)
                self._show_running()
            case AnswerDropped(reason):
                self._drop(reason)
            case Notice(kind, text):
                self._end_answer()
                self._tell(kind, text)
                self._show_running()

    def end(self) -> None:
        """The turn is over: write what was held back, name the calls that it cut off, and stop the spinner."""
        self._end_answer()
        for label in self._running:
            self._screen.say(
                shorten(f"{'✗' if self._screen.styled else '!'} {label}: stopped", self._screen.columns), DIM
            )
        self._running.clear()
        self._screen.idle()

    def _write(self) -> None:
        text = plain("".join(self._held) if len(self._held) > 1 else self._held[0] if self._held else "")
        self._held.clear()
        if not self._markdown or not text:
            self._screen.write(text)
            return
        if self._stream is None:
            from agent.app.markdown import MarkdownStream  # 90 ms that the first prompt need not wait for

            self._stream = MarkdownStream(lambda: self._screen.columns)
        self._screen.write(self._stream.feed(text))
        if self._stream.holding:
            self._screen.busy("writing")

    def _end_answer(self) -> None:
        self._write()
        if self._stream is not None:
            self._screen.write(self._stream.finish())
        self._screen.end_line()

    def _drop(self, reason: str) -> None:
        if self._screen.terminal:
            self._end_answer()
            self._screen.say(f"(what came above is void: {reason})", DIM)
        else:
            self._held.clear()
            self._screen.say(f"(an answer was dropped: {reason})", DIM)

    def _tell(self, kind: NoticeKind, text: str) -> None:
        if kind == "memory":
            self._screen.show(text, NOTE)  # that nothing was saved belongs to the answer that says the contrary
        elif kind in GRAVE:
            self._screen.say(text, NOTE)
        elif not self._quiet:
            self._screen.say(text, DIM)

    def _show_running(self) -> None:
        if len(self._running) == 1:
            self._screen.busy(self._running[0])
        elif self._running:
            self._screen.busy(f"{len(self._running)} tools: {', '.join(self._running)}")
