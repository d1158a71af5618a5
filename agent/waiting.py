"""How long a server asks to wait before the next request."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from datetime import UTC

__all__ = ["retry_after"]

LONGEST_HINT_S = 1e9  # 30 years: what asks to wait longer, or is nan, is no hint

_UNITS_S = {"ms": 0.001, "milli": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
_PART = r"(\d{1,12}(?:\.\d+)?)\s*(ms|milli|s|m|h|d)(?:ec|econd|second|in|inute|r|our|ay)?s?(?![a-z])\s*"
# "7m12s", "250ms", "20 seconds"
_HINT = rf"(?:(?:retry|try again) (?:in|after)\s+|retryDelay\W{{1,12}})((?:{_PART})+)"


def retry_after(headers: Mapping[str, str], body: str = "") -> float | None:
    """Return the seconds that the server asked to wait, in the header or else in the words of its `body`.

    In the header they are given as such, or as a date by the server's own clock. None where it gave no hint, or an odd
    one.
    """
    text = headers.get("retry-after", "").strip()
    try:
        seconds = float(text)
    except ValueError:
        end, start = _timestamp(text), _timestamp(headers.get("date", ""))
        if end is None:
            return _wait_in(body)
        seconds = end - (time.time() if start is None else start)
    return max(0.0, seconds) if abs(seconds) < LONGEST_HINT_S else None


def _wait_in(body: str) -> float | None:
    hint = re.search(_HINT, body[:20_000], re.IGNORECASE)
    parts = re.findall(_PART, hint[1], re.IGNORECASE) if hint else []
    return sum(float(figure) * _UNITS_S[unit.lower()] for figure, unit in parts) if parts else None


def _timestamp(text: str) -> float | None:
    from email.utils import parsedate_to_datetime  # 10 ms to import, for the rare case

    try:
        found = parsedate_to_datetime(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError, TypeError, IndexError):  # it is a stranger's, and the parser checks little
        return None
