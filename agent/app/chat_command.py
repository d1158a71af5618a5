"""`my-agent chat`: hands the settings to the chat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.app.config import load_config
from agent.app.options import Options
from agent.app.output import open_output

if TYPE_CHECKING:
    from agent.agent import Agent
    from agent.messages import Model
    from agent.session import Session
    from tools import Approve

__all__ = ["chat"]


def chat(options: Options, prompt: str | None) -> int:
    """Talk in the terminal, or line by line over a pipe."""
    from agent.app.chat_parts import ChatParts
    from agent.app.model_choice import choose_model
    from agent.app.repl import run_chat
    from agent.home import find_sessions_dir

    config = load_config(options)
    ui = config.settings.ui
    output = open_output(ui.color, quiet=options.quiet, verbose=options.verbose)
    for warning in config.warnings:
        output.notice(warning)
    choice = choose_model(config, offline=options.offline)

    def build(approve: Approve, session: Session | None) -> Agent:
        from agent.app.build import build_agent

        model = choice.build(config, cache_key=_cache_key(session))
        return build_agent(config, options, model=model, approve=approve, session=session)

    def first_session() -> Session | None:
        from agent.app.talk import choose_session

        return choose_session(config, options, choice.name)

    def new_model(name: str, session: Session | None) -> Model:
        return choice.named(name).build(config, cache_key=_cache_key(session))

    def look() -> str:
        from agent.app.doctor import examination

        return examination(options)

    parts = ChatParts(
        output=output,
        cwd=config.cwd,
        build=build,
        first_session=first_session,
        new_model=new_model,
        sessions_dir=None if options.no_session else find_sessions_dir(config.cwd),
        doctor=look,
        yes=options.yes,
        markdown=ui.markdown,
        figures=ui.figures and not options.quiet,
    )
    return run_chat(parts, prompt or "")


def _cache_key(session: Session | None) -> str:
    return session.id if session is not None else ""
