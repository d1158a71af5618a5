"""`my-agent memory log`: who changed what, and when."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from agent.app.memory_commands.curated import begin, open_curated
from agent.app.memory_commands.entries import InTarget
from agent.app.options import Options
from agent.app.output import Output
from agent.app.parameters import AsJson, Opt

if TYPE_CHECKING:
    from memory import Change

__all__ = ["log"]


def log(
    options: Options,
    target: InTarget = None,
    limit: Annotated[int, Opt("--limit", "-n", low=1, help="Changes at most, the last ones.")] = 50,
    json: AsJson = False,
) -> int:
    """Show the changes of the curated memory, the last one at the end."""
    from memory import Journal

    config, output = begin(options)
    store = open_curated(config, options, output)
    changes = [change for change in Journal(store.mem_dir).read() if target in (None, change.target)][-limit:]
    if json:
        output.data({"changes": [asdict(change) for change in changes]})
        return 0
    for change in changes:
        output.show("\n".join(_lines(change, output)))
    if not changes:
        output.progress("Nothing was changed yet")
    return 0


def _lines(change: Change, output: Output) -> list[str]:
    by = f"{change.author or 'somebody'}" + (f" ({change.agent})" if change.agent else "")
    where = f", session {change.session} turn {change.turn}" if change.session else ""
    head = f"{change.at}  {change.action} {change.target}  by {by}{where}  {change.id}"
    lines = [output.styled(head, "cyan")]
    lines += [output.styled(f"  - {line}", "red") for line in _split(change.before)]
    lines += [output.styled(f"  + {line}", "plain") for line in _split(change.after)]
    return lines


def _split(text: str | None) -> list[str]:
    return text.split("\n") if text else []
