"""`bar`: how full something is, as a row of blocks."""

from __future__ import annotations

__all__ = ["bar"]

CELLS = 20


def bar(used: int, limit: int, cells: int = CELLS) -> str:
    """Return a bar of `cells` columns. Anything at all shows one block; what is over the limit fills it."""
    if limit <= 0 or used <= 0:
        return "░" * cells
    filled = min(cells, max(1, round(cells * used / limit)))
    return "█" * filled + "░" * (cells - filled)
