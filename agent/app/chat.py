"""`Chat`: one talk with a person: reads, plays turns, runs commands, and leaves cleanly."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterable
from functools import cached_property, partial
from typing import TYPE_CHECKING

from agent.app.chat_parts import ChatParts
from agent.app.exits import Exit, exit_of
from agent.app.failing import sentence
from agent.app.greeting import WELCOME, introduce
from agent.app.interrupts import Interrupts, Stopped
from agent.app.opening import open_reader, open_screen
from agent.app.reader import Interrupted
from agent.app.style import DIM, ERROR, NOTE
from agent.app.warm_up import load_client

if TYPE_CHECKING:
    from agent import Agent, Session, Usage
    from agent.app.approve import Approver
    from agent.app.render import Renderer

__all__ = ["Chat"]

CLOSING_S = 3.0


class Chat:
    """The state of a chat, which its commands may use. `play` is the whole of it, once."""

    def __init__(self, parts: ChatParts) -> None:
        self.parts = parts
        self.screen = open_screen(parts.output)
        self.reader = open_reader(self.screen, choices=self._choices, root=parts.cwd)
        self.interrupts = Interrupts(idle=self.reader.interrupt, woken=self._woken)
        self.model_name = ""
        # What /model chose; empty: the configured model
        self.draft = ""
        # What the next prompt begins with
        self.last_message = ""
        # As it was typed; /retry sends it again
        self.attached: list[str] = []
        # What goes to the model with the next message
        self._spent: list[Usage] = []
        # By the agents of the talks before this one
        self._agent: Agent | None = None
        self._code: int = Exit.DONE
        self._leaving = False

    # --- what commands use

    @property
    def agent(self) -> Agent:
        assert self._agent is not None, "the agent is built before a line is handled"  # noqa: S101
        return self._agent

    @cached_property
    def renderer(self) -> Renderer:
        """What shows the turns."""
        from agent.app.render import Renderer  # not before the first prompt, nor are the events and tools behind it

        return Renderer(self.screen, markdown=self.parts.markdown, quiet=self.parts.output.quiet)

    @cached_property
    def approver(self) -> Approver:
        """What asks the person before a supervised tool runs."""
        from agent.app.approve import Approver  # likewise

        return Approver(self.screen, self.reader, stop=self.interrupts.stop, yes=self.parts.yes)

    @property
    def total_usage(self) -> Usage:
        """The tokens of the whole chat."""
        from agent import Usage

        return sum(self._spent, Usage()) + self.agent.usage

    def say(self, text: str, style: str = "") -> None:
        """Tell the person something beside the talk."""
        if not (self.parts.output.quiet and style == DIM):
            self.screen.say(text, style)

    def show(self, text: str, style: str = "") -> None:
        """Print what the person asked for."""
        self.screen.show(text, style)

    def leave(self) -> None:
        """End the chat after this command."""
        self._leaving = True

    async def send(self, text: str) -> None:
        """Play a turn with this message."""
        from agent.app.mentions import attach_files
        from agent.app.progress import figures

        message, notices = attach_files(text, self.parts.cwd)
        for notice in notices:
            self.say(notice, NOTE)
        attached, self.attached = self.attached, []
        self.last_message = text
        began = time.monotonic()
        try:
            turn = self.agent.run("\n\n".join([*attached, message]), on_event=self.renderer)
            reply = await self.interrupts.run(turn)
        finally:
            self.renderer.end()
        if self.parts.figures and self.screen.terminal:
            self.say(figures(reply.usage, reply.steps, time.monotonic() - began), DIM)

    async def enter(self, session: Session | None) -> None:
        """Go on in another session, with an agent of its own. The old one stays where the new one cannot be built."""
        fresh = self._build(session)
        old, self._agent = self.agent, fresh
        self._spent.append(old.usage)
        self.approver.forget()
        self.attached.clear()
        self.last_message = ""
        await old.close()
        introduce(self)

    def warm_up(self) -> None:
        """Load the client of the model while the person types."""
        threading.Thread(target=load_client, args=(self.agent.model,), name="warm-up", daemon=True).start()

    # --- the talk

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
                self.reader.pause()
                await self._close()
        return self._code

    async def _talk(self, first: str) -> None:
        if self.screen.terminal:
            self.say(WELCOME, DIM)
        if first:
            self._start()
            if self.screen.terminal:
                self.show(f"> {first}")
            await self._handle(first)
        while not self._leaving:
            draft, self.draft = self.draft, ""
            try:
                text = await self.reader.read(draft, shown=self._start if self._agent is None else None)
            except EOFError:
                return
            except Interrupted:
                self.say("Interrupted.", NOTE)
                continue
            if self._agent is None:
                self._start()  # Enter came before the prompt was painted
            await self._handle(text)
            if text.strip() and self.screen.terminal and not self._leaving:
                self.screen.write("\n")  # room between a turn and the next prompt

    async def _handle(self, text: str) -> None:
        """Do what a line asks for. What goes wrong is told, and the chat goes on."""
        from agent.app.own_command import is_own_command, run_own
        from agent.app.slash import COMMANDS, parse_line, unknown_command

        text = text.strip()
        try:
            if line := parse_line(text, COMMANDS):
                if line.command is None:
                    self.say(unknown_command(line.name), NOTE)
                else:
                    await line.command.run(self, line.rest)
            elif self.reader.interactive and is_own_command(text):
                await run_own(self, text)
            elif text:
                await self.send(text)
        except Stopped:
            self.say("Interrupted.", NOTE)
        except Exception as error:
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        code, _ = exit_of(error)
        if code == Exit.INTERNAL:
            self.say(f"Internal error: {type(error).__name__}: {sentence(error)} (-v shows where)", ERROR)
        else:
            self.say(f"Error: {sentence(error)}", ERROR)
        if self.parts.output.verbose:
            self.say(_trace(error), NOTE)
        if not self.reader.interactive:
            self._code = code

    # --- beginning and end

    def _start(self) -> None:
        """Build the agent: the prompt can be seen already, and nobody has typed yet."""
        self._agent = self._build(self.parts.first_session())
        self.reader.print_above(partial(introduce, self))
        self.warm_up()

    def _build(self, session: Session | None) -> Agent:
        try:
            agent = self.parts.build(self.approver, session)
            if self.model_name:
                agent.model = self.parts.new_model(self.model_name)
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

    def _choices(self, before: str) -> Iterable[tuple[str, str]]:
        from agent.app.slash import choices  # not before a person types

        return choices(self, before) if self._agent is not None else ()

    def _woken(self) -> None:
        if self.interrupts.working:
            self.reader.resume()


def _trace(error: Exception) -> str:
    import traceback

    from agent.redact import redact

    return redact("".join(traceback.format_exception(error)))
