"""How long a server asks to wait before the next request."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC

__all__ = ["retry_after"]

LONGEST_HINT_S = 1e9  # 30 years: what asks to wait longer, or is nan, is no hint


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the server asked to wait, given as such or as a date by the server's own clock.

    None where it gave no hint, or an odd one.
    """
    text = headers.get("retry-after", "").strip()
    try:
        seconds = float(text)
    except ValueError:
        end, start = _timestamp(text), _timestamp(headers.get("date", ""))
        if end is None:
            return None
        seconds = end - (time.time() if start is None else start)
    return max(0.0, seconds) if abs(seconds) < LONGEST_HINT_S else None


def _timestamp(text: str) -> float | None:
    from email.utils import parsedate_to_datetime  # 10 ms to import, for the rare case

    try:
        found = parsedate_to_datetime(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError, TypeError, IndexError):  # it is a stranger's, and the parser checks little
        return None
