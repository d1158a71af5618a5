"""`change_file`: the one place where a tool changes a file, and `preview_change`: what it would do."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tools.files.jail import FileRefused, Place, open_file
from tools.files.text import text_form
from tools.words import size_in_words

__all__ = ["Make", "change_file", "preview_change"]

MOST_BYTES = 20 << 20  # of the file before: it is held in memory
MOST_LINES = 80
MOST_DIFFED = 400_000  # bytes of both sides; longer ones are counted, difflib is quadratic at its worst

Make = Callable[[bytes | None], tuple[bytes, str]]
# Takes the bytes of a file (None: there is none), returns those that come in their place, and words for the model.

_one_at_a_time = threading.Lock()  # two edits of one file at once must not lose the first


def change_file(place: Place, make: Make) -> str:
    """Put what `make` makes of a file in its place and return its words; missing folders are made.

    Equal bytes are not written. Whoever reads sees the old bytes or the new ones; an error leaves the old. Raises
    OSError with the path as the model knows it, `FileRefused`, or what `make` raises.
    """
    with _one_at_a_time:
        before = _read(place)
        after, words = make(before)
        if after == before:
            return words
        try:
            place.real.parent.mkdir(parents=True, exist_ok=True)
            _put(place.real, after, before)
        except OSError as error:
            raise OSError(error.errno, error.strerror, place.shown) from None
    return words


def preview_change(place: Place, make: Make) -> str:
    """Return a unified diff of what `change_file` would do, bounded, or words where it cannot be shown as one."""
    before = _read(place)
    after, _ = make(before)
    if before is None:
        return f"new file {place.shown}: {_count(after)}"
    old, new = _lines(before), _lines(after)
    if old is None or new is None or len(before) + len(after) > MOST_DIFFED:
        return f"{place.shown}: {_count(before)} replaced by {_count(after)}"
    import difflib  # 10 ms, and only a person who is asked needs it

    diff = list(difflib.unified_diff(old, new, place.shown, place.shown, n=2, lineterm=""))
    if len(diff) > MOST_LINES:
        diff[MOST_LINES:] = [f"... {len(diff) - MOST_LINES} more lines"]
    return "\n".join(diff) or f"{place.shown} stays as it is"


def _read(place: Place) -> bytes | None:
    try:
        file = open_file(place)
    except FileNotFoundError:
        return None
    with file:
        size = os.fstat(file.fileno()).st_size
        if size > MOST_BYTES:
            words = size_in_words(size)
            raise FileRefused(f"{place.shown!r} is too large to be changed by a file tool ({words}); use shell")
        return file.read()


def _lines(raw: bytes) -> list[str] | None:
    form = text_form(raw, cut=False)
    return None if form is None else form.decode(raw).replace("\r\n", "\n").split("\n")


def _count(raw: bytes) -> str:
    lines = raw.count(b"\n") + (raw[-1:] not in b"\n")
    return f"{lines} lines, {len(raw)} bytes"


def _put(path: Path, after: bytes, before: bytes | None) -> None:
    if before is None:
        _replace(path, after, None)
        return
    status = path.stat()
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    if status.st_nlink == 1:
        _replace(path, after, status)
        return
    try:
        _overwrite(path, after)  # a new file would part it from its other names
    except OSError:
        _overwrite(path, before)
        raise


def _replace(path: Path, content: bytes, status: os.stat_result | None) -> None:
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            if status is not None:
                with suppress(PermissionError):  # only root may give a file away; then the new file is ours
                    os.fchown(file.fileno(), status.st_uid, status.st_gid)
                os.fchmod(file.fileno(), stat.S_IMODE(status.st_mode))
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _overwrite(path: Path, content: bytes) -> None:
    with path.open("r+b") as file:
        file.write(content)
        file.truncate()
        os.fsync(file.fileno())
