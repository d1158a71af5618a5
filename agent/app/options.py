"""`Options`: what the flags of the command line say, and `FLAGS`, the one list of the flags that commands share.

Named tuples here and in `commands.py`: each frozen dataclass would cost every command a millisecond.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

__all__ = ["FLAGS", "Flag", "Options", "flags_for", "takes_value"]

Scope = Literal["all", "turn", "run"]
Kind = Literal["text", "many", "whole", "number", "switch", "count"]


class Flag(NamedTuple):
    field: str
    # The attribute of `Options`, or the parameter of a command's function
    names: tuple[str, ...]
    # Empty: an argument by its place
    kind: Kind
    help: str
    metavar: str = ""
    scope: Scope = "all"
    # all: every command; turn: `run` and `chat`; run: `run` alone
    choices: tuple[str, ...] = ()
    low: float | None = None
    optional: bool = True
    default: Any = None


FLAGS = (
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
    Flag("verbose", ("-v", "--verbose"), "count", "Say more; twice for what libraries log."),
    Flag("color", ("--color",), "text", "auto, always or never.", "WHEN"),
    Flag("resume", ("-r", "--resume"), "text", "Go on with this session.", "ID", scope="turn"),
    Flag("go_on", ("-c", "--continue"), "switch", "Go on with the last session.", scope="turn"),
    Flag("fork", ("--fork",), "switch", "Go on in a copy of the session.", scope="turn"),
    Flag("no_session", ("--no-session",), "switch", "Do not save the session.", scope="turn"),
    Flag("tools", ("--tools",), "many", "Offer these tools only (with commas).", "TOOLS", scope="turn"),
    Flag("max_steps", ("--max-steps",), "whole", "Model calls in one turn at most.", "N", scope="turn"),
    Flag("max_retries", ("--max-retries",), "whole", "Retries of one model call at most.", "N", scope="turn"),
    Flag("max_agents", ("--max-agents",), "whole", "Sub-agents in one turn at most.", "N", scope="turn"),
    Flag("json", ("--json",), "switch", "Print one JSON object, also on failure.", scope="run"),
    Flag("output_format", ("--output-format",), "text", "text, json or stream-json.", "FORMAT", scope="run"),
    Flag("timeout_s", ("--timeout",), "number", "Stop after so many seconds, tools too.", "SECONDS", scope="run"),
    Flag("no_stdin", ("--no-stdin",), "switch", "Do not look at standard input.", scope="run"),
)

_KINDS = {name: flag.kind for flag in FLAGS for name in flag.names}


class Options(NamedTuple):
    """The flags of one command. None or empty: not given, so the configuration decides."""

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
    resume: str | None = None
    go_on: bool = False
    fork: bool = False
    no_session: bool = False
    tools: tuple[str, ...] | None = None
    max_steps: int | None = None
    max_retries: int | None = None
    max_agents: int | None = None
    json: bool = False
    output_format: str | None = None
    timeout_s: float | None = None
    no_stdin: bool = False

    @classmethod
    def of(cls, values: dict[str, Any]) -> Options:
        """Make options of what the parser found; lists may hold commas."""
        found: dict[str, Any] = {}
        for name in cls._fields:
            value = values.get(name)
            if value is None or value is False or (value == 0 and _kind(name) == "count"):
                continue
            found[name] = _split(value) if _kind(name) == "many" else value
        return cls(**found)


def flags_for(scope: Scope) -> list[Flag]:
    """Return the flags that a command of this scope takes."""
    wider: dict[Scope, tuple[Scope, ...]] = {"all": ("all",), "turn": ("all", "turn"), "run": ("all", "turn", "run")}
    return [flag for flag in FLAGS if flag.scope in wider[scope]]


def takes_value(word: str) -> bool:
    """Say whether this flag, as it stands on the command line, is followed by its value."""
    if word in _KINDS:
        return _KINDS[word] not in ("switch", "count")
    if word.startswith("--") or len(word) < 2:
        return False
    # -qm NAME: switches in one cluster, the last may want a value; -mNAME carries it
    for place, letter in enumerate(word[1:], 1):
        if _KINDS.get(f"-{letter}", "switch") not in ("switch", "count"):
            return place == len(word) - 1
    return False


def _kind(name: str) -> Kind | None:
    return next((flag.kind for flag in FLAGS if flag.field == name), None)


def _split(values: list[str]) -> tuple[str, ...]:
    return tuple(name.strip() for value in values for name in value.split(",") if name.strip())
