"""`run`: one task, one answer, an exit code that says how it went."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from agent.app.config import Config, load_config
from agent.app.exits import Exit, TimedOut, UsageProblem, exit_of
from agent.app.failing import sentence, show_trace
from agent.app.options import Options
from agent.app.output import Output, is_terminal, open_output
from agent.app.parameters import Arg
from agent.app.run_approval import Nobody, Person, choose_approver
from agent.app.task import read_task

if TYPE_CHECKING:
    from agent.agent import Agent
    from agent.app.progress import Progress, Shown
    from agent.events import Event
    from agent.reply import Reply
    from agent.session import Session

__all__ = ["run"]

Format = Literal["text", "json", "stream-json"]

REASONS = {
    "length": "The answer was truncated at the length limit (finish_reason=length)",
    "limit": "The step limit was reached (--max-steps); the answer may be unfinished",
    "repeat": "Stopped: the model kept repeating one failing call (a loop); the answer may be unfinished",
}


def run(
    options: Options,
    task: Annotated[str | None, Arg("What is to be done; - reads it from standard input.")] = None,
) -> int:
    """Do one task, print the answer, leave."""
    started = time.monotonic()
    form = _format(options)
    if options.timeout_s is not None and options.timeout_s <= 0:
        raise UsageProblem(f"--timeout {options.timeout_s:g} must be more than 0 seconds")
    config = load_config(options)
    color = "never" if form != "text" and options.color is None else config.settings.ui.color
    output = open_output(color, quiet=options.quiet, verbose=options.verbose)
    deadline = None if options.timeout_s is None else started + options.timeout_s
    one = OneShot(config, options, output, form, started, deadline)
    return one.play(task)


@dataclass(slots=True)
class OneShot:
    config: Config
    options: Options
    output: Output
    form: Format
    started: float
    deadline: float | None
    agent: Agent | None = None
    session: Session | None = None
    progress: Progress | None = None
    shown: Shown | None = None
    turn: asyncio.Task[Reply] | None = None
    reader_left: BrokenPipeError | None = None
    model: str = ""

    def play(self, task: str | None) -> int:
        """Do it, and report whatever comes of it, a failure too."""
        approver = choose_approver(self.output, yes=self.options.yes)
        try:
            for warning in self.config.warnings:
                self.output.notice(warning)
            reply = self._answered(read_task(task, self.options, self.output, self.deadline), approver)
        except BrokenPipeError:
            raise
        except BaseException as error:
            code, kind = exit_of(error)
            if code == Exit.INTERNAL:
                raise
            return self._failed(error, code, kind)
        return self._done(reply, approver)

    def _answered(self, text: str, approver: Nobody) -> Reply:
        """Build the agent and let it answer, within the time that is left."""
        from agent.app.build import build_agent
        from agent.app.main import collect_again
        from agent.app.model_choice import choose_model
        from agent.app.talk import choose_session

        choice = choose_model(self.config, offline=self.options.offline)
        self.model = choice.name
        self.session = choose_session(self.config, self.options, choice.name)
        cache_key = self.session.id if self.session is not None else ""
        model = choice.build(self.config, cache_key=cache_key, warm=True)
        self.agent = build_agent(self.config, self.options, model=model, approve=approver, session=self.session)
        for notice in self.agent.notices:
            self.output.notice(notice)
        self._watch(approver)
        collect_again()
        with asyncio.Runner() as runner:
            return runner.run(self._turn(self.agent, text))

    def _watch(self, approver: Nobody) -> None:
        """Choose who sees the events of the turn."""
        from agent.app.progress import Lines, Progress, Shown

        if self.form == "text" and is_terminal(self.output.stdout) and not self.output.quiet:
            self.shown = Shown(self.output, markdown=self.config.settings.ui.markdown)
            if isinstance(approver, Person):
                approver.hold = self.shown.held
            self.progress = Progress([self.shown])
        elif self.form == "stream-json":
            self.progress = Progress([self._stream_event, Lines(self.output)])
        else:
            self.progress = Progress([Lines(self.output)])

    async def _turn(self, agent: Agent, text: str) -> Reply:
        from agent.app.signals import cancel_on_signals

        assert self.progress is not None  # noqa: S101 - made just before
        self.turn = asyncio.current_task()
        with cancel_on_signals() as cancelled:
            try:
                async with asyncio.timeout_at(self._loop_deadline()) as clock:
                    return await agent.run(text, on_event=self.progress)
            except TimeoutError as error:
                if not clock.expired():
                    raise
                raise TimedOut(f"stopped: the time limit of {self.options.timeout_s:g} s (--timeout) passed") from error
            except asyncio.CancelledError:
                cancelled.raise_if_signalled()
                if self.reader_left is not None:
                    raise self.reader_left from None
                raise
            finally:
                if self.shown is not None:
                    self.shown.end()
                await agent.close()

    def _loop_deadline(self) -> float | None:
        if self.deadline is None:
            return None
        return asyncio.get_running_loop().time() + max(0.0, self.deadline - time.monotonic())

    def _done(self, reply: Reply, approver: Nobody) -> int:
        code, error = Exit.DONE, None
        if reply.finish_reason in REASONS:
            code, error = Exit.LIMIT, {"kind": "limit", "message": REASONS[reply.finish_reason]}
        if approver.asked:
            names = ", ".join(dict.fromkeys(approver.asked))
            said = (
                f"{names} needed an approval that nobody could give: it was denied. --yes or --allow {names} gives it"
            )
            code, error = Exit.APPROVAL, {"kind": "approval", "message": said}
        if self.form == "text":
            if self.shown is None or not self.shown.has_said(reply.text):
                self.output.answer(reply.text)
            if error is not None:
                self.output.problem(f"my-agent: {error['message']}")
            self._show_figures(reply)
        else:
            self._print_outcome(
                result=reply.text,
                exit_code=code,
                finish_reason=reply.finish_reason,
                steps=reply.steps,
                usage=reply.usage,
                memory_writes=reply.memory_writes,
                error=error,
            )
        return code

    def _failed(self, error: BaseException, code: int, kind: str) -> int:
        message = sentence(error)
        self.output.problem(f"my-agent: {message}")
        show_trace(error, self.output)
        if self.form != "text":
            progress, agent = self.progress, self.agent
            self._print_outcome(
                exit_code=code,
                finish_reason="error",
                steps=progress.steps if progress is not None else 0,
                usage=agent.usage if agent is not None else None,
                memory_writes=progress.memory_writes if progress is not None else [],
                error={"kind": kind, "message": message},
            )
        return code

    def _print_outcome(self, **parts: Any) -> None:
        from agent.app.jsonl import outcome

        session = self.session.id if self.session is not None and self.session.path.exists() else None
        found = outcome(session=session, model=self.model, seconds=time.monotonic() - self.started, **parts)
        self.output.line({"type": "result", **found} if self.form == "stream-json" else found)

    def _stream_event(self, event: Event) -> None:
        from agent.app.jsonl import event as as_json

        try:
            self.output.line(as_json(event))
        except BrokenPipeError as error:
            self.reader_left = error
            if self.turn is not None:
                self.turn.cancel()  # nobody reads on, so nothing more is to be paid for

    def _show_figures(self, reply: Reply) -> None:
        from agent.app.progress import figures

        if self.config.settings.ui.figures:
            self.output.progress(figures(reply.usage, reply.steps, time.monotonic() - self.started))


def _format(options: Options) -> Format:
    form = options.output_format or ("json" if options.json else "text")
    if form not in get_args(Format):
        raise UsageProblem(f"--output-format {form!r} is unknown; choose {', '.join(get_args(Format))}")
    if options.json and form == "text":
        raise UsageProblem("--json and --output-format text exclude each other")
    return form  # type: ignore[return-value]  # one of the three, as checked
