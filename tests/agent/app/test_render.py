from __future__ import annotations

import asyncio
import io
import re

from agent.app.render import Renderer
from agent.app.screen import Screen
from agent.events import AnswerDropped, Event, Notice, StepStarted, TextDelta, ToolFinished, ToolStarted
from tools import ToolCall, ToolResult

CALL = ToolCall("c1", "shell", '{"command": "ls"}')


class Looked:
    """A screen that can be looked at."""

    def __init__(self, *, terminal: bool, styled: bool = False) -> None:
        self.out = io.StringIO()
        self.side = self.out if terminal else io.StringIO()
        self.screen = Screen(self.out, self.side, styled=styled, terminal=terminal, live=terminal)
        self.renderer = Renderer(self.screen)

    def show(self, *events: Event) -> tuple[str, str]:
        async def play() -> None:
            for event in events:
                self.renderer(event)
            self.renderer.end()

        asyncio.run(play())
        return self.out.getvalue(), self.side.getvalue()


def bare(text: str) -> str:
    return re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", text)


def test_on_a_pipe_the_answer_is_as_the_model_wrote_it() -> None:
    out, side = Looked(terminal=False).show(StepStarted(1), TextDelta("# A\n\n**b"), TextDelta("**"))

    assert (out, side) == ("# A\n\n**b**\n", "")


def test_on_a_pipe_an_answer_that_was_dropped_never_appears() -> None:
    pipe = Looked(terminal=False)
    out, side = pipe.show(StepStarted(1), TextDelta("half"), AnswerDropped("the stream broke"), TextDelta("whole"))

    assert out == "whole\n"
    assert "the stream broke" in side


def test_on_a_terminal_a_dropped_answer_is_called_void() -> None:
    out, _ = Looked(terminal=True, styled=True).show(TextDelta("half"), AnswerDropped("broke"), TextDelta("whole"))

    assert bare(out).replace("\r", "") == "half\n(what came above is void: broke)\nwhole\n"


def test_a_call_that_the_end_of_a_turn_cut_off_is_named() -> None:
    out, _ = Looked(terminal=True).show(StepStarted(1), ToolStarted(CALL))

    assert "! shell ls: stopped\n" in out


def test_words_before_a_tool_come_before_its_line() -> None:
    done = ToolFinished(CALL, ToolResult(True, data="a.txt"), 0.1)
    out, _ = Looked(terminal=True, styled=True).show(TextDelta("I look."), ToolStarted(CALL), done, TextDelta("Seen."))

    assert bare(out).replace("\r", "") == "I look.\n● shell ls → a.txt (0.1 s)\nSeen.\n"


def test_escapes_that_are_cut_in_two_are_defused_all_the_same() -> None:
    out, _ = Looked(terminal=True, styled=True).show(TextDelta("a\x1b"), TextDelta("]52;c;x\x07b\r"), TextDelta("\nc"))

    assert bare(out) == "a␛]52;c;x␇b\nc\n"


def test_a_notice_about_memory_goes_with_the_answer() -> None:
    out, side = Looked(terminal=False).show(
        TextDelta("Saved!"), Notice("memory", "nothing was saved"), Notice("retry", "again")
    )

    assert out == "Saved!\nnothing was saved\n"
    assert side == "again\n"


def test_pieces_that_come_at_once_are_written_at_once() -> None:
    terminal = Looked(terminal=True, styled=True)
    writes: list[str] = []
    terminal.out.write = writes.append  # type: ignore[method-assign, assignment]  # counts what reaches the terminal
    terminal.show(*[TextDelta("word ")] * 1_000)

    assert len(writes) < 10
    assert bare("".join(writes)).split() == ["word"] * 1_000


def test_the_answer_appears_while_it_comes() -> None:
    async def play() -> str:
        terminal = Looked(terminal=True, styled=True)
        terminal.renderer(TextDelta("Hello there\n\n and"))
        return terminal.out.getvalue()

    assert asyncio.run(play()) == "Hello there\n\n"


def test_the_spinner_turns_and_leaves_nothing_behind() -> None:
    async def play() -> tuple[str, str]:
        terminal = Looked(terminal=True, styled=True)
        terminal.renderer(ToolStarted(CALL))
        while "shell ls" not in terminal.out.getvalue():
            await asyncio.sleep(0.01)
        during = terminal.out.getvalue()
        terminal.renderer(ToolFinished(CALL, ToolResult(True, data="a"), 0.1))
        terminal.renderer.end()
        await asyncio.sleep(0.15)
        return during, terminal.out.getvalue()

    during, after = asyncio.run(play())
    assert "\n" not in during
    assert after.startswith(f"{during}\r\x1b[K")
    assert len(after.split("\n")) == 2


def test_no_spinner_turns_over_a_question() -> None:
    async def play() -> str:
        terminal = Looked(terminal=True, styled=True)
        terminal.renderer(ToolStarted(CALL))
        with terminal.screen.held():
            terminal.renderer(ToolStarted(CALL))
            terminal.renderer(ToolFinished(CALL, ToolResult(True, data="x"), 0.1))
            await asyncio.sleep(0.15)
            held = terminal.out.getvalue()
        terminal.renderer.end()
        assert "shell" in bare(terminal.out.getvalue())
        return held

    assert asyncio.run(play()) == ""


def test_nobody_at_stderr_does_not_end_the_chat() -> None:
    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    lost: list[str] = []
    out = io.StringIO()
    screen = Screen(out, Closed(), styled=False, terminal=False, live=False)
    screen.lost = lambda: lost.append("lost")
    screen.say("unheard")
    screen.show("heard")

    assert (lost, out.getvalue()) == ([], "heard\n")


def test_a_reader_that_left_ends_the_writing_quietly() -> None:
    lost: list[str] = []

    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    screen = Screen(Closed(), io.StringIO(), styled=False, terminal=False, live=False)
    screen.lost = lambda: lost.append("lost")
    screen.show("one")
    screen.show("two")

    assert lost == ["lost"]
