"""The layers of the configuration: two files, the environment, a profile, the flags. Each is values by path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import NamedTuple

from agent.app.config.checking import Path, Value, dotted, flatten, from_text, known_leaves
from agent.app.config.settings import Settings
from agent.app.exits import ConfigProblem
from agent.app.options import Options

__all__ = [
    "ConfigFile",
    "Values",
    "environment",
    "file_values",
    "flag_values",
    "guarded",
    "names_kind",
    "profile_values",
    "read_file",
    "unknown_key_warnings",
]

Values = dict[Path, Value]

_ENVIRONMENT = {  # beside MY_AGENT_<KEY>, which goes first
    "OPENAI_BASE_URL": ("provider", "base_url"),
    "OPENAI_MODEL": ("provider", "model"),
    "MY_AGENT_BASE_URL": ("provider", "base_url"),
    "MY_AGENT_MODEL": ("provider", "model"),
    "MY_AGENT_MEMORY_DIR": ("memory", "curated", "dir"),
}
_FLAGS: dict[str, tuple[str, Path]] = {
    "model": ("--model", ("provider", "model")),
    "base_url": ("--base-url", ("provider", "base_url")),
    "max_retries": ("--max-retries", ("provider", "max_retries")),
    "agent": ("--agent", ("agent", "name")),
    "max_steps": ("--max-steps", ("agent", "max_steps")),
    "max_agents": ("--max-agents", ("agents", "max_agents")),
    "memory_dir": ("--memory-dir", ("memory", "curated", "dir")),
    "color": ("--color", ("ui", "color")),
}
_GUARDED = {  # what a project's file may set only if the user trusts it: where data and keys go, and who sees more
    ("provider", "base_url"),
    ("provider", "api_key_env"),
    ("memory", "embeddings", "base_url"),
    ("memory", "embeddings", "api_key_env"),
    ("memory", "postgres", "url"),
    ("memory", "admins"),
    ("memory", "options"),
    ("tools", "shell", "env_allow"),
    ("tools", "files", "readable"),
}


class ConfigFile(NamedTuple):
    role: str
    # project | user | given (by --config)
    path: FilePath
    content: bytes | None = None
    # None: there is no such file
    trusted: bool = True


def read_file(role: str, path: FilePath, *, needed: bool = False) -> ConfigFile:
    """Read a configuration file; one that is not there is empty, unless it is `needed`."""
    try:
        return ConfigFile(role, path, path.read_bytes())
    except (FileNotFoundError, NotADirectoryError) as error:
        if needed:
            raise ConfigProblem(f"There is no configuration file {str(path)!r}") from error
        return ConfigFile(role, path)
    except OSError as error:
        raise ConfigProblem(f"Configuration file {str(path)!r} cannot be read: {error.strerror}") from error


def file_values(file: ConfigFile) -> tuple[Values, list[Path]]:
    """Return what a file sets, and the keys in it that no setting has. Raises `ConfigProblem`."""
    if file.content is None:
        return {}, []
    import tomllib  # only where there is a file

    try:
        table = tomllib.loads(file.content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = file.content.count(b"\n", 0, error.start) + 1
        raise ConfigProblem(f"{file.path}: line {line} is not UTF-8; save the file as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigProblem(f"{file.path} is not valid TOML: {error}") from error
    return flatten(Settings, table, str(file.path))


def environment(env: Mapping[str, str]) -> Values:
    """Return what the environment sets: `MY_AGENT_` and the key in capitals, `_` for each dot."""
    found: Values = {}
    leaves = dict(known_leaves(Settings))
    for name, path in _ENVIRONMENT.items():
        if text := env.get(name):
            found[path] = Value(from_text(leaves[path], text), f"environment {name}")
    if any(name.startswith("MY_AGENT_") for name in env):
        for path, leaf in leaves.items():
            name = "MY_AGENT_" + "_".join(path).upper()
            if (text := env.get(name)) and not isinstance(leaf.default, dict):
                found[path] = Value(from_text(leaf, text), f"environment {name}")
    return found


def flag_values(options: Options) -> Values:
    found: Values = {}
    for field, (flag, path) in _FLAGS.items():
        value = getattr(options, field)
        if value is not None:
            found[path] = Value(value, f"flag {flag}")
    return found


def profile_values(name: str, values: Values) -> Values:
    """Return `[profiles.NAME]` as values of `[provider]`. Raises `ConfigProblem` where there is none."""
    found: Values = {
        ("provider", path[2]): Value(value.value, f"profile {name} in {value.origin}")
        for path, value in values.items()
        if path[0] == "profiles" and path[1] == name
    }
    if not found:
        known = ", ".join(dict.fromkeys(path[1] for path in values if path[0] == "profiles"))
        raise ConfigProblem(f"There is no profile {name!r}; the configuration has {known or 'none'}")
    return found


def guarded(values: Values) -> list[Path]:
    """Return the keys that only a trusted project may set."""
    servers = ("base_url", "api_key_env")
    return [path for path in values if path in _GUARDED or (path[0] == "profiles" and path[2] in servers)]


def names_kind(values: Values) -> bool:
    """Say whether a kind of provider is named: a harmless dialect, but each kind has an address of its own."""
    return any(path[-1] == "kind" and path[0] in ("provider", "profiles") for path in values)


def unknown_key_warnings(unknown: Sequence[Path], file: FilePath) -> list[str]:
    """Return one warning a section, and how the known keys of it are spelled where one looks meant."""
    sections: dict[Path, list[Path]] = {}
    for path in unknown:
        sections.setdefault(path[:1] if len(path) > 1 else (), []).append(path)
    names = [dotted(path) for path, _ in known_leaves(Settings)]
    return [
        f"{file}: unknown key{'s' if len(paths) > 1 else ''} {', '.join(_with_guess(path, names) for path in paths)}"
        for paths in sections.values()
    ]


def _with_guess(path: Path, names: Sequence[str]) -> str:
    from difflib import get_close_matches

    if path[-1] in ("api_key", "key", "token"):
        return f"{dotted(path)} (keys do not belong into a file: name the variable in provider.api_key_env)"
    close = get_close_matches(dotted(path), names, n=1, cutoff=0.8)
    return f"{dotted(path)} (did you mean {close[0]}?)" if close else dotted(path)
