"""`MarkdownBackend`: the archive in Markdown files that a person can read and edit, one a category."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from memory.archive.backend import Reader, Writer
from memory.archive.entry import ArchiveUnavailable
from memory.archive.markdown_reader import MarkdownReader
from memory.archive.markdown_state import Folder
from memory.archive.markdown_vectors import MarkdownVectors
from memory.archive.markdown_writer import MarkdownWriter
from memory.atomic import locked
from memory.refusal import StoreBusy

__all__ = ["MarkdownBackend"]


class MarkdownBackend:
    """Keeps `CATEGORY.md` files in `directory`, made at the first write, and vectors in `.embeddings` under it.

    Files may be edited by hand at any time. A write locks, reads again what has changed, and replaces whole files.
    """

    name = "markdown"

    def __init__(self, directory: Path | str) -> None:
        self.directory = Path(directory).expanduser()
        self.place = str(self.directory)
        self.folders: Sequence[Path] = [self.directory]
        self._folder = Folder(self.directory)
        self._vectors = MarkdownVectors(self.directory / ".embeddings")
        self._lock = threading.Lock()

    def reading(self) -> AbstractContextManager[Reader]:
        return self._reading()

    def writing(self) -> AbstractContextManager[Writer]:
        return self._writing()

    def close(self) -> None:
        """There is nothing to give back."""

    @contextmanager
    def _reading(self) -> Iterator[MarkdownReader]:
        with self._speaking(), self._lock:
            state = self._folder.state()
        yield MarkdownReader(state, self._vectors)

    @contextmanager
    def _writing(self) -> Iterator[MarkdownWriter]:
        with self._speaking():
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            with locked(self.directory / ".lock"):
                with self._lock:
                    writer = MarkdownWriter(self._folder, self._folder.state(), self._vectors)
                yield writer
                with self._lock:
                    writer.finish()

    @contextmanager
    def _speaking(self) -> Iterator[None]:
        try:
            yield
        except ArchiveUnavailable:
            raise
        except (OSError, StoreBusy) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            raise ArchiveUnavailable(f"the archive in {self.place!r} cannot be used: {reason}") from error
