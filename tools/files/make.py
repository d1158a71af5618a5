"""`make_file_tools`: the five file tools of one workspace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from tools.files.change import Record
from tools.files.edit import make_edit, preview_edit
from tools.files.jail import Jail
from tools.files.listing import make_list
from tools.files.read import make_read
from tools.files.search import make_search
from tools.files.write import make_write, preview_write
from tools.tool import Tool

__all__ = ["make_file_tools"]


def make_file_tools(
    root: Path | str,
    *,
    protected: Sequence[Path] = (),
    readable: Sequence[Path] = (),
    record: Record | None = None,
) -> list[Tool]:
    """Make `file_read`, `file_write`, `file_edit`, `file_list` and `file_search` for the files below `root`.

    protected: folders and files none of them may touch, by whatever path; readable: further folders for reading only;
    record: told the path, the bytes before (None: no file) and after of every change.
    """
    jail = Jail(root, protected=protected, readable=readable)
    return [make(jail, record) for make in (_read, _write, _edit, _list, _search)]


def _barred(make: Callable[[Jail, Record | None], Tool], jail: Jail, record: Record | None) -> Callable[..., Tool]:
    return lambda folders: make(jail.barred(folders), record)


def _read(jail: Jail, record: Record | None) -> Tool:
    return Tool(make_read(jail), parallel=True, bar=_barred(_read, jail, record))


def _write(jail: Jail, record: Record | None) -> Tool:
    return Tool(make_write(jail, record), preview=preview_write(jail), bar=_barred(_write, jail, record))


def _edit(jail: Jail, record: Record | None) -> Tool:
    return Tool(make_edit(jail, record), preview=preview_edit(jail), bar=_barred(_edit, jail, record))


def _list(jail: Jail, record: Record | None) -> Tool:
    return Tool(make_list(jail), parallel=True, bar=_barred(_list, jail, record))


def _search(jail: Jail, record: Record | None) -> Tool:
    return Tool(make_search(jail), parallel=True, bar=_barred(_search, jail, record))
