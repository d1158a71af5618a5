"""`Curated`: the curated memory as the command line opens it, and `my-agent memory show|add|remove|log|path`."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from agent.app.bar import bar
from agent.app.build import curated_dir
from agent.app.config import Config
from agent.app.exits import UsageProblem
from agent.app.options import Options
from agent.app.output import Output, begin
from agent.app.plain import plain

if TYPE_CHECKING:
    from memory import Change, MemoryStore, Target

__all__ = ["TARGETS", "Curated", "add", "fill", "load_curated", "log", "path", "remove", "show", "split_target"]

TARGETS: tuple[Target, Target] = ("memory", "user")
HEADINGS = {"memory": "MEMORY.md (agent notes)", "user": "USER.md (user profile)"}


class Curated:
    """The layer of MEMORY.md and USER.md. Raises `UsageProblem` where memory is off."""

    def __init__(self, config: Config, options: Options, output: Output) -> None:
        folder = curated_dir(config, options)
        if folder is None:
            if options.no_memory:
                raise UsageProblem("Memory is off: --no-memory is given")
            raise UsageProblem(
                f"Memory is off: there is no .my_agent_core/memory in {str(config.cwd)!r}. `my-agent init` makes it "
                "here, --memory-dir DIR names another folder"
            )
        self.store = load_curated(config, folder)
        for notice in self.store.notices:
            output.notice(notice)

    def rows(self) -> list[dict[str, Any]]:
        """Return all entries as they are exported. Raises `StoreDamaged` where a file cannot be read."""
        return [{"target": one, "content": text} for one in TARGETS for text in self.store.reread(one)]

    def search(self, query: str, limit: int, category: str | None) -> list[dict[str, Any]]:
        wanted = _folded(query).split()
        rows = [] if category else self.rows()
        return [row for row in rows if all(word in _folded(row["content"]) for word in wanted)][:limit]

    def overview(self, target: Target) -> dict[str, Any]:
        """Return one target as `--json` shows it; with an `error` where its file cannot be read."""
        from memory import StoreDamaged

        store = self.store
        found = {
            "entries": store.entries(target),
            "used": store.used(target),
            "limit": store.limits[target],
            "file": str(store.mem_dir / store.files[target]),
        }
        try:
            store.reread(target)
        except StoreDamaged as error:
            found["error"] = str(error)
        return found

    def stats(self) -> dict[str, Any]:
        changes = self.store.journal.read()
        found: dict[str, Any] = {}
        for target in TARGETS:
            moments = [change.at for change in changes if change.target == target]
            part = self.overview(target)
            counts = {"entries": len(part["entries"]), "used": part["used"], "limit": part["limit"]}
            found[target] = {**counts, "changes": len(moments), "changed": moments[-1] if moments else None}
        return found

    def plan(self, rows: Sequence[dict[str, Any]]) -> Callable[[], dict[str, Any]]:
        """Add entries to a copy of the files, which raises as `add` does; return what then adds them here."""
        from memory import MemoryRefusal, MemoryStore, join_entries

        store = self.store
        base = {one: store.reread(one) for one in TARGETS if any(row["target"] == one for row in rows)}
        with TemporaryDirectory(prefix="my-agent-import-") as folder:
            trial = MemoryStore(folder, *store.limits.values())
            for target, entries in base.items():
                Path(folder, store.files[target]).write_text(join_entries(entries), encoding="utf-8", newline="\n")
            for row in rows:
                try:
                    trial.add(row["target"], row["content"])
                except MemoryRefusal as error:
                    raise type(error)(f"Line {row['line']}; nothing was imported: {error}") from error

        def write() -> dict[str, Any]:
            found: dict[str, Any] = {}
            for target, entries in base.items():
                if trial.entries(target) != entries:
                    store.rewrite(target, trial.entries(target), base=entries, action="import")
                added = len(trial.entries(target)) - len(entries)
                asked = {row["content"].strip() for row in rows if row["target"] == target}
                found[target] = {"added": added, "there already": len(asked) - added}
            return found

        return write

    def find(self, target: Target | None, text: str) -> dict[str, Any]:
        """Return the one entry that a text means. Raises as `remove` does."""
        target = target or self.holder_of(text)
        return {"target": target, "content": self.store.find(target, text)}

    def holder_of(self, text: str) -> Target:
        """Return the target in which a text stands; where both hold it a person must say which."""
        holders = [target for target in TARGETS if any(text in entry for entry in self.store.entries(target))]
        if len(holders) > 1:
            raise UsageProblem(f"Both memory and user hold {text!r}; name one of them with --target")
        return holders[0] if holders else "memory"


def show(options: Options, target: Target | None) -> int:
    """Show the memory as the model gets it at the start of a session."""
    config, output = begin(options)
    curated = Curated(config, options, output)
    curated.rows()  # says what cannot be read
    store = curated.store
    text = store.format_all_for_system_prompt() if target is None else store.format_for_system_prompt(target)
    return output.result({"text": text}, plain(text) or "(memory is empty: nothing is in the prompt)")


def add(options: Options, text: Sequence[str], target: Target | None) -> int:
    config, output = begin(options)
    target, entry = split_target(text, target)
    if entry == "-":
        from agent.app.stdin import read_text

        entry = read_text()
    curated = Curated(config, options, output)
    return _told(curated, output, target or "memory", curated.store.add(target or "memory", entry))


def remove(options: Options, text: Sequence[str], target: Target | None) -> int:
    from memory import EntryNotFound

    config, output = begin(options)
    target, old = split_target(text, target)
    curated = Curated(config, options, output)
    target = target or curated.holder_of(old)
    try:
        return _told(curated, output, target, curated.store.remove(target, old))
    except EntryNotFound as error:
        if not config.settings.memory.backend:
            raise
        raise EntryNotFound(f"`my-agent memory forget KEY` removes entries of the archive. {error}") from error


def path(options: Options, target: Target | None) -> int:
    config, output = begin(options)
    store = Curated(config, options, output).store
    found = store.mem_dir if target is None else store.mem_dir / store.files[target]
    return output.result({"path": str(found), "exists": found.exists()}, plain(str(found)))


def log(options: Options, target: Target | None, limit: int) -> int:
    """Show the changes, the last one at the end."""
    config, output = begin(options)
    changes = Curated(config, options, output).store.journal.read()
    changes = [change for change in changes if target in (None, change.target)][-limit:]
    if not changes:
        output.progress("Nothing was changed yet")
    shown = "\n".join(_change_lines(change, output) for change in changes)
    return output.result({"changes": [asdict(change) for change in changes]}, shown)


def load_curated(config: Config, folder: Path) -> MemoryStore:
    """Open and load a folder; the journal names the person as the author of what follows."""
    from memory import MemoryStore, Origin

    limits, author = config.settings.memory.curated, Origin(author="user", agent=config.settings.agent.name)
    more: dict[str, Any] = {}
    if os.environ.get("MY_AGENT_NOW"):
        from agent.session_file import now  # brings the messages and the tools with it

        more["clock"] = now
    store = MemoryStore(folder, limits.memory_char_limit, limits.user_char_limit, origin=lambda: author, **more)
    store.load_from_disk()
    store.notices = [notice.removesuffix(" This session goes on without it.") for notice in store.notices]
    return store


def split_target(words: Sequence[str], target: Target | None) -> tuple[Target | None, str]:
    """Return the target and the text. Without a flag a target may stand before one text; of more words all are text."""
    rest = list(words)
    if target is None and len(rest) < 3 and rest[0] in TARGETS:
        target = "user" if rest.pop(0) == "user" else "memory"
    text = " ".join(rest)
    if not text.strip():
        raise UsageProblem("The text of the entry is missing or empty; one that is a target's name needs --target")
    return target, text


def target_lines(target: Target, part: dict[str, Any], output: Output) -> str:
    """Return what `overview` found as lines: how full it is, and its numbered entries."""
    lines = [f"{output.styled(HEADINGS[target], 'bold')}  {fill(part['used'], part['limit'])}"]
    for number, entry in enumerate(part["entries"], 1):
        text = output.styled(entry, "plain").replace("\n", "\n      ")
        lines.append(f"{number:>4}. {text}")
    if not part["entries"]:
        lines.append("      (cannot be read)" if "error" in part else "      (empty)")
    return "\n".join(lines)


def fill(used: int, limit: int) -> str:
    """Return a fill bar with its figures."""
    return f"{bar(used, limit)} {used}/{limit} chars ({used * 100 // limit} %)"


def _told(curated: Curated, output: Output, target: Target, answer: str) -> int:
    return output.result({"message": answer, target: curated.overview(target)}, plain(answer))


def _change_lines(change: Change, output: Output) -> str:
    by = f"{change.author or 'somebody'}" + (f" ({change.agent})" if change.agent else "")
    where = f", session {change.session} turn {change.turn}" if change.session else ""
    lines = [output.styled(f"{change.at}  {change.action} {change.target}  by {by}{where}  {change.id}", "cyan")]
    lines += [output.styled(f"  - {line}", "red") for line in (change.before or "").split("\n") if change.before]
    lines += [output.styled(f"  + {line}", "plain") for line in (change.after or "").split("\n") if change.after]
    return "\n".join(lines)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
