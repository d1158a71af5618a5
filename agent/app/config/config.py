"""`Config`: the settings of this run, and where each of them came from.

flag > profile > environment > project file > user file > built in.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, NamedTuple

from agent.app.config.checking import Path, Value, Values, build, dotted, flatten, known_leaves
from agent.app.config.environment import from_environment
from agent.app.config.project import TOOLS, joined
from agent.app.config.settings import Settings
from agent.app.exits import ConfigProblem, UsageProblem, guess
from agent.app.options import Options
from agent.home import HOME_NAME

__all__ = ["Config", "load_config", "project_file", "user_file", "working_folder"]

MEMORY_DIR = ("memory", "curated", "dir")
_FLAGS: dict[str, Path] = {
    "model": ("provider", "model"),
    "base_url": ("provider", "base_url"),
    "max_retries": ("provider", "max_retries"),
    "agent": ("agent", "name"),
    "max_steps": ("agent", "max_steps"),
    "max_agents": ("agents", "max_agents"),
    "memory_dir": MEMORY_DIR,
    "color": ("ui", "color"),
}


class ConfigFile(NamedTuple):
    role: str
    # project | user | given (by --config)
    path: FilePath
    content: bytes | None
    # None: there is no such file


class Config(NamedTuple):
    settings: Settings
    cwd: FilePath
    values: Values
    # What was set by anyone, with its origin; the rest is built in
    files: tuple[ConfigFile, ...]
    warnings: tuple[str, ...]

    def origin(self, path: Path) -> str:
        """Say who set this key."""
        return self.values[path].origin if path in self.values else "built in"

    def folder(self, name: str) -> FilePath:
        """Return a folder that a key names, relative to the working folder."""
        return (self.cwd / FilePath(name).expanduser()).absolute()


def user_file(env: Mapping[str, str] = os.environ) -> FilePath:
    """Return where the user's file lies; `$XDG_CONFIG_HOME` goes first on every platform."""
    base = env.get("XDG_CONFIG_HOME")
    system: str = sys.platform
    if not base and system in ("win32", "darwin"):
        from platformdirs import user_config_path  # 5 ms, so only where the place is not that plain

        return user_config_path("my-agent", appauthor=False) / "config.toml"
    return (FilePath(base) if base else FilePath.home() / ".config") / "my-agent" / "config.toml"


def project_file(cwd: FilePath) -> FilePath:
    return cwd / HOME_NAME / "config.toml"


def load_config(options: Options, env: Mapping[str, str] = os.environ) -> Config:
    """Read all layers and check them. Raises `ConfigProblem` and `UsageProblem`, which name what is wrong."""
    cwd = working_folder(options)
    warnings: list[str] = []
    given = options.config or env.get("MY_AGENT_CONFIG")
    if given:
        files = [_read_file("given", cwd / FilePath(given).expanduser(), needed=True)]
        values = _file_values(files[0], warnings)
        layers = [values]
    else:
        project, user = _read_file("project", project_file(cwd)), _read_file("user", user_file(env))
        files = [project, user]
        own, theirs = _file_values(user, warnings), _file_values(project, warnings)
        layers = [own, theirs]
        values, ignored = joined(own, theirs, project.path, project.content)
        warnings += ignored
    values |= from_environment(env, warnings, layers)
    if profile := options.profile or env.get("MY_AGENT_PROFILE", ""):
        values |= _profile_values(profile, values)
    values |= _flag_values(options)
    settings: Settings = build(Settings, values)
    _check_together(settings, values, warnings)
    config = Config(settings, cwd, values, tuple(files), tuple(warnings))
    _check_memory_dir(config, options)
    return config


def working_folder(options: Options) -> FilePath:
    try:
        cwd = FilePath(options.cwd).expanduser().absolute() if options.cwd is not None else FilePath.cwd()
    except OSError as error:
        raise UsageProblem(f"The working folder is gone: {error.strerror}; choose one with --cwd") from error
    if not cwd.is_dir():
        reason = "is not a folder" if cwd.exists() else "does not exist"
        raise UsageProblem(f"--cwd {options.cwd!r} {reason}")
    return cwd


def _read_file(role: str, path: FilePath, *, needed: bool = False) -> ConfigFile:
    """Read a configuration file; one that is not there is empty, unless it is `needed`."""
    try:
        return ConfigFile(role, path, path.read_bytes())
    except (FileNotFoundError, NotADirectoryError) as error:
        if needed:
            raise ConfigProblem(f"There is no configuration file {str(path)!r}") from error
        return ConfigFile(role, path, None)
    except OSError as error:
        raise ConfigProblem(f"Configuration file {str(path)!r} cannot be read: {error.strerror}") from error


def _file_values(file: ConfigFile, warnings: list[str]) -> Values:
    """Return what a file sets, and warn of unknown keys, once a section. Raises `ConfigProblem`."""
    if file.content is None:
        return {}
    import tomllib  # only where there is a file

    try:
        table = tomllib.loads(file.content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = file.content.count(b"\n", 0, error.start) + 1
        raise ConfigProblem(f"{file.path}: line {line} is not UTF-8; save the file as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigProblem(f"{file.path} is not valid TOML: {error}") from error
    values, unknown = flatten(Settings, table, str(file.path))
    build(Settings, values)  # what is wrong in the file is wrong, also where something else sets the key
    sections: dict[str, list[str]] = {}
    for path in unknown:
        if path[0] == "security":  # what is not heard would protect nothing
            meant = dotted((*TOOLS, path[-1]))
            raise ConfigProblem(f"{file.path}: unknown key {_unknown_key(path)}; the verdict on a tool is {meant}")
        sections.setdefault(path[0] if len(path) > 1 else "", []).append(_unknown_key(path))
    warnings += [f"{file.path}: unknown key{'s' * (len(keys) > 1)} {', '.join(keys)}" for keys in sections.values()]
    return values


def _unknown_key(path: Path) -> str:
    if path[-1] in ("api_key", "key", "token"):
        return f"{dotted(path)} (keys do not belong into a file: name the variable in provider.api_key_env)"
    meant = guess(dotted(path), [dotted(known) for known, _ in known_leaves(Settings)])[2:].replace("'", "")
    return f"{dotted(path)} ({meant})" if meant else dotted(path)


def _profile_values(name: str, values: Values) -> Values:
    """Return `[profiles.NAME]` as values of `[provider]`. Raises `ConfigProblem` where there is none."""
    profiles = {path: value for path, value in values.items() if path[0] == "profiles"}
    found: Values = {
        ("provider", path[2]): Value(value.value, f"profile {name} in {value.origin}")
        for path, value in profiles.items()
        if path[1] == name
    }
    if not found:
        known = ", ".join(dict.fromkeys(path[1] for path in profiles))
        raise ConfigProblem(f"There is no profile {name!r}; the configuration has {known or 'none'}")
    return found


def _flag_values(options: Options) -> Values:
    found: Values = {}
    for field, path in _FLAGS.items():
        if (value := getattr(options, field)) is not None:
            found[path] = Value(value, f"flag --{field.replace('_', '-')}")
    # the strictest of contradicting flags is the last here, so it stands
    verdicts = {
        "--allow": ("allow", options.allow),
        "--ask": ("supervised", options.ask),
        "--deny": ("deny", options.deny),
    }
    for flag, (verdict, names) in verdicts.items():
        found |= {(*TOOLS, name): Value(verdict, f"flag {flag}") for name in names}
    return found


def _check_together(settings: Settings, values: Values, warnings: Sequence[str]) -> None:
    """Refuse values that are fine alone and wrong together, or wrong in a way that no type says."""
    for path, (value, origin) in values.items():
        if path[-1] == "base_url" and value and not value.startswith(("http://", "https://")):
            raise ConfigProblem(f"{dotted(path)} = {value!r} ({origin}) must begin with http:// or https://")
        if path[-1] == "api_key_env" and (not value.replace("_", "a").isalnum() or value.startswith("sk-")) and value:
            raise ConfigProblem(f"{dotted(path)} ({origin}) must be the name of a variable, not the key itself")
        if path[-1] == "extra_body" and value:
            _check_extra_body(path, value, origin)
    memory = settings.memory
    if memory.backend == "postgres" and not memory.postgres.url:
        ignored = "".join(f". {warning}" for warning in warnings if "memory.postgres.url" in warning)
        raise ConfigProblem(f"memory.postgres.url is missing: memory.backend = 'postgres' needs it{ignored}")
    if memory.backend and memory.provider:
        origin = values["memory", "provider"].origin
        both = f"memory.provider = {memory.provider!r} ({origin}) and memory.backend = {memory.backend!r}"
        raise ConfigProblem(f"{both} are two providers; choose one")
    if memory.keyword_weight + memory.vector_weight == 0:
        origin = values["memory", "keyword_weight"].origin
        raise ConfigProblem(f"memory.keyword_weight ({origin}) and memory.vector_weight are both 0; one must count")


def _check_extra_body(path: Path, value: Mapping[str, Any], origin: str) -> None:
    from agent.request_body import RequestBody  # only where there are such fields

    try:
        RequestBody("", extra_body=value).encode([], [], "auto")
    except (TypeError, ValueError) as error:
        raise ConfigProblem(f"{dotted(path)} ({origin}) cannot be sent: {error}") from error


def _check_memory_dir(config: Config, options: Options) -> None:
    """Refuse a file in the place of the folder: a session would go on without memory."""
    name = config.settings.memory.curated.dir
    folder = config.folder(name)
    if name and not options.no_memory and any(map(os.path.isfile, (folder, *folder.parents))):
        raise ConfigProblem(f"memory.curated.dir = {name!r} ({config.origin(MEMORY_DIR)}) is a file; name a folder")
