"""`joined`: a project's file over the user's.

It comes with somebody's code: it may make the tool policy stricter and never looser, and it names servers, keys and
admins only if the user has read and trusted the file as it is.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path as FilePath

from agent.app.config.checking import Path, Value, Values, dotted
from agent.app.exits import ConfigProblem

__all__ = ["TOOLS", "is_trusted", "joined", "set_trust"]

DEFAULT: Path = ("security", "tool_policy", "default")
TOOLS: Path = ("security", "tool_policy", "tools")
GUARDED = {  # where data and keys go, and who sees more
    ("provider", "kind"),
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
_ORDER = ("allow", "supervised", "deny")


def joined(own: Values, project: Values, file: FilePath, content: bytes | None) -> tuple[Values, list[str]]:
    """Put the project's values over the user's as far as it may set them; return what it may not as warnings."""
    warnings: list[str] = []
    wanted = [
        path for path in project if path in GUARDED or (path[0] == "profiles" and ("provider", path[2]) in GUARDED)
    ]
    if wanted and not (content is not None and is_trusted(file, content)):
        project = {path: value for path, value in project.items() if path not in wanted}
        warnings.append(
            f"{file} sets {', '.join(map(dotted, wanted))}, which is ignored: read the file, "
            "then `my-agent config trust` if it is yours"
        )
    policy, looser = _stricter_policy(own, project)
    if looser:
        warnings.append(f"The project's policy may only be stricter than yours; ignored: {', '.join(looser)}")
    acl = ("memory", "acl_enabled")
    if acl in own and own[acl].value is True and acl in project and project[acl].value is False:
        warnings.append("The project may not switch memory.acl_enabled off; it stays on")
        policy[acl] = own[acl]
    return {**own, **project, **policy}, warnings


def _stricter_policy(own: Values, project: Values) -> tuple[Values, list[str]]:
    """Return the stricter verdict of both for each tool, and the project's wishes that were looser.

    A tool that one side does not name has that side's default there.
    """
    allow = Value("allow", "built in")
    ours, theirs = own.get(DEFAULT, allow), project.get(DEFAULT, allow)
    merged = {DEFAULT: max(ours, theirs, key=_rank)} if DEFAULT in own or DEFAULT in project else {}
    looser: list[str] = []
    for path in dict.fromkeys([*own, *project]):
        if path[:-1] != TOOLS:
            continue
        mine, wish = own.get(path, ours), project.get(path, theirs)
        merged[path] = max(mine, wish, key=_rank)
        if path in project and _rank(mine) > _rank(wish):
            looser.append(f"{path[-1]} = {wish.value!r} (here it stays {mine.value!r})")
    return merged, looser


def _rank(value: Value) -> int:
    # an unknown word wins, so that the check that follows names it
    return _ORDER.index(value.value) if value.value in _ORDER else len(_ORDER)


def is_trusted(file: FilePath, content: bytes) -> bool:
    """Say whether the user trusts this file as it is; a change ends the trust."""
    return _trusted().get(str(file)) == hashlib.sha256(content).hexdigest()


def set_trust(file: FilePath, content: bytes | None) -> None:
    """Trust a file with this content; None takes the trust back. Raises `ConfigProblem`."""
    known = {name: digest for name, digest in _trusted().items() if name != str(file)}
    if content is not None:
        known[str(file)] = hashlib.sha256(content).hexdigest()
    path = _trust_file()
    fresh = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh.write_text(json.dumps(known, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        fresh.replace(path)
    except OSError as error:
        raise ConfigProblem(f"{str(path)!r} cannot be written: {error.strerror}") from error


def _trusted() -> dict[str, str]:
    """Return the digest of each trusted file."""
    try:
        found = json.loads(_trust_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}  # a list that cannot be read trusts nobody
    return found if isinstance(found, dict) else {}


def _trust_file() -> FilePath:
    if base := os.environ.get("XDG_DATA_HOME"):
        return FilePath(base) / "my-agent" / "trusted.json"
    from platformdirs import user_data_path  # only where a project wants more than it may

    return user_data_path("my-agent", appauthor=False) / "trusted.json"
