"""`change_file`: the one place where a tool changes a file, atomically, its mode and its links kept."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import threading
from collections.abc import Callable
from pathlib import Path

from tools.files.jail import Jail, Place
from tools.files.read import size_in_words
from tools.files.refusals import PathRefused

__all__ = ["MOST_BYTES", "Record", "change_file", "read_whole"]

MOST_BYTES = 20 << 20  # of the file before: it is held, so that the change can be taken back

Record = Callable[[Path, bytes | None, bytes], None]
# Hears of every change: the real path, the bytes before (None: there was no file) and after.

_one_at_a_time = threading.Lock()  # two edits of one file at once must not lose the first


def change_file(
    jail: Jail, place: Place, make: Callable[[bytes | None], bytes], record: Record | None, *, new_folders: bool = False
) -> None:
    """Put `make(bytes before)` in the place of a file and tell `record`.

    Equal bytes are not written and not told. Whoever reads sees the old bytes or the new ones; an error leaves the old.
    Raises OSError with the path as the model knows it, `PathRefused`, or what `make` or `record` raises.
    """
    if place.real == place.base:
        raise PathRefused(f"{place.shown!r} is a folder")
    with _one_at_a_time:
        try:
            with jail.folder(place, parent=True, make=new_folders) as folder:
                before, status = _read(jail, place, folder)
                after = make(before)
                if after == before:
                    return
                _put(folder, place.real.name, after, before, status)
        except OSError as error:
            raise OSError(error.errno, error.strerror, place.shown) from None
        if record is not None:
            record(place.real, before, after)


def read_whole(jail: Jail, place: Place) -> bytes | None:
    """Return the bytes of a file, None if there is none: what a change would start from."""
    try:
        with jail.folder(place, parent=True) as folder:
            return _read(jail, place, folder)[0]
    except FileNotFoundError:
        return None


def _read(jail: Jail, place: Place, folder: int) -> tuple[bytes | None, os.stat_result | None]:
    try:
        opened = jail.open_file(place, within=folder)
    except FileNotFoundError:
        return None, None
    with os.fdopen(opened, "rb") as file:
        status = os.fstat(opened)
        if status.st_size > MOST_BYTES:
            size = size_in_words(status.st_size)
            raise PathRefused(f"{place.shown!r} is too large to be changed by a file tool ({size}); use shell")
        return file.read(), status


def _put(folder: int, name: str, after: bytes, before: bytes | None, status: os.stat_result | None) -> None:
    if status is not None and not os.access(name, os.W_OK, dir_fd=folder):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    if before is not None and status is not None and status.st_nlink > 1:
        _overwrite(folder, name, after, before)  # a new file would part it from its other names
        return
    try:
        _replace(folder, name, after, status)
    except OSError as error:
        # A folder that takes no new file, or a file that is a mount of its own, as in containers.
        if before is None or error.errno not in (errno.EACCES, errno.EPERM, errno.EBUSY, errno.EXDEV):
            raise
        _overwrite(folder, name, after, before)


def _replace(folder: int, name: str, after: bytes, status: os.stat_result | None) -> None:
    temporary = f".{secrets.token_hex(8)}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    opened = os.open(temporary, flags, 0o666, dir_fd=folder)  # 0o666 less the umask, as for any new file
    try:
        with os.fdopen(opened, "wb") as file:
            file.write(after)
            file.flush()
            if status is not None:
                if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
                    _keep_owner(opened, status)
                os.fchmod(opened, stat.S_IMODE(status.st_mode))
            os.fsync(opened)
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        os.unlink(temporary, dir_fd=folder)
        raise
    os.fsync(folder)


def _keep_owner(opened: int, status: os.stat_result) -> None:
    try:
        os.fchown(opened, status.st_uid, status.st_gid)
    except PermissionError:
        return  # only root may give a file away; the new file is ours


def _overwrite(folder: int, name: str, after: bytes, before: bytes) -> None:
    opened = os.open(name, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    with os.fdopen(opened, "wb") as file:
        try:
            _fill(file.fileno(), after)
        except BaseException:
            _fill(file.fileno(), before)
            raise


def _fill(opened: int, content: bytes) -> None:
    os.lseek(opened, 0, os.SEEK_SET)
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(opened, rest) :]
    os.ftruncate(opened, len(content))
    os.fsync(opened)
