"""`attach_files`: a message with the text of the files that it names as `@path`."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

__all__ = ["AT", "attach_files"]

FILE_CHARS = 40_000
ALL_CHARS = 120_000
LOOKED_AT_BYTES = 4 * FILE_CHARS

AT = r"(?<![A-Za-z0-9_.+/@-])@"
# Not behind a letter, so that me@example.com is none
_MENTION = re.compile(AT + r"""(?:"([^"\n]+)"|([^\s"@]+))""")
# A path with blanks stands in quotes
_ENDING = "'\"，。；：！？）】》」』”’、"
# Marks that end a path wherever they stand
_TRAILING = ".,;:!?)]}" + _ENDING
_MARK = re.compile(f"[{re.escape(_ENDING)}]")
_NOT_ASCII = re.compile(r"[^\x21-\x7e]")


def attach_files(text: str, root: Path) -> tuple[str, list[str]]:
    """Return the message with the files appended, and a sentence for each name that was left as it is.

    A name without a file is ordinary text; a sentence is given only where it looks like a path. Files outside of
    `root` and files that are not text are not attached.
    """
    added: list[str] = []
    notices: list[str] = []
    seen: set[Path] = set()
    room = ALL_CHARS
    for found in _MENTION.finditer(text):
        name = found[1] or found[2]
        path = _find(root, name, exact=bool(found[1]))
        if path is None:
            if "/" in name or re.search(r"\.\w{1,8}$", name.rstrip(_TRAILING)):
                notices.append(f"@{name}: there is no such file in {root}; sent as text")
            continue
        if path in seen:
            continue
        seen.add(path)
        try:
            content = _read(path, root, min(FILE_CHARS, room))
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            notices.append(f"@{name}: not attached: {reason}")
            continue
        room -= len(content)
        added.append(f'<file path="{path.relative_to(root)}">\n{content}\n</file>')
    return "\n\n".join([text, *added]), notices


def _find(root: Path, name: str, *, exact: bool) -> Path | None:
    """Return the file or folder of that name; the marks of a sentence may follow it, and Chinese without a blank."""
    shorter = [name.rstrip(_TRAILING), _MARK.split(name)[0], _NOT_ASCII.split(name)[0].rstrip(_TRAILING)]
    for one in [name] if exact else [name, *shorter]:
        with suppress(OSError, ValueError):  # too long, or with a character that no path has
            if one and (root / one).exists():
                return (root / one).absolute()
    return None


def _read(path: Path, root: Path, limit: int) -> str:
    if limit <= 0:
        raise ValueError(f"the files before it fill the message ({ALL_CHARS:,} characters)")
    real = path.resolve()
    if not real.is_relative_to(root.resolve()) or not path.is_relative_to(root):
        raise ValueError("it lies outside of the working folder")
    if not real.is_file():
        raise ValueError("it is a folder" if real.is_dir() else "it is no ordinary file")
    with real.open("rb") as file:
        raw = file.read(LOOKED_AT_BYTES)
    size = real.stat().st_size
    if b"\0" in raw:
        raise ValueError("it is not a text file")
    text = raw.decode("utf-8", "ignore" if len(raw) < size else "replace").removeprefix("\ufeff")
    if len(raw) == size and len(text) <= limit:
        return text
    return f"{text[:limit]}\n[... cut here: the file has {size:,} bytes; read on with file_read ...]"
