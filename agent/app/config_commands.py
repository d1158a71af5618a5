"""`my-agent config show|path|check|trust`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from agent.app.config import Config, project_file
from agent.app.config.checking import Path, dotted, known_leaves
from agent.app.config.config import working_folder
from agent.app.config.project import set_trust
from agent.app.config.settings import Settings
from agent.app.exits import UsageProblem
from agent.app.options import Options
from agent.app.output import begin, open_output
from agent.app.plain import plain
from agent.redact import redact
from memory import KEY_NAME

__all__ = ["check", "path", "show", "trust"]

HIDDEN = "[hidden]"


def show(options: Options, section: str | None) -> int:
    """Show every key, its value, and where that came from. Secrets are hidden."""
    config, output = begin(options)
    inside = f"{(section or '').rstrip('.')}."
    rows = [row for row in _rows(config) if section is None or f"{row[0]}.".startswith(inside)]
    if not rows:
        raise UsageProblem(f"No key begins with {section!r}; `my-agent config show` shows them all")
    width = max(len(key) for key, _, _ in rows)
    lines = [f"{key.ljust(width)} = {json.dumps(value, ensure_ascii=False)}  # {origin}" for key, value, origin in rows]
    return output.result(
        {key: {"value": value, "origin": origin} for key, value, origin in rows}, plain("\n".join(lines))
    )


def path(options: Options) -> int:
    config, output = begin(options)
    rows = [{"role": one.role, "path": str(one.path), "exists": one.content is not None} for one in config.files]
    lines = [f"{row['role']}: {row['path']}{'' if row['exists'] else '  (not there)'}" for row in rows]
    return output.result(rows, plain("\n".join(lines)))


def check(options: Options) -> int:
    """Build what a run would, and say what is wrong. An error ends with exit code 2, a warning does not."""
    from agent.app.model_choice import choose_model
    from agent.app.tool_commands import wired

    config, output = begin(options)
    choose_model(config, offline=options.offline)
    wired(config, options)
    files = [str(one.path) for one in config.files if one.content is not None]
    count = len(config.warnings)
    said = f"can be used, with {count} warning{'s' * (count > 1)}" if count else "is fine"
    text = f"The configuration {said} ({', '.join(files) or 'no file; all values are built in'})"
    return output.result({"ok": True, "files": files, "warnings": list(config.warnings)}, plain(text))


def trust(options: Options, remove: bool) -> int:
    """Let this project's file name servers and keys. Changing the file ends the trust."""
    # Not through `begin`: a file may be wrong for no other reason than that it is not trusted yet
    output = open_output("auto", quiet=options.quiet, verbose=options.verbose, json=options.json)
    file = project_file(working_folder(options))
    try:
        content = None if remove else file.read_bytes()
    except OSError as error:
        raise UsageProblem(f"There is nothing to trust: {str(file)!r}: {error.strerror}") from error
    set_trust(file, content)
    output.answer(f"{file} is not trusted" if remove else f"Trusted as it is now: {file}")
    return 0


def _rows(config: Config) -> Iterator[tuple[str, Any, str]]:
    """Yield key, value and origin: of every key with a fixed name, and of what is set under the free ones."""
    leaves = {found: leaf.default for found, leaf in known_leaves(Settings)}
    for found in [*leaves, *(other for other in config.values if other not in leaves)]:
        value = config.values[found].value if found in config.values else leaves[found]
        yield dotted(found), _hidden(found, value), config.origin(found)


def _hidden(where: Path, value: Any) -> Any:
    """Take out what must not be shown: passwords in addresses, values under names like `token`."""
    if isinstance(value, Mapping):
        return {key: HIDDEN if KEY_NAME.search(str(key)) else _hidden(where, inner) for key, inner in value.items()}
    if not isinstance(value, str):
        return value
    if "://" in value and "@" in value:
        scheme, _, rest = value.partition("://")
        return f"{scheme}://{HIDDEN}@{rest.rpartition('@')[2]}"
    return HIDDEN if where[-1] == "url" and "password=" in value else redact(value)
