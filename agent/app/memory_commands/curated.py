"""The curated memory as the command line opens it: `open_curated`, `Target`, and what lists of entries look like."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from agent.app.bar import bar
from agent.app.build import curated_dir
from agent.app.config import Config, load_config
from agent.app.exits import UsageProblem
from agent.app.options import Options
from agent.app.output import Output, open_output

if TYPE_CHECKING:
    from memory import MemoryStore

__all__ = [
    "TARGETS",
    "Target",
    "begin",
    "entry_lines",
    "fill",
    "load_curated",
    "open_curated",
    "overview",
    "split_target",
]

Target = Literal["memory", "user"]
TARGETS: tuple[Target, ...] = get_args(Target)


def begin(options: Options) -> tuple[Config, Output]:
    """Read the configuration for a command that only shows or changes files, and tell its warnings."""
    config = load_config(options)
    output = open_output(config.settings.ui.color, quiet=options.quiet, verbose=options.verbose)
    for warning in config.warnings:
        output.notice(warning)
    return config, output


def open_curated(config: Config, options: Options, output: Output, *, whole: bool = False) -> MemoryStore:
    """Open and load the curated memory. Raises `UsageProblem` where memory is off.

    With `whole` also `StoreDamaged` where a file cannot be read; else that is a notice, and the target looks empty.
    """
    folder = curated_dir(config, options)
    if folder is None:
        why = (
            "--no-memory is given" if options.no_memory else f"there is no .my_agent_core/memory in {str(config.cwd)!r}"
        )
        raise UsageProblem(
            f"Memory is off: {why}. `my-agent init` makes it here, --memory-dir DIR names another folder"
        )
    store = load_curated(config, folder)
    for target in TARGETS if whole else ():
        store.reread(target)
    for notice in store.notices:
        output.notice(notice)
    return store


def load_curated(config: Config, folder: Path) -> MemoryStore:
    """Open and load a folder; the journal names the person as the author of what follows."""
    from memory import MemoryStore, Origin

    limits, name = config.settings.memory.curated, config.settings.agent.name
    store = MemoryStore(
        folder,
        limits.memory_char_limit,
        limits.user_char_limit,
        origin=lambda: Origin(author="user", agent=name),
        **_fixed_clock(),
    )
    store.load_from_disk()
    return store


def _fixed_clock() -> dict[str, Any]:
    """Return the clock that `MY_AGENT_NOW` fixes; without it the store has its own."""
    if not os.environ.get("MY_AGENT_NOW"):
        return {}
    from agent.session_file import now  # brings the messages and the tools with it

    return {"clock": now}


def overview(store: MemoryStore, target: Target) -> dict[str, Any]:
    """Return one target as `--json` shows it; with an `error` where its file cannot be read."""
    from memory import StoreDamaged

    found = {
        "entries": store.entries(target),
        "used": store.used(target),
        "limit": store.limits[target],
        "file": str(store.mem_dir / store.files[target]),
    }
    try:
        store.reread(target)
    except StoreDamaged as error:
        found["error"] = str(error)
    return found


def entry_lines(entries: Sequence[str], output: Output) -> list[str]:
    """Return numbered entries, further lines of each set in."""
    lines: list[str] = []
    for number, entry in enumerate(entries, 1):
        first, *others = entry.split("\n")
        lines.append(f"{number:>4}. {output.styled(first, 'plain')}")
        lines += [f"      {output.styled(line, 'plain')}" for line in others]
    return lines or ["      (empty)"]


def fill(used: int, limit: int) -> str:
    """Return a fill bar with its figures."""
    return f"{bar(used, limit)} {used}/{limit} chars ({used * 100 // limit} %)"


def split_target(words: Sequence[str], target: Target | None, what: str) -> tuple[Target | None, str]:
    """Return the target and the text of `[TARGET] TEXT`; a flag may name the target too."""
    rest = list(words)
    if target is None and len(rest) > 1 and rest[0] in TARGETS:
        target = "user" if rest.pop(0) == "user" else "memory"
    text = " ".join(rest)
    if not text.strip():
        raise UsageProblem(f"{what} is missing or empty")
    return target, text


def holder_of(store: MemoryStore, text: str) -> Target:
    """Return the target in which a text stands; where both hold it a person must say which."""
    holders = [target for target in TARGETS if any(text in entry for entry in store.entries(target))]
    if len(holders) > 1:
        raise UsageProblem(f"Both memory and user hold {text!r}; name one of them with --target")
    return holders[0] if holders else "memory"


def has_curated(config: Config, options: Options, otherwise: bool) -> bool:
    """Say whether the curated layer is to be looked at; without it the error is its own, unless there is an archive."""
    return not otherwise or curated_dir(config, options) is not None
