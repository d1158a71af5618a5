"""`Chat`: one talk with a person, in a terminal or over a pipe. `run_chat` plays it, on one event loop.

A message is a turn. A line that begins with `/` is a command of the chat and never reaches the model. In a terminal
`!command` runs a command for the person, and `!!command` hands its output to the model with the next message. The exit
code of a terminal is 0, for the person saw what went wrong; on a pipe it is that of the last line, as in a script.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterable
from functools import cached_property, partial
from typing import TYPE_CHECKING

from agent.app.chat_parts import ChatParts
from agent.app.exits import Exit, UsageProblem, exit_of
from agent.app.failing import sentence
from agent.app.greeting import WELCOME, introduce
from agent.app.interrupts import Interrupts, Stopped
from agent.app.opening import open_reader, open_screen
from agent.app.reader import Interrupted
from agent.app.style import DIM, ERROR, NOTE
from agent.app.warm_up import warm_up

if TYPE_CHECKING:
    from agent import Agent, Session, Usage
    from agent.app.approve import Approver
    from agent.app.render import Renderer

__all__ = ["Chat", "run_chat"]

CLOSING_S = 3.0


def run_chat(parts: ChatParts, first: str = "") -> int:
    """Talk until the person leaves; return the exit code. `first` is sent before anything is read.

    Raises what building the agent raises, and `UsageProblem` where there is no standard input.
    """
    if sys.stdin is None or sys.stdin.closed:
        raise UsageProblem("Standard input (stdin) is closed: there is nothing to read. `my-agent run TASK` needs none")
    with asyncio.Runner() as runner:
        return runner.run(Chat(parts).play(first))


class Chat:
    """The state of a chat, which its commands may use. `play` is the whole of it, once."""

    def __init__(self, parts: ChatParts) -> None:
        self.parts = parts
        self.screen = open_screen(parts.output)
        self.reader = open_reader(self.screen, choices=_choices, root=parts.cwd)
        self.interrupts = Interrupts(idle=self.reader.interrupt)
        self.model_name = ""  # what /model chose, if anything
        self.attached: list[str] = []
        # What goes to the model with the next message
        self.leaving = False
        self._spent: list[Usage] = []
        # By the agents of the talks before this one
        self._agent: Agent | None = None
        self._code: int = Exit.DONE

    @property
    def agent(self) -> Agent:
        assert self._agent is not None, "the agent is built before a line is handled"  # noqa: S101
        return self._agent

    @cached_property
    def renderer(self) -> Renderer:
        from agent.app.render import Renderer  # not before the first prompt, nor are the events and tools behind it

        return Renderer(self.screen, markdown=self.parts.markdown, quiet=self.parts.output.quiet)

    @cached_property
    def approver(self) -> Approver:
        from agent.app.approve import Approver  # likewise
        from agent.app.persons import ChatPerson

        person = ChatPerson(self.screen, self.reader, self.interrupts.stop) if self.reader.interactive else None
        return Approver(lambda: person, yes=self.parts.yes)

    @property
    def total_usage(self) -> Usage:
        """The tokens of the whole chat."""
        from agent import Usage

        return sum(self._spent, Usage()) + self.agent.usage

    def say(self, text: str, style: str = "") -> None:
        """Tell the person something beside the talk."""
        if not (self.parts.output.quiet and style == DIM):
            self.screen.say(text, style)

    async def send(self, text: str) -> None:
        """Play a turn with what the person typed, and what belongs to it."""
        from agent.app.mentions import attach_files

        message, notices = attach_files(text, self.parts.cwd)
        for notice in notices:
            self.say(notice, NOTE)
        attached, self.attached = self.attached, []
        await self.turn("\n\n".join([*attached, message]))

    async def turn(self, message: str) -> None:
        """Play a turn with this very message."""
        from agent.app.progress import figures

        began = time.monotonic()
        try:
            reply = await self.interrupts.run(self.agent.run(message, on_event=self.renderer))
        finally:
            self.renderer.end()
            if denied := self.approver.take_unanswered(self.agent.registry):
                self.say(denied, NOTE)
                self._code = Exit.APPROVAL
        if self.parts.figures and self.screen.terminal:
            self.say(figures(reply.usage, reply.steps, time.monotonic() - began), DIM)

    async def enter(self, session: Session | None) -> None:
        """Go on in another session, with an agent of its own. The old one stays where the new one cannot be built."""
        fresh = self._build(session)
        old, self._agent = self.agent, fresh
        self._spent.append(old.usage)
        self.approver.always.clear()
        self.attached.clear()
        await old.close()
        introduce(self)

    async def play(self, first: str = "") -> int:
        """Talk until the person leaves or a signal ends it; return the exit code."""
        with self.interrupts:
            self.screen.lost = lambda: self.interrupts.end(Exit.PIPE)
            try:
                await self._talk(first)
            except (asyncio.CancelledError, OSError):  # the latter from a terminal that is gone
                if self.interrupts.code is None:
                    raise
                self._code = self.interrupts.code
            finally:
                self.interrupts.settle()
                self.screen.idle()
                self.reader.close()
                await self._close()
        return self._code

    async def _talk(self, first: str) -> None:
        if self.screen.terminal:
            self.say(WELCOME, DIM)
        if first:
            self._start()
            if self.screen.terminal:
                self.screen.show(f"> {first}")
            await self._handle(first)
        while not self.leaving:
            try:
                text = await self.reader.read(shown=self._start if self._agent is None else None)
            except EOFError:
                return
            except Interrupted:
                self.say("Interrupted.", NOTE)
                continue
            if self._agent is None:
                self._start()  # Enter came before the prompt was painted
            await self._handle(text)
            if text.strip() and self.screen.terminal and not self.leaving:
                self.screen.write("\n")  # room between a turn and the next prompt

    async def _handle(self, text: str) -> None:
        """Do what a line asks for. What goes wrong is told, and the chat goes on."""
        from agent.app.own_command import is_own_command, run_own
        from agent.app.slash.table import run_line

        if not (text := text.strip()):
            return
        self._code = Exit.DONE
        try:
            if await run_line(self, text):
                return
            if self.reader.interactive and is_own_command(text):
                await run_own(self, text)
            else:
                await self.send(text)
        except Stopped:
            self.say("Interrupted.", NOTE)
        except Exception as error:
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        code, said = exit_of(error)[0], f"Error: {sentence(error)}"
        if code == Exit.INTERNAL:
            said = f"Internal error: {type(error).__name__}: {sentence(error)} (-v shows where)"
        self.say(said, ERROR)
        if self.parts.output.verbose:
            import traceback

            from agent.redact import redact

            self.say(redact("".join(traceback.format_exception(error))), NOTE)
        if not self.reader.interactive:
            self._code = code

    def _start(self) -> None:
        """Build the agent: the prompt can be seen already, and nobody has typed yet."""
        self._agent = self._build(self.parts.first_session())
        self.reader.print_above(partial(introduce, self))
        warm_up(self.agent.model, styled=self.screen.styled)

    def _build(self, session: Session | None) -> Agent:
        try:
            agent = self.parts.build(self.approver, session)
            if self.model_name:
                agent.model = self.parts.new_model(self.model_name, session)
        except BaseException:
            if session is not None:
                session.close()
            raise
        return agent

    async def _close(self) -> None:
        """Close what is open, within a time; a session file is whole at any moment."""
        if self._agent is None:
            return
        session = self._agent.session
        if session is not None and session.messages and self.screen.terminal:
            self.say(f"Go on with it: my-agent chat --resume {session.id}", DIM)
        try:
            async with asyncio.timeout(CLOSING_S):
                await self._agent.close()
        except TimeoutError:
            self.say("Something took too long to close and was left", NOTE)


def _choices() -> Iterable[tuple[str, str]]:
    from agent.app.slash.table import COMMANDS  # not before a person types

    return ((f"/{name}", command.summary) for name, command in COMMANDS.items() if name == command.name)
