"""`choose_session`: the session that the flags name, or a new one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.app.config import Config
from agent.app.exits import UsageProblem
from agent.app.options import Options
from agent.home import find_sessions_dir

if TYPE_CHECKING:
    from agent.session import Session

__all__ = ["choose_session", "copy_of", "find_saved"]


def choose_session(config: Config, options: Options, model: str) -> Session | None:
    """Open or make a session; None with --no-session. Raises `UsageProblem` and `SessionUnavailable`."""
    wanted = options.resume is not None or options.go_on
    if options.resume is not None and options.go_on:
        raise UsageProblem("--resume and --continue exclude each other: one names a session, the other takes the last")
    if options.no_session and (wanted or options.fork):
        raise UsageProblem("--no-session saves nothing, so there is no session to go on with")
    if options.fork and not wanted:
        raise UsageProblem("--fork copies a session; name it with --resume ID, or take the last with --continue")
    if options.no_session:
        return None
    from agent.session import Session

    if not wanted:
        return Session.create(find_sessions_dir(config.cwd), cwd=config.cwd, model=model)
    path = find_saved(config, options.resume) if options.resume is not None else _last(config.cwd)
    return copy_of(path, config) if options.fork else Session.open(path)


def find_saved(config: Config, name: str) -> Path:
    """Return the file of a session by its id, or by the beginning of it. Raises `SessionUnavailable`."""
    from agent.session_list import find_session

    return find_session(find_sessions_dir(config.cwd), name)


def copy_of(path: Path, config: Config) -> Session:
    """Begin a new session, here, with what was said in `path`, which stays as it is and may be in use."""
    from agent.failures import SessionUnavailable
    from agent.session import Session
    from agent.session_file import open_talk

    talk = open_talk(path)
    if not talk.messages:
        raise SessionUnavailable(f"{str(path)!r} holds no talk that could be copied")
    folder = find_sessions_dir(config.cwd)
    copy = Session.create(folder, cwd=config.cwd, model=talk.head.get("model", ""), parent=path.stem)
    for message in talk.messages:
        copy.append(message)
    if talk.damaged:
        copy.notices.append(f"{talk.damaged} damaged line(s) in {path.name} were skipped; the rest was copied")
    return copy


def _last(cwd: Path) -> Path:
    """Return the session of this working folder that was written last."""
    folder = find_sessions_dir(cwd)
    own = folder.is_relative_to(cwd)
    found = [path for path in folder.glob("*.jsonl") if path.is_file()]
    for path in sorted(found, key=lambda one: (one.stat().st_mtime_ns, one.name), reverse=True):
        if (own or _head(path).get("cwd") == str(cwd)) and _has_messages(path):
            return path
    raise UsageProblem(f"There is no session to continue in {str(cwd)!r}; `my-agent sessions list` shows what is there")


def _head(path: Path) -> dict[str, Any]:
    """Return the first line of a session's file, empty where that is none."""
    try:
        with path.open("rb") as file:
            head = json.loads(file.readline(1_000_000))
    except (OSError, ValueError, RecursionError):
        return {}
    return head if isinstance(head, dict) else {}


def _has_messages(path: Path) -> bool:
    from agent.failures import SessionUnavailable
    from agent.session_file import read_talk

    try:
        return bool(read_talk(path).messages)
    except SessionUnavailable:
        return False
