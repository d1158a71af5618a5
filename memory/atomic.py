"""`locked` and `replace_text`: how a file changes so that nobody ever sees half of it, or loses a change to it."""
# Paths are text here: pathlib would take a third of the time of a small write.
# ruff: noqa: PTH105, PTH108, PTH110, PTH114, PTH116, PTH118, PTH208

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from memory.refusal import StoreBusy

__all__ = ["LOCK_TIMEOUT_S", "locked", "replace_bytes", "replace_text", "sweep"]

LOCK_TIMEOUT_S = 10.0
NEW_FILE_MODE = 0o600
BINARY = getattr(os, "O_BINARY", 0)
NO_DIRECTORY_SYNC = {errno.EINVAL, errno.EBADF, errno.ENOTSUP, errno.ENOSYS}  # file systems that cannot do it


@contextlib.contextmanager
def locked(path: Path | str, timeout_s: float = LOCK_TIMEOUT_S) -> Iterator[None]:
    """Hold the lock file `path` against every other process and every other thread.

    The file is made 0600 and stays behind; its folder must exist. Not re-entrant. `filelock.FileLock(path)` contends
    for the same lock. Raises `StoreBusy` after `timeout_s`, `OSError` when the file cannot be made.
    """
    name, pause_s = os.fspath(path), 0.001
    deadline = time.monotonic() + timeout_s
    while (descriptor := _try_to_lock(name)) is None:
        if time.monotonic() >= deadline:
            raise StoreBusy(
                f"another process has been writing for more than {timeout_s:g} s and holds the lock {name!r}: "
                "nothing was changed; try again later, or end that process"
            )
        time.sleep(pause_s)
        pause_s = min(pause_s * 1.5, 0.02)
    try:
        yield
    finally:
        os.close(descriptor)  # which lets go of the lock


def replace_text(path: Path | str, text: str) -> None:
    """Put `text` in the place of the file's content, as UTF-8; see `replace_bytes`."""
    replace_bytes(path, text.encode("utf-8"))


def replace_bytes(path: Path | str, content: bytes) -> None:
    """Put `content` in the place of the file's content, durably: after a crash the file is the old or the new one.

    A link is written through. The mode (and, where allowed, the owner) of an existing file stays; a new one is 0600.
    Call it under a lock. Raises `OSError` that names the file; the old bytes are there then, and no temporary file.
    """
    real = _real(path)
    folder, name = os.path.split(real)
    temporary = os.path.join(folder, f".{name}.{os.urandom(6).hex()}.tmp")
    try:
        _write_new(temporary, content, like=real)
        os.replace(temporary, real)
    except BaseException as error:
        with contextlib.suppress(OSError):  # often it was never made; else the next writer sweeps it
            os.unlink(temporary)
        if isinstance(error, OSError):
            raise _failure(error, f"cannot write {os.fspath(path)!r}, what was there stays") from error
        raise
    _sync_folder(folder or ".")


def sweep(path: Path | str) -> None:
    """Remove the temporary files that a killed writer of `path` left. Call it under that file's lock."""
    folder, name = os.path.split(_real(path))
    for found in os.listdir(folder or "."):
        if found.startswith(f".{name}.") and found.endswith(".tmp"):
            with contextlib.suppress(OSError):  # no reason to refuse the write that follows
                os.unlink(os.path.join(folder, found))


def _real(path: Path | str) -> str:
    """Return where a link leads; most files are none, and need no walk."""
    return os.path.realpath(path) if os.path.islink(path) else os.fspath(path)


def _try_to_lock(path: str) -> int | None:
    """Return the descriptor of the locked file; None while somebody else holds it."""
    from filelock import lock_descriptor  # 35 ms to import, so only when something is written

    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, NEW_FILE_MODE)
        try:
            if lock_descriptor(descriptor, blocking=False) and _is_still(path, descriptor):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
    except OSError as error:
        raise _failure(error, f"cannot lock {path!r} for writing") from error
    return None


def _is_still(path: str, descriptor: int) -> bool:
    """Is the locked file the one that others find there? Else it was deleted meanwhile, and the lock guards nothing."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _write_new(path: str, content: bytes, *, like: str) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | BINARY, NEW_FILE_MODE), "wb") as file:
        if os.name != "nt" and os.path.exists(like):  # no modes there
            old = os.stat(like)
            if (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
                with contextlib.suppress(PermissionError):  # only root may give files away
                    os.fchown(file.fileno(), old.st_uid, old.st_gid)
            os.fchmod(file.fileno(), stat.S_IMODE(old.st_mode))
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: str) -> None:
    if os.name == "nt":  # folders cannot be opened there, and renames are journalled
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno not in NO_DIRECTORY_SYNC:
            raise _failure(error, f"written, but a power cut may undo it: cannot sync {folder!r}") from error


def _failure(error: OSError, what: str) -> OSError:
    """Say which file it was: the error itself names a temporary one, or none."""
    return OSError(error.errno, f"{what}: {error.strerror or error}")
