"""`build_agent`: settings and flags made into an agent. The one place where the parts are wired together."""

from __future__ import annotations

import secrets
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from agent.app.config import Config
from agent.app.exits import ConfigProblem, UsageProblem, guess
from agent.app.options import Options
from agent.home import find_context_files, find_memory_dir, find_sessions_dir

if TYPE_CHECKING:
    from agent.agent import Agent
    from agent.messages import Model
    from agent.session import Session
    from memory import MemoryProvider
    from tools import Approve, Tool

__all__ = ["build_agent", "curated_dir"]

DEFAULT_BUDGET_TOKENS = 100_000
CONTEXT_FILE_CHAR_LIMIT = 32_000
OUTPUTS_KEPT_S = 3 * 24 * 3600


def build_agent(config: Config, options: Options, *, model: Model, approve: Approve, session: Session | None) -> Agent:
    """Wire an agent. Raises what a part raises: `ConfigProblem`, `UsageProblem`, a memory refusal."""
    from agent.agent import Agent
    from agent.app.archive_setup import build_provider
    from agent.delegation import AgentLimits
    from tools import ToolPolicy

    settings, name = config.settings, session.id if session is not None else ""
    policy, curated, limits = settings.security.tool_policy, settings.memory.curated, settings.agents
    window = settings.provider.context_window

    unsaved = f"unsaved-{secrets.token_hex(8)}"  # what belongs to one such talk is of no other

    def current_session() -> str:
        return agent.session.id if agent.session is not None else unsaved

    provider = None if options.no_memory else build_provider(config, current_session)
    agent = Agent(
        model=model,
        tools=_build_tools(config, provider, outputs=_outputs_dir(name or "unsaved")),
        session=session,
        instructions=_instructions(config),
        memory_dir=curated_dir(config, options) or False,
        memory_limits=(curated.memory_char_limit, curated.user_char_limit),
        provider=provider,
        policy=ToolPolicy(policy.tools, default=policy.default),
        approve=approve,
        max_steps=settings.agent.max_steps,
        max_retries=settings.provider.max_retries,
        context_budget=settings.agent.context_budget or window * 3 // 4 or DEFAULT_BUDGET_TOKENS,
        can_delegate=limits.max_agents > 0,
        limits=AgentLimits(
            max_agents=limits.max_agents,
            max_steps=limits.max_steps,
            timeout_s=limits.timeout_s,
            side_by_side=limits.side_by_side,
        ),
        private=_private_folders(config),
        name=settings.agent.name,
        cwd=config.cwd,
    )
    _fit_tools(agent, config, options)
    return agent


def curated_dir(config: Config, options: Options) -> Path | None:
    """Return the folder of the curated memory, or None where memory is off."""
    return None if options.no_memory else find_memory_dir(config.settings.memory.curated.dir or None, config.cwd)


def _private_folders(config: Config) -> list[Path]:
    """Return what no sub-agent may touch, also where this run does without memory."""
    memory = config.settings.memory
    named = [config.folder(name) for name in (memory.path, memory.curated.dir) if name]
    return [find_sessions_dir(config.cwd), *named]


def _build_tools(config: Config, provider: MemoryProvider | None, *, outputs: Path) -> list[Tool]:
    """Return the tools for files and commands; those of memory and delegation come from the agent.

    `outputs`: where long outputs of commands are kept whole, for the model to read on.
    """
    from tools import make_file_tools, make_shell_tool

    files, shell = config.settings.tools.files, config.settings.tools.shell
    protected = [config.folder(name) for name in files.protected]
    if config.settings.memory.acl_enabled:
        protected += [Path(folder) for folder in getattr(provider, "folders", ())]
    readable = [outputs, *map(config.folder, files.readable)]
    return [
        *make_file_tools(config.cwd, protected=protected, readable=readable),
        make_shell_tool(config.cwd, timeout_s=shell.timeout_s, spill_dir=outputs, env_allow=tuple(shell.env_allow)),
    ]


def _instructions(config: Config) -> str:
    """Return what the settings and the `AGENTS.md` files tell the model, outermost first."""
    parts = [config.settings.agent.instructions.strip()]
    for path in find_context_files(config.cwd):
        try:
            text = path.read_bytes().decode("utf-8", "replace").strip()
        except OSError as error:
            raise UsageProblem(f"{str(path)!r} cannot be read: {error.strerror}") from error
        if (left := len(text) - CONTEXT_FILE_CHAR_LIMIT) > 0:
            text = f"{text[:CONTEXT_FILE_CHAR_LIMIT]}\n[... {left} characters of {path.name} left out ...]"
        if text:
            parts.append(f"# Instructions of {path}\n\n{text}")
    return "\n\n".join(part for part in parts if part)


def _outputs_dir(session: str) -> Path:
    """Return the folder for long outputs of a session; what is there from days ago is removed."""
    from platformdirs import user_cache_path

    folder = user_cache_path("my-agent", appauthor=False) / "outputs"
    oldest = time.time() - OUTPUTS_KEPT_S
    for path in folder.glob("*/*.txt"):
        with suppress(OSError):  # another process may be removing it too
            if path.stat().st_mtime < oldest:
                path.unlink()
    return folder / session


def _fit_tools(agent: Agent, config: Config, options: Options) -> None:
    """Refuse names of tools that are none, leave only those of --tools, and say which an old talk misses."""
    from tools import ToolRegistry

    known = {*agent.registry.names(), "memory", "task"}
    for tool in config.settings.security.tool_policy.tools:
        # a verdict on a misspelt name would protect nothing
        if tool not in known and (meant := guess(tool, known)) != ".":
            raise ConfigProblem(f"security.tool_policy: there is no tool {tool!r}{meant}")
    for tool in options.tools or ():
        if tool not in known:
            raise UsageProblem(f"--tools: there is no tool {tool!r}; there are {', '.join(sorted(known))}")
    if options.tools is not None:
        # one that is off here may be named all the same
        kept = [tool for tool in map(agent.registry.get, dict.fromkeys(options.tools)) if tool is not None]
        agent.registry = ToolRegistry(kept, policy=agent.policy, approve=agent.approve)
    session = agent.session
    if session is not None:
        # the calls of an old talk stay valid history, though their tools may be gone
        used = {call["function"]["name"] for message in session.messages for call in message.get("tool_calls") or ()}
        if missing := sorted(used.difference(agent.registry.names())):
            session.notices.append(f"This session used tools that are not there now: {', '.join(missing)}")
