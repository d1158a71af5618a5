"""The one that thinks: `Agent`, its models, its talk, its sessions."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import PathFinder

TYPE_CHECKING = False  # with `typing` and `importlib.util`, `my-agent --version` would take twice as long
if TYPE_CHECKING:
    from typing import Any

    from agent.agent import Agent
    from agent.delegation import AgentLimits
    from agent.events import (
        AnswerDropped,
        Emit,
        Event,
        Notice,
        StepStarted,
        TextDelta,
        ToolFinished,
        ToolStarted,
        ignore,
    )
    from agent.failures import (
        AgentFailure,
        ContextOverflow,
        EmptyAnswer,
        KeyRefused,
        ModelFailure,
        ProviderFailed,
        RequestRefused,
        SessionUnavailable,
    )
    from agent.home import MemoryDir, find_context_files, find_memory_dir, find_sessions_dir
    from agent.loop import Outcome, react
    from agent.messages import Completion, Message, Model, Usage
    from agent.model import OpenAIModel
    from agent.offline import OfflineModel
    from agent.reply import Reply
    from agent.scripted import ScriptedModel
    from agent.session import Session
    from agent.session_list import SessionSummary, find_session, list_sessions

_HOMES = {
    "agent": "Agent",
    "delegation": "AgentLimits",
    "events": "AnswerDropped Emit Event Notice StepStarted TextDelta ToolFinished ToolStarted ignore",
    "failures": "AgentFailure ContextOverflow EmptyAnswer KeyRefused ModelFailure ProviderFailed RequestRefused"
    " SessionUnavailable",
    "home": "MemoryDir find_context_files find_memory_dir find_sessions_dir",
    "loop": "Outcome react",
    "messages": "Completion Message Model Usage",
    "model": "OpenAIModel",
    "offline": "OfflineModel",
    "reply": "Reply",
    "scripted": "ScriptedModel",
    "session": "Session",
    "session_list": "SessionSummary find_session list_sessions",
}
_HOME_OF = {name: f"agent.{home}" for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "Agent", "AgentFailure", "AgentLimits", "AnswerDropped", "Completion", "ContextOverflow", "Emit", "EmptyAnswer",
    "Event", "KeyRefused", "MemoryDir", "Message", "Model", "ModelFailure", "Notice", "OfflineModel", "OpenAIModel",
    "Outcome", "ProviderFailed", "Reply", "RequestRefused", "ScriptedModel", "Session", "SessionSummary",
    "SessionUnavailable", "StepStarted", "TextDelta", "ToolFinished", "ToolStarted", "Usage", "find_context_files",
    "find_memory_dir", "find_session", "find_sessions_dir", "ignore", "list_sessions", "react",
]  # fmt: skip


def _check_siblings() -> None:
    """The packages have plain names, so another project's folder may stand before ours: say which."""
    place = __path__[0].rpartition("agent")[0]
    for name in ("tools", "memory", "prompts"):
        loaded = sys.modules.get(name)
        spec = PathFinder.find_spec(name) if loaded is None else loaded.__spec__
        folders = list(spec.submodule_search_locations or []) if spec is not None else []
        found = folders[0] if folders else spec.origin if spec is not None else None
        if found != f"{place}{name}":
            raise ImportError(
                f"my-agent needs its own package {name!r} beside {__path__[0]!r}, but Python finds {found!r} first; "
                "run the `my-agent` command from another folder, or rename that folder"
            )


_check_siblings()


def __getattr__(name: str) -> Any:
    """Load the module of a name when the name is first used, so that a light command stays light."""
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'agent' has no attribute {name!r}")
    return getattr(import_module(home), name)
