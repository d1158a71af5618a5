"""`my-agent config show|path|check|trust`."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from agent.app.config import Config, load_config, project_file
from agent.app.config.checking import Path, dotted
from agent.app.config.settings import Section
from agent.app.exits import UsageProblem
from agent.app.options import Options
from agent.app.output import Output, open_output
from agent.app.parameters import Arg, AsJson, Opt
from agent.redact import KEY_NAME, redact

__all__ = ["check", "path", "show", "trust"]

HIDDEN = "[hidden]"


def show(
    options: Options,
    section: Annotated[str | None, Arg("Only keys that begin so, such as memory.")] = None,
    json: AsJson = False,
) -> int:
    """Show every key, its value, and where that came from. Secrets are hidden."""
    config, output = _begin(options)
    rows = [row for row in _rows(config) if section is None or f"{row[0]}.".startswith(f"{section.rstrip('.')}.")]
    if not rows:
        raise UsageProblem(f"No key begins with {section!r}; `my-agent config show` shows them all")
    if json:
        output.data({key: {"value": value, "origin": origin} for key, value, origin in rows})
        return 0
    width = max(len(key) for key, _, _ in rows)
    for key, value, origin in rows:
        style = "dim" if origin == "built in" else "plain"
        shown = jsonlib.dumps(value, ensure_ascii=False)
        left = output.styled(f"{key.ljust(width)} = {shown}", style)
        output.show(f"{left}  {output.styled(f'# {origin}', 'dim')}")
    return 0


def path(options: Options, json: AsJson = False) -> int:
    """Print the files that are read, the one that wins first."""
    config, output = _begin(options)
    rows = [
        {"role": file.role, "path": str(file.path), "exists": file.content is not None, "trusted": file.trusted}
        for file in config.files
    ]
    if json:
        output.data(rows)
        return 0
    for row in rows:
        state = "" if row["exists"] else "  (not there)"
        output.answer(f"{row['role']}: {row['path']}{state}")
    return 0


def check(options: Options, json: AsJson = False) -> int:
    """Read everything and say what is wrong. An error ends with exit code 2; warnings do not."""
    config, output = _begin(options, tell=False)
    files = [str(file.path) for file in config.files if file.content is not None]
    if json:
        output.data({"ok": True, "files": files, "warnings": list(config.warnings)})
        return 0
    for warning in config.warnings:
        output.notice(warning)
    output.answer(f"The configuration is fine ({', '.join(files) or 'no file; all values are built in'})")
    return 0


def trust(
    options: Options,
    remove: Annotated[bool, Opt("--remove", help="Take the trust back.")] = False,
) -> int:
    """Let this project's file name servers and keys. Changing the file ends the trust."""
    from agent.app.config.trust import Trust

    config, output = _begin(options, tell=False)
    file = project_file(config.cwd)
    if remove:
        known = Trust().remove(file)
        output.answer(f"{file} is no longer trusted" if known else f"{file} was not trusted")
        return 0
    try:
        content = file.read_bytes()
    except OSError as error:
        raise UsageProblem(f"There is nothing to trust: {str(file)!r}: {error.strerror}") from error
    Trust().add(file, content)
    output.answer(f"Trusted as it is now: {file}")
    return 0


def _begin(options: Options, *, tell: bool = True) -> tuple[Config, Output]:
    config = load_config(options)
    output = open_output(config.settings.ui.color, quiet=options.quiet, verbose=options.verbose)
    if tell:
        for warning in config.warnings:
            output.notice(warning)
    return config, output


def _rows(config: Config) -> Iterator[tuple[str, Any, str]]:
    for found, value in _leaves(config.settings, ()):
        yield dotted(found), _hidden(found, value), config.origin(found)


def _leaves(part: Section, prefix: Path) -> Iterator[tuple[Path, Any]]:
    for key in vars(type(part))["__annotations__"]:
        value, where = getattr(part, key), (*prefix, key)
        if isinstance(value, Section):
            yield from _leaves(value, where)
        elif where in (("profiles",), ("security", "tool_policy", "tools")):
            for name, inner in value.items():
                if isinstance(inner, Section):
                    yield from ((path, found) for path, found in _leaves(inner, (*where, name)) if found is not None)
                else:
                    yield (*where, name), inner
        else:
            yield where, value


def _hidden(where: Path, value: Any) -> Any:
    """Take out what must not be shown: passwords in addresses, values under names like `token`."""
    if isinstance(value, Mapping):
        return {key: HIDDEN if KEY_NAME.search(str(key)) else _hidden(where, inner) for key, inner in value.items()}
    if isinstance(value, str):
        if "://" in value and "@" in value:
            scheme, _, rest = value.partition("://")
            return f"{scheme}://{HIDDEN}@{rest.rpartition('@')[2]}"
        if where[-1] == "url" and "password=" in value:
            return HIDDEN
        return redact(value)
    return value
