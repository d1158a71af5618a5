"""`my-agent init`: an agent home in this folder. What is there already stays as it is."""

from __future__ import annotations

from pathlib import Path

from agent.app.options import Options
from agent.app.output import begin
from agent.app.plain import plain
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


def init(options: Options) -> int:
    """Make .my_agent_core in this folder: configuration and memory."""
    config, output = begin(options)
    home = config.cwd / HOME_NAME
    found: dict[str, list[str]] = {"made": [], "kept": []}
    for name, text in {".gitignore": GITIGNORE, "config.toml": example_config(), "memory/.gitkeep": ""}.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700 if name.startswith("memory/") else 0o755)
        try:
            with path.open("x", encoding="utf-8", newline="\n") as file:
                file.write(text)
            found["made"].append(f"{HOME_NAME}/{name}")
        except FileExistsError:
            found["kept"].append(f"{HOME_NAME}/{name}")
    lines = [f"{done}  {name}" for done, names in found.items() for name in names]
    output.result({"folder": str(home), **found}, plain("\n".join(lines)))
    output.progress(
        "Memory is on in this folder. shell, file_write and file_edit ask first; config.toml says how to change it."
    )
    return 0


def example_config() -> str:
    """Return the commented configuration that `init` writes: every key, with what it means."""
    return (Path(__file__).parent / "config" / "example.toml").read_text(encoding="utf-8")
