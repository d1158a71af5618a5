"""`MarkdownVectors`: vectors of Markdown entries, one file `.embeddings/CATEGORY.bin` a category.

A file is a line of JSON (what made the vectors, how long they are), then rows: 16 bytes that name owner and text, the
number of the passage and how many there are, a checksum, the vector. Rows are only ever put behind the others; what
does not fit (another model, half a row, a wrong checksum) is passed over, and made again.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING

from memory.archive.entry import ArchiveUnavailable, Entry
from memory.archive.passages import embedded_text
from memory.atomic import replace_bytes

if TYPE_CHECKING:
    from memory.archive.backend import Matrix

__all__ = ["MarkdownVectors"]

FORMAT = "my-agent vectors 1"
HEAD_BYTES = 16 + 2 + 2 + 4
# A file is written anew when so many of its rows are of no use any more, and most are.
WASTE_ROWS = 256


@dataclass(slots=True)
class VectorFile:
    signature: tuple[int, ...] = ()
    header: bytes = b""
    rows: int = 0
    vectors: dict[bytes, Matrix] = field(default_factory=dict)


class MarkdownVectors:
    """Reads the files again when they have changed. Writing is for the one who holds the lock of the archive."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[tuple[Path, str], VectorFile] = {}

    def digest(self, entry: Entry) -> bytes:
        return hashlib.sha256(f"{entry.owner}\0{embedded_text(entry)}".encode()).digest()[:16]

    def kept(self, model: str) -> Mapping[bytes, Matrix]:
        """Return the passages of all entries that have vectors of this model."""
        found: dict[bytes, Matrix] = {}
        for path in sorted(self._folder.glob("*.bin")):
            found |= self._read(path, model).vectors
        return found

    def put(self, category: str, model: str, vectors: Mapping[bytes, Matrix], alive: Collection[bytes]) -> None:
        """Add vectors to a category's file; `alive` names all entries of the category."""
        path = self._folder / f"{category}.bin"
        for place, fits in ((self._folder, Path.is_dir), (path, Path.is_file)):
            if place.exists() and not fits(place):
                kind = "folder" if fits is Path.is_dir else "file"
                raise ArchiveUnavailable(f"vectors cannot be kept, {str(place)!r} is no {kind}: move it away")
        self._folder.mkdir(mode=0o700, exist_ok=True)
        file = self._read(path, model)
        dimensions = next(iter(vectors.values())).shape[1]
        header = header_of(model, dimensions)
        useful = sum(len(rows) for digest, rows in file.vectors.items() if digest in alive)
        if not path.exists() or file.header != header or not file.rows or file.rows > 2 * useful + WASTE_ROWS:
            kept = {digest: rows for digest, rows in file.vectors.items() if digest in alive}
            kept = kept if file.header == header else {}
            replace_bytes(path, header + written(kept | dict(vectors)))
            return
        size = len(header) + file.rows * (HEAD_BYTES + 4 * dimensions)
        with path.open("r+b") as out:
            out.truncate(size)
            out.seek(size)
            out.write(written(vectors))
            out.flush()
            os.fsync(out.fileno())

    def _read(self, path: Path, model: str) -> VectorFile:
        try:
            stat = path.stat()
        except OSError:
            return VectorFile()
        if not S_ISREG(stat.st_mode):
            return VectorFile()
        signature = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
        known = self._files.get((path, model))
        if known is None or known.signature != signature:
            try:
                known = self._files[path, model] = parsed(path.read_bytes(), model, signature)
            except OSError:
                return VectorFile()
        return known


def header_of(model: str, dimensions: int) -> bytes:
    told = {"format": FORMAT, "model": model, "dimensions": dimensions}
    return (json.dumps(told, ensure_ascii=False) + "\n").encode()


def written(vectors: Mapping[bytes, Matrix]) -> bytes:
    parts: list[bytes] = []
    for digest, rows in vectors.items():
        for number, row in enumerate(rows):
            data = row.astype("<f4").tobytes()
            parts += [digest, number.to_bytes(2, "little"), len(rows).to_bytes(2, "little")]
            parts += [zlib.crc32(data).to_bytes(4, "little"), data]
    return b"".join(parts)


def parsed(data: bytes, model: str, signature: tuple[int, ...]) -> VectorFile:
    """Return what is whole in a file; nothing, if it is of another model or no file of ours."""
    import numpy as np  # 90 ms, and only where vectors are used

    head, _, body = data.partition(b"\n")
    try:
        told = json.loads(head)
        dimensions = int(told["dimensions"])
        if told["format"] != FORMAT or told["model"] != model or dimensions < 1:
            return VectorFile(signature)
        kind = np.dtype(
            [("digest", "V16"), ("part", "<u2"), ("parts", "<u2"), ("check", "<u4"), ("row", "<f4", dimensions)]
        )
    except (ValueError, KeyError, TypeError, OverflowError):
        return VectorFile(signature)
    rows = np.frombuffer(body[: len(body) // kind.itemsize * kind.itemsize], kind)
    gathered: dict[bytes, dict[int, Matrix]] = {}
    parts: dict[bytes, int] = {}
    for row in rows:
        if zlib.crc32(row["row"].tobytes()) == row["check"]:
            digest = bytes(row["digest"])
            if row["part"] == 0:
                gathered[digest] = {}
            gathered.setdefault(digest, {})[int(row["part"])] = row["row"]
            parts[digest] = int(row["parts"])
    whole = {
        digest: np.stack([found[number] for number in range(parts[digest])])
        for digest, found in gathered.items()
        if parts[digest] and found.keys() >= set(range(parts[digest]))
    }
    return VectorFile(signature, head + b"\n", len(rows), whole)
