"""`VectorFiles`: vectors of a SQLite archive in files that are mapped into memory and searched whole.

They repeat what the database has, one pair of files for each owner and model, so they may be deleted at any time: what
is torn, damaged, foreign or from another database is made again. `NAME.ids` has 64 bytes of header, then (seq, entry,
checksum) as three 8-byte integers a row; `NAME.vec` has the rows of float32. A row counts once its ids are there: they
are written last.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import struct
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from stat import S_ISREG
from typing import Any

import numpy as np  # this file is only loaded where vectors are searched
from numpy.typing import NDArray

from memory.atomic import locked
from memory.refusal import StoreBusy

__all__ = ["VectorFile", "VectorFiles"]

MAGIC = b"my-agent vectors 2\n"
HEADER_BYTES, ID_BYTES = 64, 24
SCAN_ROWS = 65_536
COPY_ROWS = 4_096
SALT = 0x5EED  # so that a row of zeros is none
NUMPY_2 = np.lib.NumpyVersion(np.__version__) >= "2.0.0"
Rows = Callable[[str, Sequence[Any]], list[Any]]


class VectorFiles:
    """The files of one database, each opened when it is first searched."""

    def __init__(self, folder: Path, name: str, store: str) -> None:
        self._folder, self._name, self.store = folder, name, store
        self._open: dict[tuple[str, str], VectorFile] = {}
        self._lock = threading.Lock()

    def nearest(
        self, rows: Rows, model: str, owners: Sequence[str], vector: NDArray[np.float32], limit: int
    ) -> list[int]:
        """Return the entries with the nearest vectors, nearest first; `rows` reads the database."""
        best: dict[int, float] = {}
        with self._lock:
            for owner in owners:
                if (owner, model) not in self._open:
                    self._open[owner, model] = self._file(owner, model, len(vector))
                file = self._open[owner, model]
                file.follow(rows, owner, model)
                best.update(file.nearest(vector, limit))
        return sorted(best, key=lambda entry: (-best[entry], entry))[:limit]

    def _file(self, owner: str, model: str, dimensions: int) -> VectorFile:
        digest = hashlib.sha256("\0".join([self.store, owner, model, str(dimensions)]).encode()).digest()
        return VectorFile(self._folder / f"{self._name}-{digest[:8].hex()}", digest, dimensions)

    def troubles(self, model: str, owners: Sequence[str]) -> list[str]:
        return sorted({self._open[owner, model].trouble for owner in owners} - {""})

    def close(self) -> None:
        with self._lock:
            self._open.clear()


class VectorFile:
    """The vectors of one owner and model. Where no file can be written they are kept in memory."""

    def __init__(self, path: Path, digest: bytes, dimensions: int) -> None:
        self._ids_path, self._vec_path = path.with_name(f"{path.name}.ids"), path.with_name(f"{path.name}.vec")
        self._header = (MAGIC + digest + struct.pack("<I", dimensions)).ljust(HEADER_BYTES, b"\0")
        self._dimensions = dimensions
        self._checked = self._in_memory = self._damaged = False
        self._signature: tuple[int, ...] = ()
        self._passed_over = 0
        # a seq up to which there was nothing of our size
        self.trouble = ""
        # why its vectors cannot be kept, in a sentence, where a person can help
        self.ids: NDArray[np.int64] = np.empty((0, 3), np.int64)
        self.vectors: NDArray[np.float32] = np.empty((0, dimensions), np.float32)

    def follow(self, rows: Rows, owner: str, model: str) -> None:
        """Take up what the database has got since the last time."""
        if not self._checked:
            self._load()
            (live,) = rows("SELECT count(*) FROM vectors WHERE model = ? AND owner = ?", [model, owner])[0]
            newest = rows("SELECT seq FROM sqlite_sequence WHERE name = 'vectors'", [])
            if len(self.ids) > 2 * live + COPY_ROWS or (len(self.ids) and self.last > (newest or [(0,)])[0][0]):
                self._start_again()
            self._checked = True
        elif len(self.ids) and not self._in_memory and self._has_changed():
            self._load()
        statement = (
            "SELECT seq, entry, vector FROM vectors WHERE model = ? AND owner = ? AND seq > ? ORDER BY seq LIMIT ?"
        )
        while found := rows(statement, [model, owner, max(self.last, self._passed_over), COPY_ROWS]):
            whole = [row for row in found if len(row[2]) == 4 * self._dimensions]
            if whole:
                fresh = np.frombuffer(b"".join(row[2] for row in whole), np.float32).reshape(len(whole), -1)
                ids = np.array([row[:2] for row in whole], np.int64)
                self._append(np.column_stack([ids, checksums(ids, fresh)]), fresh)
            else:
                self._passed_over = found[-1][0]

    @property
    def last(self) -> int:
        return int(self.ids[-1, 0]) if len(self.ids) else 0

    def nearest(self, vector: NDArray[np.float32], limit: int) -> dict[int, float]:
        """Return up to `limit` entries with the cosine of their best row, which is above 0."""
        if not len(self.ids):
            return {}
        scores = np.empty(len(self.ids), np.float32)
        for start in range(0, len(scores), SCAN_ROWS):
            products(self.vectors[start : start + SCAN_ROWS], vector, scores[start : start + SCAN_ROWS])
        found: dict[int, float] = {}
        wanted = limit
        while True:  # an entry may have many rows: look at more of them until there are enough entries
            top = np.argpartition(scores, -wanted)[-wanted:] if wanted < len(scores) else np.arange(len(scores))
            top = top[scores[top] > 0]
            order = top[np.lexsort((self.ids[top, 1], -scores[top]))]
            found = {}
            for row, entry in zip(order.tolist(), self.ids[order, 1].tolist(), strict=True):
                found.setdefault(entry, float(scores[row]))
            if len(found) >= limit or len(top) < wanted or wanted >= len(scores):
                return found
            wanted = min(wanted * 4, len(scores))

    def _load(self) -> None:
        """Take over what the files hold, or nothing."""
        known, self._passed_over = len(self.ids), 0
        self.ids, self.vectors = self.ids[:0], self.vectors[:0]
        try:
            count = self._rows_there()
            with self._ids_path.open("rb") as file:
                header = file.read(HEADER_BYTES)
        except OSError:
            return
        if header == self._header and count:
            self._map(count)
            if not self._is_sound(known if known < count else 0):
                self._damaged = True
                self._start_again()

    def _is_sound(self, start: int) -> bool:
        """Tell whether the rows from `start` on are as they were written."""
        ids, vectors = self.ids[start:], self.vectors[start:]
        return bool(np.all(np.diff(ids[:, 0]) > 0)) and np.array_equal(ids[:, 2], checksums(ids, vectors))

    def _has_changed(self) -> bool:
        """Tell whether the files are others than they were: what is mapped past their end must not be touched."""
        try:
            return self._rows_there() < len(self.ids) or self._look() != self._signature
        except OSError:
            return False  # deleted: what is mapped stays

    def _look(self) -> tuple[int, ...]:
        return self._ids_path.stat().st_mtime_ns, self._vec_path.stat().st_mtime_ns

    def _rows_there(self) -> int:
        ids, vectors = self._ids_path.stat(), self._vec_path.stat()
        if not (S_ISREG(ids.st_mode) and S_ISREG(vectors.st_mode)):
            raise FileNotFoundError
        return min((ids.st_size - HEADER_BYTES) // ID_BYTES, vectors.st_size // (4 * self._dimensions))

    def _map(self, count: int) -> None:
        self._signature = self._look()
        ids = np.memmap(self._ids_path, np.int64, mode="r", offset=HEADER_BYTES, shape=(count, 3))
        vectors = np.memmap(self._vec_path, np.float32, mode="r", shape=(count, self._dimensions))
        self.ids, self.vectors = ids.view(np.ndarray), vectors.view(np.ndarray)

    def _start_again(self) -> None:
        self.ids, self.vectors = self.ids[:0], self.vectors[:0]
        for path in (self._ids_path, self._vec_path):
            with contextlib.suppress(OSError):  # it is written over as soon as it can be
                path.unlink()

    def _append(self, ids: NDArray[np.int64], fresh: NDArray[np.float32]) -> None:
        try:
            if self._in_memory:
                raise PermissionError
            self._ids_path.parent.mkdir(mode=0o700, exist_ok=True)
            with locked(self._ids_path.parent / ".lock"):
                self._write(ids, fresh.tobytes())
        except (OSError, StoreBusy) as error:
            self._in_memory = True
            if isinstance(error, (FileExistsError, IsADirectoryError, NotADirectoryError)):
                self.trouble = f"vectors cannot be kept, {str(error.filename)!r} is in the way: move it away"
            elif self._damaged and not self.trouble:
                self.trouble = f"{str(self._vec_path)!r} is damaged and cannot be written anew: delete it"
            self.vectors = np.concatenate([self.vectors, fresh])
            self.ids = np.concatenate([self.ids, ids])

    def _write(self, ids: NDArray[np.int64], data: bytes) -> None:
        before = self.last
        if not self._alone():
            self._load()
            if self.last != before:  # another process went on, or began again: go on from there
                return
        count = len(self.ids)
        write_at(self._vec_path, count * 4 * self._dimensions, data)
        if count:
            write_at(self._ids_path, HEADER_BYTES + count * ID_BYTES, ids.tobytes())
        else:
            write_at(self._ids_path, 0, self._header + ids.tobytes())
        self._map(count + len(ids))

    def _alone(self) -> bool:
        """Tell whether the files are as we left them."""
        try:
            with self._ids_path.open("rb") as file:
                header = file.read(HEADER_BYTES)
                file.seek(HEADER_BYTES + ID_BYTES * max(0, len(self.ids) - 1))
                last = file.read(ID_BYTES)
            there = self._rows_there()
        except OSError:
            return not len(self.ids)
        if header != self._header or not len(self.ids):
            return not len(self.ids) and (header != self._header or there == 0)
        return there == len(self.ids) and last == self.ids[-1:].tobytes()


def checksums(ids: NDArray[np.int64], vectors: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return one for each row; it takes as long as one search."""
    sums = vectors.view(np.uint32).sum(axis=1, dtype=np.uint32).astype(np.int64)
    return SALT + ids[:, 0] * 3 + ids[:, 1] * 5 + sums * 7  # type: ignore[no-any-return]


def products(rows: NDArray[np.float32], vector: NDArray[np.float32], out: NDArray[np.float32]) -> None:
    """Multiply each row by the vector, on one core: threads of `dot` wait for each other on a busy machine."""
    if NUMPY_2:
        np.vecdot(rows, vector, out=out)
    else:
        np.einsum("ij,j->i", rows, vector, out=out)


def write_at(path: Path, offset: int, data: bytes) -> None:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
    with os.fdopen(descriptor, "r+b") as file:
        file.seek(offset)
        file.write(data)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())
