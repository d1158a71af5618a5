"""`ChatParts`: what the command line hands to a chat. `run_chat(parts, first)` of `agent.app.repl` plays it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent import Agent, Model, Session
    from agent.app.output import Output
    from tools import Approve

__all__ = ["ChatParts"]


@dataclass(frozen=True, slots=True)
class ChatParts:
    """Nothing here has been built yet: in a terminal the functions are called behind the first prompt."""

    output: Output
    cwd: Path
    # The workspace, absolute: `@file` may not lead out of it
    build: Callable[[Approve, Session | None], Agent]
    # An agent as the settings and flags want it, in this session; None: the talk is not saved
    first_session: Callable[[], Session | None]
    # The session that the flags name (--resume, --continue, --fork), or a new one; None with --no-session
    new_model: Callable[[str, Session | None], Model]
    # The model of this name, on the server of the settings; for /model
    sessions_dir: Path | None = None
    # Where /sessions looks and /resume and /new keep their files; None: nothing is saved
    doctor: Callable[[], str] | None = None
    # Returns what `my-agent doctor` prints
    yes: bool = False
    # --yes: supervised tools run without a question
    markdown: bool = True
    figures: bool = True
