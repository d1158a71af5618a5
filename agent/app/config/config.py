"""`Config`: the settings of this run, and where each of them came from.

flag > environment > project file > user file > built in. A project file comes with somebody's code, so it may make
the tool policy stricter and never looser, and it names servers and keys only if the user trusts it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import NamedTuple

from agent.app.config.checking import Path, Value, build, dotted
from agent.app.config.layers import (
    ConfigFile,
    Values,
    environment,
    file_values,
    flag_values,
    guarded,
    names_kind,
    profile_values,
    read_file,
    unknown_key_warnings,
)
from agent.app.config.settings import Settings
from agent.app.config.verdicts import DEFAULT, TOOLS, meant_tool, stricter_of
from agent.app.exits import ConfigProblem, UsageProblem
from agent.app.options import Options
from agent.home import HOME_NAME

__all__ = ["Config", "load_config", "project_file", "user_file"]


class Config(NamedTuple):
    settings: Settings
    cwd: FilePath
    values: Mapping[Path, Value]
    # What was set by anyone, with its origin; the rest is built in
    files: tuple[ConfigFile, ...]
    warnings: tuple[str, ...] = ()
    profile: str = ""

    def origin(self, path: Path) -> str:
        """Say who set this key."""
        return self.values[path].origin if path in self.values else "built in"

    def is_set(self, *path: str) -> bool:
        return path in self.values


def user_file(env: Mapping[str, str] = os.environ) -> FilePath:
    """Return where the user's file lies; `$XDG_CONFIG_HOME` goes first on every platform."""
    if base := env.get("XDG_CONFIG_HOME"):
        return FilePath(base) / "my-agent" / "config.toml"
    system: str = sys.platform
    if system not in ("win32", "darwin"):
        return FilePath.home() / ".config" / "my-agent" / "config.toml"
    from platformdirs import user_config_path  # 5 ms, so only where the place is not that plain

    return user_config_path("my-agent", appauthor=False) / "config.toml"


def project_file(cwd: FilePath) -> FilePath:
    return cwd / HOME_NAME / "config.toml"


def load_config(options: Options, env: Mapping[str, str] = os.environ) -> Config:
    """Read all layers and check them. Raises `ConfigProblem` and `UsageProblem`, which name what is wrong."""
    cwd = _working_folder(options)
    files, own, project, warnings = _files(options, env, cwd)
    values = _joined(own, project, warnings)
    values |= environment(env)
    profile = options.profile or env.get("MY_AGENT_PROFILE", "")
    if profile:
        values |= profile_values(profile, values)
    values |= flag_values(options)
    values |= _policy_flags(options)
    settings = build(Settings, values)
    _check_together(settings, values)
    warnings += _misspelt_tools(settings, values)
    return Config(settings, cwd, values, files, tuple(warnings), profile)


def _working_folder(options: Options) -> FilePath:
    try:
        cwd = FilePath(options.cwd).expanduser().absolute() if options.cwd is not None else FilePath.cwd()
    except OSError as error:
        raise UsageProblem(f"The working folder is gone: {error.strerror}; choose one with --cwd") from error
    if not cwd.is_dir():
        reason = "is not a folder" if cwd.exists() else "does not exist"
        raise UsageProblem(f"--cwd {options.cwd!r} {reason}")
    return cwd


def _files(
    options: Options, env: Mapping[str, str], cwd: FilePath
) -> tuple[tuple[ConfigFile, ...], Values, Values, list[str]]:
    """Read the files; return what the user's own and what the project's sets, without what it may not."""
    warnings: list[str] = []
    given = options.config or env.get("MY_AGENT_CONFIG")
    if given:
        file = read_file("given", cwd / FilePath(given).expanduser(), needed=True)
        own, unknown = file_values(file)
        return (file,), own, {}, unknown_key_warnings(unknown, file.path)
    user = read_file("user", user_file(env))
    own, unknown = file_values(user)
    warnings += unknown_key_warnings(unknown, user.path)
    project = read_file("project", project_file(cwd))
    theirs, unknown = file_values(project)
    warnings += unknown_key_warnings(unknown, project.path)
    wanted = guarded(theirs)
    if (wanted or names_kind(theirs)) and not _trusted(project):
        project = ConfigFile("project", project.path, project.content, trusted=False)
    if wanted and not project.trusted:
        theirs = {path: value for path, value in theirs.items() if path not in wanted}
        warnings.append(
            f"{project.path} sets {', '.join(map(dotted, wanted))}, which is ignored: read the file, "
            "then `my-agent config trust` if it is yours"
        )
    return (project, user), own, theirs, warnings


def _trusted(file: ConfigFile) -> bool:
    from agent.app.config.trust import Trust  # only where a project wants more than it may

    return file.content is not None and Trust().holds(file.path, file.content)


def _joined(own: Values, project: Values, warnings: list[str]) -> Values:
    """Put the project's values over the user's, the policy of each tool by the stricter of the two."""

    def is_policy(path: Path) -> bool:
        return path == DEFAULT or path[:-1] == TOOLS

    policy, looser = stricter_of(
        {path: value for path, value in own.items() if is_policy(path)},
        {path: value for path, value in project.items() if is_policy(path)},
    )
    if looser:
        warnings.append(f"The project's policy may only be stricter than yours; ignored: {', '.join(looser)}")
    acl = ("memory", "acl_enabled")
    if acl in own and own[acl].value is True and acl in project and project[acl].value is False:
        warnings.append("The project may not switch memory.acl_enabled off; it stays on")
        policy[acl] = own[acl]
    return {**own, **project, **policy}


def _policy_flags(options: Options) -> Values:
    found: Values = {}
    for verdict, flag, names in (
        ("allow", "--allow", options.allow),
        ("supervised", "--ask", options.ask),
        ("deny", "--deny", options.deny),
    ):
        for name in names:
            found[(*TOOLS, name)] = Value(verdict, f"flag {flag}")
            # the strictest of contradicting flags is the last here, so it stands
    return found


def _misspelt_tools(settings: Settings, values: Values) -> list[str]:
    """A verdict on a misspelt name would protect nothing: say so, and refuse it where a flag gave it."""
    warnings: list[str] = []
    for name in settings.security.tool_policy.tools:
        if (meant := meant_tool(name)) is None:
            continue
        origin = values[(*TOOLS, name)].origin
        if origin.startswith("flag "):
            raise UsageProblem(f"{origin.removeprefix('flag ')}: there is no tool {name!r}; did you mean {meant!r}?")
        warnings.append(f"{dotted((*TOOLS, name))} ({origin}): there is no such tool; did you mean {meant!r}?")
    return warnings


def _check_together(settings: Settings, values: Values) -> None:
    """Refuse values that are fine alone and wrong together, or wrong in a way that no type says."""

    def wrong(path: Path, why: str, *, show: bool = True) -> ConfigProblem:
        said = f" = {values[path].value!r} ({values[path].origin})" if show and path in values else ""
        return ConfigProblem(f"{dotted(path)}{said} {why}")

    urls = [("provider", "base_url"), ("memory", "embeddings", "base_url")]
    for path in urls:
        if path in values and values[path].value and not str(values[path].value).startswith(("http://", "https://")):
            raise wrong(path, "must begin with http:// or https://")
    for path in (path for path in values if path[-1] == "api_key_env" and values[path].value):
        if not str(values[path].value).replace("_", "a").isalnum() or str(values[path].value).startswith("sk-"):
            raise wrong(path, f"({values[path].origin}) must be the name of a variable, not the key itself", show=False)
    memory = settings.memory
    if memory.backend == "postgres" and not memory.postgres.url:
        raise wrong(("memory", "postgres", "url"), "is missing: memory.backend = 'postgres' needs it")
    if memory.backend and memory.provider:
        raise wrong(("memory", "provider"), f"and memory.backend = {memory.backend!r} are two providers; choose one")
    if memory.keyword_weight + memory.vector_weight == 0:
        raise wrong(("memory", "keyword_weight"), "and memory.vector_weight are both 0; one must count")
