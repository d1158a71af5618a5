"""`Options`: what the shared flags of a command line say, and `Flag`, one flag or argument of a command.

Named tuples: each frozen dataclass would cost every command a millisecond.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

__all__ = ["DATA", "PLAIN", "RUN", "TURN", "Flag", "Options", "takes_value"]

Kind = Literal["text", "many", "whole", "number", "switch", "count"]


class Flag(NamedTuple):
    field: str
    # The attribute of `Options`, or the parameter of a command's function
    names: tuple[str, ...]
    # Empty: an argument by its place
    kind: Kind
    help: str
    metavar: str = ""
    choices: tuple[str, ...] = ()
    default: Any = None
    needed: bool = False
    # An argument that cannot be left out
    low: int = 0


PLAIN = (  # every command
    Flag("model", ("-m", "--model"), "text", "Model to ask.", "NAME"),
    Flag("base_url", ("--base-url",), "text", "Address of an OpenAI-compatible server.", "URL"),
    Flag("profile", ("--profile",), "text", "Use [profiles.NAME] of the configuration.", "NAME"),
    Flag("offline", ("--offline",), "switch", "Answer by built-in rules, without a language model."),
    Flag("config", ("--config",), "text", "Read this file instead of the project's and the user's.", "FILE"),
    Flag("cwd", ("-C", "--cwd"), "text", "Work in this folder.", "DIR"),
    Flag("memory_dir", ("--memory-dir",), "text", "Folder of MEMORY.md and USER.md.", "DIR"),
    Flag("no_memory", ("--no-memory",), "switch", "Without memory: neither read nor written."),
    Flag("agent", ("--agent",), "text", "Name under which the agent keeps memory.", "NAME"),
    Flag("allow", ("--allow",), "many", "Run this tool without asking (repeatable, or with commas).", "TOOL"),
    Flag("ask", ("--ask",), "many", "Ask before this tool runs.", "TOOL"),
    Flag("deny", ("--deny",), "many", "Never run this tool.", "TOOL"),
    Flag("yes", ("-y", "--yes"), "switch", "Answer yes wherever a tool asks; denied tools stay denied."),
    Flag("quiet", ("-q", "--quiet"), "switch", "Nothing but the answer."),
    Flag("verbose", ("-v", "--verbose"), "count", "Show warnings of the log; twice for all of it, with tracebacks."),
    Flag("color", ("--color",), "text", "auto, always or never.", "WHEN", ("auto", "always", "never")),
)
DATA = (*PLAIN, Flag("json", ("--json",), "switch", "Print JSON, also on failure."))
TURN = (
    *PLAIN,
    Flag("resume", ("-r", "--resume"), "text", "Go on with this session.", "ID"),
    Flag("go_on", ("-c", "--continue"), "switch", "Go on with the last session."),
    Flag("fork", ("--fork",), "switch", "Go on in a copy of the session."),
    Flag("no_session", ("--no-session",), "switch", "Do not save the session."),
    Flag("tools", ("--tools",), "many", "Offer these tools only (with commas).", "TOOLS"),
    Flag("max_steps", ("--max-steps",), "whole", "Model calls in one turn at most.", "N"),
    Flag("max_retries", ("--max-retries",), "whole", "Retries of one model call at most.", "N"),
    Flag("max_agents", ("--max-agents",), "whole", "Sub-agents in one turn at most.", "N"),
)
RUN = (
    *TURN,
    DATA[-1],
    Flag(
        *("output_format", ("--output-format",), "text", "text, json or stream-json.", "FORMAT"),
        choices=("text", "json", "stream-json"),
    ),
    Flag("timeout_s", ("--timeout",), "number", "Stop after so many seconds, tools too.", "SECONDS"),
    Flag("no_stdin", ("--no-stdin",), "switch", "Do not look at standard input."),
)

_KINDS = {name: flag.kind for flag in RUN for name in flag.names}


class Options(NamedTuple):
    """None or empty: not given, so the configuration decides."""

    model: str | None = None
    base_url: str | None = None
    profile: str | None = None
    offline: bool = False
    config: str | None = None
    cwd: str | None = None
    memory_dir: str | None = None
    no_memory: bool = False
    agent: str | None = None
    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    yes: bool = False
    quiet: bool = False
    verbose: int = 0
    color: str | None = None
    json: bool = False
    resume: str | None = None
    go_on: bool = False
    fork: bool = False
    no_session: bool = False
    tools: tuple[str, ...] | None = None
    max_steps: int | None = None
    max_retries: int | None = None
    max_agents: int | None = None
    output_format: str | None = None
    timeout_s: float | None = None
    no_stdin: bool = False


def takes_value(word: str) -> bool:
    """Say whether this flag, as it stands on the command line, is followed by its value."""
    if word.startswith("--") or len(word) < 2:
        return _KINDS.get(word, "switch") not in ("switch", "count")
    # -qm NAME: switches in one cluster, the last may want a value; -mNAME carries it
    for place, letter in enumerate(word[1:], 1):
        if _KINDS.get(f"-{letter}", "switch") not in ("switch", "count"):
            return place == len(word) - 1
    return False
