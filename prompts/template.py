"""`render`: the Markdown files beside this one, with their gaps filled."""

from __future__ import annotations

import functools
import re
from pathlib import Path

__all__ = ["render"]

FOLDER = Path(__file__).parent
GAP = r"(?m)^\{\{(\w+)\}\}$(\n{0,2})|\{\{(\w+)\}\}"  # a gap with a line to itself, or one in a sentence


def render(name: str, /, **values: str) -> str:
    """Return the text of `name`.md with each `{{word}}` replaced by the value of that name, in one pass.

    A line that is only a gap vanishes with its blank line when the value is empty. Raises `ValueError` for an unknown
    name and for a gap without a value.
    """

    def fill(gap: re.Match[str]) -> str:
        word = gap[1] or gap[3]
        if word not in values:
            raise ValueError(f"prompt {name!r} needs a value for {word!r}")
        return values[word] + (gap[2] or "") if values[word] else ""

    return re.sub(GAP, fill, _text(name)).strip("\n")


@functools.cache
def _text(name: str) -> str:
    path = FOLDER / f"{name}.md"
    if not path.exists():
        raise ValueError(f"there is no prompt {name!r}; there are: {sorted(file.stem for file in FOLDER.glob('*.md'))}")
    return path.read_text(encoding="utf-8")
