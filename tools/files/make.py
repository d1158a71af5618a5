"""`make_file_tools`: the five file tools of one workspace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from tools.files.edit import make_edit
from tools.files.jail import Jail
from tools.files.listing import make_list
from tools.files.read import make_read
from tools.files.search import make_search
from tools.files.write import make_write
from tools.tool import Bar, Tool

__all__ = ["make_file_tools"]


def make_file_tools(root: Path | str, *, protected: Sequence[Path] = (), readable: Sequence[Path] = ()) -> list[Tool]:
    """Make `file_read`, `file_write`, `file_edit`, `file_list` and `file_search` for the files below `root`.

    protected: folders and files none of them may touch, by whatever path; readable: further folders for reading only.
    """
    jail = Jail(root, protected=protected, readable=readable)
    return [_made(make, jail) for make in (make_read, make_write, make_edit, make_list, make_search)]


def _made(make: Callable[[Jail, Bar], Tool], jail: Jail) -> Tool:
    return make(jail, lambda folders: _made(make, jail.barred(folders)))
