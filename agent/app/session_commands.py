"""`my-agent sessions list|show|fork|export|delete|path`: the saved talks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

from agent.app.exits import UsageProblem
from agent.app.memory_commands.curated import begin
from agent.app.options import Options
from agent.app.output import Output
from agent.app.parameters import Arg, AsJson, Opt
from agent.app.talk import copy_of, find_saved
from agent.home import find_sessions_dir

if TYPE_CHECKING:
    from agent.session_file import Talk

__all__ = ["delete", "export", "fork", "list_all", "path", "show"]

Id = Annotated[str, Arg("Id of the session, or the beginning of it.", metavar="ID")]


def list_all(
    options: Options,
    limit: Annotated[int, Opt("--limit", "-n", low=1, help="Sessions at most.")] = 20,
    json: AsJson = False,
) -> int:
    """List the sessions, the one written last first."""
    from agent.session_list import list_sessions

    config, output = begin(options)
    folder = find_sessions_dir(config.cwd)
    found = list_sessions(folder)
    if json:
        output.data(
            [
                {
                    "id": one.id,
                    "title": one.title,
                    "turns": one.turns,
                    "created": one.created,
                    "updated": one.updated.isoformat(timespec="seconds"),
                    "parent": one.parent or None,
                    "path": str(one.path),
                }
                for one in found[:limit]
            ]
        )
        return 0
    for one in found[:limit]:
        when = one.updated.astimezone().strftime("%Y-%m-%d %H:%M")
        turns = f"{one.turns} turn{'s' if one.turns != 1 else ' '}"
        title = output.styled((one.title or "(empty)") + (f" (from {one.parent})" if one.parent else ""), "plain")
        output.show(f"{output.styled(one.id, 'cyan')}  {when}  {turns:>9}  {title}")
    if len(found) > limit:
        output.progress(f"{len(found) - limit} older ones are not shown; --limit shows more")
    if not found:
        output.progress(f"There are no sessions in {folder}")
    return 0


def show(options: Options, session: Id, json: AsJson = False) -> int:
    """Show what was said in a session."""
    config, output = begin(options)
    file = find_saved(config, session)
    talk = _read(file, output)
    if json:
        output.data(_as_data(talk, file.stem))
        return 0
    for message in talk.messages:
        output.show("\n".join(_lines(message, output)) + "\n")
    return 0


def fork(options: Options, session: Id, json: AsJson = False) -> int:
    """Copy a session; the original stays as it is."""
    config, output = begin(options)
    copy = copy_of(find_saved(config, session), config)
    copy.close()
    if json:
        output.data({"id": copy.id, "parent": copy.parent, "path": str(copy.path)})
    else:
        output.answer(copy.id)
    return 0


def export(
    options: Options,
    session: Id,
    form: Annotated[Literal["markdown", "json"], Opt("--format", help="markdown or json.")] = "markdown",
    to: Annotated[str | None, Opt("--to", metavar="FILE", help="Write to this new file.")] = None,
) -> int:
    """Print a session as Markdown or JSON, without the keys that it may name."""
    from json import dumps

    from agent.redact import redact

    config, output = begin(options)
    file = find_saved(config, session)
    talk = _read(file, output)
    if form == "json":
        text = dumps(_as_data(talk, file.stem), ensure_ascii=False, indent=2) + "\n"
    else:
        text = "\n".join(_markdown(talk, file.stem))
    text = redact(text.encode("utf-8", "replace").decode("utf-8"))
    if to is None:
        output.show(text)
        return 0
    target = config.cwd / to
    try:
        with target.open("x", encoding="utf-8", newline="\n") as handle:
            handle.write(text)
    except FileExistsError as error:
        raise UsageProblem(f"{str(target)!r} exists already; nothing was written") from error
    output.progress(f"wrote {target}")
    return 0


def delete(
    options: Options,
    sessions: Annotated[list[str], Arg("Ids of the sessions.", metavar="ID...")],
) -> int:
    """Delete sessions. One that is in use is refused; all names are checked before anything is deleted."""
    from agent.session import Session

    config, output = begin(options)
    files = [find_saved(config, name) for name in sessions]
    for file in files:
        Session.delete(file)
        output.answer(f"deleted {file.stem}")
    return 0


def path(options: Options, session: Annotated[str | None, Arg("", metavar="ID")] = None) -> int:
    """Print the folder of the sessions, or the file of one."""
    config, output = begin(options)
    output.answer(str(find_sessions_dir(config.cwd) if session is None else find_saved(config, session)))
    return 0


def _read(file: Any, output: Output) -> Talk:
    from agent.failures import SessionUnavailable
    from agent.session_file import read_talk

    try:
        talk = read_talk(file)
    except OSError as error:
        raise SessionUnavailable(f"Session file {str(file)!r} cannot be read: {error.strerror}") from error
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
        yield output.styled(text, "plain")
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
