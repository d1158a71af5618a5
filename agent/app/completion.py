"""`ChatCompleter`: the names of commands, and the paths of files after `@`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from agent.app.mentions import AT
from agent.app.plain import plain

__all__ = ["ChatCompleter", "Choices"]

Choices = Callable[[], Iterable[tuple[str, str]]]
# The commands, each with what it means

MOST_FILES = 200
MOST_LOOKED_AT = 5_000  # it is asked at each key
_OPEN_MENTION = re.compile(AT + r'(?:"([^"\n]*)|([^\s"@]*))$')


class ChatCompleter(Completer):
    """Offers completions while a person types. `root` is the folder that paths begin in."""

    def __init__(self, choices: Choices, root: Path) -> None:
        self._choices = choices
        self._root = root

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        line = document.text_before_cursor
        if line[:1] in ("/", "／") and not re.search(r"\s", line):
            for name, meaning in self._choices():
                if name.startswith(line.replace("／", "/")):
                    yield Completion(name, start_position=-len(line), display_meta=meaning)
        elif found := _OPEN_MENTION.search(line):
            quoted = found[1] is not None
            yield from islice(self._paths(found[1] if quoted else found[2], quoted=quoted), MOST_FILES)

    def _paths(self, typed: str, *, quoted: bool) -> Iterator[Completion]:
        folder, slash, beginning = typed.rpartition("/")
        for name, is_folder in _names(self._root / folder):
            if not name.startswith(beginning) or (name.startswith(".") and not beginning):
                continue
            shown = name + "/" if is_folder else name
            path = folder + slash + shown
            if '"' in path or "\n" in path or plain(path) != path:
                continue
            if quoted or re.search(r"\s", path):
                path = f'"{path}' if is_folder else f'"{path}"'
            yield Completion(path, start_position=-len(typed) - quoted, display=shown)


def _names(folder: Path) -> list[tuple[str, bool]]:
    """The names in a folder in order; none where it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return sorted((entry.name, entry.is_dir()) for entry in islice(entries, MOST_LOOKED_AT))
    except (OSError, ValueError):
        return []
