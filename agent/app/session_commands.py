"""`my-agent sessions list|show|fork|export|delete|path`: the saved talks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from agent.app.options import Options
from agent.app.output import Output, begin
from agent.app.plain import plain
from agent.app.talk import copy_of, find_saved
from agent.home import find_sessions_dir

if TYPE_CHECKING:
    from agent.session_file import Talk

__all__ = ["delete", "export", "fork", "list_all", "path", "show"]


def list_all(options: Options, limit: int) -> int:
    """List the sessions, the one written last first."""
    from agent.session_list import list_sessions

    config, output = begin(options)
    folder = find_sessions_dir(config.cwd)
    found = list_sessions(folder)
    lines: list[str] = []
    for one in found[:limit]:
        title = output.styled((one.title or "(empty)") + (f" (from {one.parent})" if one.parent else ""), "plain")
        when = one.updated.astimezone().strftime("%Y-%m-%d %H:%M")
        lines.append(f"{output.styled(one.id, 'cyan')}  {when}  {one.turns:>4} turns  {title}")
    rows = [
        asdict(one) | {"path": str(one.path), "updated": one.updated.isoformat(timespec="seconds")}
        for one in found[:limit]
    ]
    if len(found) > limit:
        output.progress(f"{len(found) - limit} older ones are not shown; --limit shows more")
    if not found:
        output.progress(f"There are no sessions in {folder}")
    return output.result(rows, "\n".join(lines))


def show(options: Options, session: str) -> int:
    """Show what was said in a session."""
    config, output = begin(options)
    file = find_saved(config, session)
    talk = _read(file, output)
    lines = [line for message in talk.messages for line in (*_lines(message, output), "")]
    return output.result(_as_data(talk, file.stem), "\n".join(lines))


def fork(options: Options, session: str) -> int:
    """Copy a session; the original stays as it is."""
    config, output = begin(options)
    copy = copy_of(find_saved(config, session), config)
    copy.close()
    for notice in copy.notices:
        output.notice(notice)
    return output.result({"id": copy.id, "parent": copy.parent, "path": str(copy.path)}, copy.id)


def export(options: Options, session: str, format: Literal["markdown", "json"], to: str | None) -> int:  # noqa: A002
    """Print a session as Markdown or JSON, without the keys that it may name."""
    from json import dumps

    from agent.app.memory_commands.entries import write_new
    from agent.redact import redact

    config, output = begin(options)
    file = find_saved(config, session)
    talk = _read(file, output)
    if format == "json":
        text = dumps(_as_data(talk, file.stem), ensure_ascii=False, indent=2) + "\n"
    else:
        text = "\n".join(_markdown(talk, file.stem))
    text = redact(text.encode("utf-8", "replace").decode("utf-8"))
    if to is None:
        output.show(text)
    else:
        write_new(config.cwd / to, text)
        output.progress(f"wrote {to}")
    return 0


def delete(options: Options, sessions: Sequence[str]) -> int:
    """Delete sessions. One that is in use is refused; all names are checked before anything is deleted."""
    from agent.session import Session

    config, output = begin(options)
    for file in [find_saved(config, name) for name in sessions]:
        Session.delete(file)
        output.answer(f"deleted {file.stem}")
    return 0


def path(options: Options, session: str | None) -> int:
    config, output = begin(options)
    output.answer(str(find_sessions_dir(config.cwd) if session is None else find_saved(config, session)))
    return 0


def _read(file: Path, output: Output) -> Talk:
    from agent.session_file import read_talk

    talk = read_talk(file)
    if talk.damaged:
        output.notice(f"{talk.damaged} damaged line(s) in {file.name} were skipped")
    return talk


def _as_data(talk: Talk, name: str) -> dict[str, Any]:
    head = {key: talk.head.get(key) for key in ("created", "cwd", "model", "parent")}
    return {"id": name, "title": talk.title, **head, "messages": talk.messages}


def _lines(message: dict[str, Any], output: Output) -> Iterator[str]:
    from agent.messages import text_of

    role, text = str(message.get("role")), text_of(message)
    if role == "tool":
        first, *others = text.split("\n")
        yield output.styled(f"  = {first}" + (f" [{len(others)} more lines]" if others else ""), "dim")
        return
    yield output.styled(f"{role}:", "bold")
    if text:
        yield plain(text)
    for call in message.get("tool_calls") or ():
        yield output.styled(f"  > {call['function']['name']} {call['function']['arguments']}", "cyan")


def _markdown(talk: Talk, name: str) -> Iterator[str]:
    from agent.messages import text_of

    yield f"# {talk.title or name}\n"
    facts = {"Session": name, "Begun": talk.head.get("created"), "Model": talk.head.get("model")}
    yield "\n".join(f"- {key}: {value}" for key, value in facts.items() if value) + "\n"
    for message in talk.messages:
        role, text = str(message.get("role")), text_of(message)
        if role == "tool":
            yield f"**Result** ({message.get('tool_call_id')})\n\n{_fenced(text)}\n"
            continue
        yield f"## {role.capitalize()}\n"
        if text:
            yield f"{text}\n"
        for call in message.get("tool_calls") or ():
            yield f"**{call['function']['name']}** ({call['id']})\n\n{_fenced(call['function']['arguments'])}\n"


def _fenced(text: str) -> str:
    """Return text in a fence that is longer than any inside."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"
