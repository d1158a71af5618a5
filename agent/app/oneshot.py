"""`run`: one task, one answer, an exit code that says how it went."""

from __future__ import annotations

import asyncio
import time
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent.app.approve import Approver, Person
from agent.app.config import Config, load_config
from agent.app.exits import Exit, TimedOut, UsageProblem, exit_of
from agent.app.failing import sentence, show_trace
from agent.app.options import Options
from agent.app.output import Output, is_terminal, open_output
from agent.app.stdin import read_task

if TYPE_CHECKING:
    from agent.agent import Agent
    from agent.app.progress import Progress
    from agent.events import Event
    from agent.reply import Reply
    from agent.session import Session

__all__ = ["run"]

REASONS = {
    "length": "The answer was truncated at the length limit (finish_reason=length)",
    "content_filter": "The answer was truncated by the provider's content filter (finish_reason=content_filter)",
    "limit": "The step limit was reached (--max-steps); the answer may be unfinished",
    "repeat": "Stopped: the model kept repeating one failing call (a loop); the answer may be unfinished",
}


def run(options: Options, task: str | None) -> int:
    """Do one task, print the answer, leave."""
    started = time.monotonic()
    form = options.output_format or ("json" if options.json else "text")
    if options.json and form == "text":
        raise UsageProblem("--json and --output-format text exclude each other")
    if options.timeout_s is not None and not options.timeout_s > 0:
        raise UsageProblem(f"--timeout {options.timeout_s:g} must be more than 0 seconds")
    config = load_config(options)
    color = "never" if form != "text" and options.color is None else config.settings.ui.color
    output = open_output(color, quiet=options.quiet, verbose=options.verbose)
    return OneShot(config, options, output, form, started).play(task)


@dataclass(slots=True)
class OneShot:
    config: Config
    options: Options
    output: Output
    form: str
    # text | json | stream-json
    started: float
    approver: Approver = field(init=False)
    agent: Agent | None = None
    session: Session | None = None
    progress: Progress | None = None
    turn: asyncio.Task[Reply] | None = None
    reader_left: BrokenPipeError | None = None
    model: str = ""

    def __post_init__(self) -> None:
        self.approver = Approver(self._find_person, yes=self.options.yes)

    def play(self, task: str | None) -> int:
        """Do it, and report whatever comes of it, a failure too."""
        deadline = None if self.options.timeout_s is None else self.started + self.options.timeout_s
        try:
            for warning in self.config.warnings:
                self.output.notice(warning)
            text = read_task(task, self.options, self.output, deadline)
            agent, progress = self._build()
            with asyncio.Runner() as runner:
                reply = runner.run(self._turn(agent, progress, text, deadline))
            return self._done(reply, progress)
        except BrokenPipeError:
            raise
        except BaseException as error:
            code, kind = exit_of(error)
            if code == Exit.INTERNAL:
                raise
            return self._failed(error, code, kind)

    def _build(self) -> tuple[Agent, Progress]:
        """Build the agent, and what watches its turn."""
        from agent.app.build import build_agent
        from agent.app.main import collect_again
        from agent.app.model_choice import choose_model
        from agent.app.talk import choose_session

        choice = choose_model(self.config, offline=self.options.offline)
        self.model = choice.name
        self.session = choose_session(self.config, self.options, choice.name)
        cache_key = self.session.id if self.session is not None else ""
        model = choice.build(self.config, cache_key=cache_key, warm=True)
        agent = build_agent(self.config, self.options, model=model, approve=self.approver, session=self.session)
        for notice in agent.notices:
            self.output.notice(notice)
        from agent.app.progress import Progress, Shown

        if self.form == "text" and is_terminal(self.output.stdout) and not self.output.quiet:
            progress: Progress = Shown(self.output, markdown=self.config.settings.ui.markdown)
        else:
            progress = Progress(self.output, self._stream_event if self.form == "stream-json" else None)
        self.agent, self.progress = agent, progress
        collect_again()
        return agent, progress

    async def _turn(self, agent: Agent, progress: Progress, text: str, deadline: float | None) -> Reply:
        self.turn = asyncio.current_task()
        try:
            return await self._played(agent, progress, text, deadline)
        except asyncio.CancelledError:
            if self.reader_left is not None:
                raise self.reader_left from None
            raise

    async def _played(self, agent: Agent, progress: Progress, text: str, deadline: float | None) -> Reply:
        from agent.app.signals import cancel_on_signals

        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        try:
            with cancel_on_signals():
                async with asyncio.timeout(left) as clock:
                    return await agent.run(text, on_event=progress)
        except TimeoutError as error:
            if not clock.expired():
                raise
            raise TimedOut(f"stopped: the time limit of {self.options.timeout_s:g} s (--timeout) passed") from error
        finally:
            progress.end()
            await agent.close()

    def _find_person(self) -> Person | None:
        from agent.app.persons import RunPerson, is_watched  # only where somebody is asked

        held = nullcontext if self.progress is None else self.progress.held
        return RunPerson(self.output, held) if is_watched(self.output) else None

    def _done(self, reply: Reply, progress: Progress) -> int:
        code, error = Exit.DONE, None
        if reply.finish_reason in REASONS:
            code, error = Exit.LIMIT, {"kind": "limit", "message": REASONS[reply.finish_reason]}
        if self.agent is not None and (said := self.approver.take_unanswered(self.agent.registry)):
            code, error = Exit.APPROVAL, {"kind": "approval", "message": said}
        if self.form != "text":
            self._print_outcome(code, error, result=reply.text, finish_reason=reply.finish_reason)
            return code
        if not progress.has_said(reply.text):
            self.output.answer(reply.text)
        cut = code == Exit.LIMIT and reply.finish_reason in ("length", "content_filter")
        if error is not None and (self.output.quiet or not cut):  # a notice told of the cut already
            self.output.problem(f"my-agent: {error['message']}")
        if self.config.settings.ui.figures:
            from agent.app.progress import figures

            self.output.progress(figures(reply.usage, reply.steps, time.monotonic() - self.started))
        return code

    def _failed(self, error: BaseException, code: int, kind: str) -> int:
        message = sentence(error)
        self.output.problem(f"my-agent: {message}")
        show_trace(error, self.output)
        if self.form != "text":
            with suppress(OSError):  # stdout may be what failed
                self._print_outcome(code, {"kind": kind, "message": message})
        return code

    def _print_outcome(self, code: int, error: dict[str, str] | None, **parts: str) -> None:
        from agent.app.jsonl import outcome

        found = outcome(
            usage=self.agent.usage if self.agent is not None else None,
            exit_code=int(code),
            session=self.session.id if self.session is not None and self.session.path.exists() else None,
            model=self.model or None,
            seconds=round(time.monotonic() - self.started, 3),
            error=error,
            **parts,
            **(self.progress.counted if self.progress is not None else {}),
        )
        self.output.line({"type": "result", **found} if self.form == "stream-json" else found)

    def _stream_event(self, event: Event) -> None:
        from agent.app.jsonl import event as as_json

        try:
            self.output.line(as_json(event))
        except BrokenPipeError as error:
            self.reader_left = error
            if self.turn is not None:
                self.turn.cancel()  # nobody reads on, so nothing more is to be paid for
