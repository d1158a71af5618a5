"""`from_environment`: what variables set. `MY_AGENT_` and the key in capitals, `_` for each dot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent.app.config.checking import Path, Value, Values, from_text, known_leaves
from agent.app.config.project import TOOLS
from agent.app.config.settings import Settings
from agent.app.exits import ConfigProblem, guess

__all__ = ["from_environment"]

PREFIX = "MY_AGENT_"
VERDICT = f"{PREFIX}{'_'.join(TOOLS).upper()}_"
ELSEWHERE = ("MY_AGENT_CONFIG", "MY_AGENT_PROFILE", "MY_AGENT_NOW")
NAMES: dict[str, Path] = {  # beside MY_AGENT_<KEY>, which goes first
    "OPENAI_BASE_URL": ("provider", "base_url"),
    "OPENAI_MODEL": ("provider", "model"),
    "MY_AGENT_BASE_URL": ("provider", "base_url"),
    "MY_AGENT_MODEL": ("provider", "model"),
    "MY_AGENT_MEMORY_DIR": ("memory", "curated", "dir"),
}


def from_environment(env: Mapping[str, str], warnings: list[str], layers: Sequence[Values]) -> Values:
    """Return what is set, and warn once of names that no key has. Raises `ConfigProblem`.

    `layers`: the files, which may name variables that hold keys.
    """
    _check_clock(env)
    leaves = dict(known_leaves(Settings))
    names = dict(NAMES)
    if ours := [name for name in env if name.startswith(PREFIX) and env[name]]:
        names |= {PREFIX + "_".join(path).upper(): path for path in leaves}
        names |= {name: (*TOOLS, name.removeprefix(VERDICT).lower()) for name in ours if name.startswith(VERDICT)}
    found = {
        path: Value(from_text(leaves[path], env[name]) if path in leaves else env[name], f"environment {name}")
        for name, path in names.items()
        if env.get(name)
    }
    keys = {value.value for layer in (*layers, found) for path, value in layer.items() if path[-1] == "api_key_env"}
    if unknown := [name for name in ours if name not in {*names, *ELSEWHERE, *keys}]:
        warnings.append(_unknown(unknown, [*names, *ELSEWHERE]))
    return found


def _check_clock(env: Mapping[str, str]) -> None:
    if fixed := env.get("MY_AGENT_NOW"):
        from datetime import datetime  # only where the clock is set

        try:
            datetime.fromisoformat(fixed)
        except ValueError as error:
            raise ConfigProblem(f"MY_AGENT_NOW = {fixed!r} is no time; write 2026-03-01T09:00:00Z") from error


def _unknown(unknown: list[str], known: list[str]) -> str:
    """Return the warning. A name that meant to set the policy is refused: it would protect nothing."""
    for name in unknown:
        if name.startswith(f"{PREFIX}SECURITY_"):
            raise ConfigProblem(f"{name} is no key; the verdict on a tool is {VERDICT}<TOOL>")
    said = [f"{name} ({meant})" if (meant := guess(name, known, 0.9)[2:]) else name for name in unknown]
    return f"The environment sets what is no key: {', '.join(said)}"
