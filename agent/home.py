"""Where things lie: the agent's folder in a project, memory, sessions, context files."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

__all__ = ["HOME_NAME", "MemoryDir", "find_context_files", "find_memory_dir", "find_sessions_dir", "home_folders"]

HOME_NAME = ".my_agent_core"
CONTEXT_FILE = "AGENTS.md"

MemoryDir = Path | str | Literal[False] | None


def find_memory_dir(setting: MemoryDir, cwd: Path | str) -> Path | None:
    """Return the curated memory's folder, or None where memory is off.

    None looks for `<cwd>/.my_agent_core/memory`, there and nowhere else; False switches memory off; a path is that
    folder, relative to `cwd`, made at the first write.
    """
    if setting is False:
        return None
    if setting is None:
        found = Path(cwd) / HOME_NAME / "memory"
        return found.absolute() if found.is_dir() else None
    return (Path(cwd) / Path(setting).expanduser()).absolute()


def home_folders(cwd: Path | str) -> list[Path]:
    """Return the folders of memory, archive and sessions that a project has, or may have later, in use or not."""
    return [Path(cwd).absolute() / HOME_NAME / name for name in ("memory", "archive", "sessions")]


def find_sessions_dir(cwd: Path | str) -> Path:
    """Return the folder of session files: the project's own where it has an agent home, else the user's data folder."""
    home = Path(cwd) / HOME_NAME
    if home.is_dir():
        return home.absolute() / "sessions"
    from platformdirs import user_data_path  # only where a user's folder is needed

    return user_data_path("my-agent", appauthor=False) / "sessions"


def find_context_files(cwd: Path | str) -> list[Path]:
    """Return the `AGENTS.md` files that hold for `cwd`, outermost first.

    From the workspace root (the nearest folder upwards that holds `.git`) down to `cwd`; without a root only `cwd`.
    """
    here = Path(cwd).absolute()
    chain = [here, *here.parents]
    root = next((place for place, folder in enumerate(chain) if (folder / ".git").exists()), 0)
    return [folder / CONTEXT_FILE for folder in reversed(chain[: root + 1]) if (folder / CONTEXT_FILE).is_file()]
