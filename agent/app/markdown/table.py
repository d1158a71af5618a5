"""`draw_table`: the rows of a Markdown table as columns that line up."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent.app.markdown.inline import split_spans
from agent.app.style import BOLD, CODE, ITALIC

if TYPE_CHECKING:
    from rich.console import JustifyMethod
    from rich.text import Text

__all__ = ["draw_table"]

_RULE = re.compile(r"\s*:?-+:?\s*")
_CELL = re.compile(r"(?:\\.|`[^`]*`|[^|\\`]|[\\`])*")
_RICH_STYLES = {BOLD: "bold", ITALIC: "italic", CODE: "cyan"}


def draw_table(lines: Sequence[str], width: int) -> str | None:
    """Return the table in `lines` drawn at most `width` columns wide; None where they are no table.

    Tables need the second line to be the rule under the head (`| --- | :-: |`).
    """
    rows = [_cells(line) for line in lines]
    if len(rows) < 2 or not all(_RULE.fullmatch(cell) for cell in rows[1]):
        return None
    import io

    from rich.box import SIMPLE_HEAD  # 40 ms, so only when a table is there to draw
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    count = max(map(len, rows))
    for head, rule in zip(_filled(rows[0], count), _filled(rows[1], count), strict=True):
        table.add_column(_styled(head), justify=_justify(rule), overflow="fold")
    for row in rows[2:]:
        table.add_row(*map(_styled, _filled(row, count)))
    target = io.StringIO()
    console = Console(
        file=target,
        width=max(width, 8),
        force_terminal=True,
        color_system="standard",
        no_color=False,
        legacy_windows=False,
    )
    console.print(table)
    return "\n".join(line.rstrip() for line in target.getvalue().rstrip("\n").split("\n")) + "\n"


def _cells(line: str) -> list[str]:
    """Split at the bars that are neither escaped nor inside a code span."""
    inner = line.strip().removeprefix("|")
    cells: list[str] = []
    place = 0
    while place <= len(inner):
        found = _CELL.match(inner, place)
        end = found.end() if found is not None else place
        cells.append(inner[place:end].strip())
        place = end + 1
    return cells[:-1] if len(cells) > 1 and not cells[-1] else cells


def _filled(row: list[str], count: int) -> list[str]:
    return row + [""] * (count - len(row))


def _justify(rule: str) -> JustifyMethod:
    if rule.endswith(":"):
        return "center" if rule.startswith(":") else "right"
    return "left"


def _styled(cell: str) -> Text:
    from rich.text import Text

    spans, _ = split_spans(cell, final=True)
    text = Text()
    for piece, style in spans:
        text.append(piece, " ".join(_RICH_STYLES[part] for part in style.split(";") if part in _RICH_STYLES))
    return text
