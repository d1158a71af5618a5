"""`my-agent init`: an agent home in this folder. What is there already stays as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from agent.app.config import load_config
from agent.app.options import Options
from agent.app.output import open_output
from agent.app.parameters import Opt
from agent.home import HOME_NAME

__all__ = ["GITIGNORE", "example_config", "init"]

GITIGNORE = """\
# What a user of this checkout writes stays out of git.
*
!.gitignore
!config.toml
!memory/
memory/*
!memory/.gitkeep
"""


def init(options: Options, json: Annotated[bool, Opt("--json", help="Print JSON.")] = False) -> int:
    """Make .my_agent_core in this folder: configuration and memory."""
    config = load_config(options)
    output = open_output(config.settings.ui.color, quiet=options.quiet)
    home = config.cwd / HOME_NAME
    made: list[str] = []
    kept: list[str] = []
    files = {".gitignore": GITIGNORE, "config.toml": example_config(), "memory/.gitkeep": ""}
    for name, text in files.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700 if name.startswith("memory/") else 0o755)
        (made if _write_new(path, text) else kept).append(str(path.relative_to(config.cwd)))
    if json:
        output.data({"folder": str(home), "made": made, "kept": kept})
        return 0
    for name in made:
        output.answer(f"made  {name}")
    for name in kept:
        output.answer(f"kept  {name}")
    output.progress(
        "Memory is on in this folder. shell, file_write and file_edit ask first; config.toml says how to change it."
    )
    return 0


def example_config() -> str:
    """Return the commented configuration that `init` writes: every key, with what it means."""
    return (Path(__file__).parent / "config" / "example.toml").read_text(encoding="utf-8")


def _write_new(path: Path, text: str) -> bool:
    """Write a file that is not there; say whether it was written."""
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        return False
    return True
