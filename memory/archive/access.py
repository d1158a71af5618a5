"""`View`: what one asker may see, as a Python predicate and as SQL."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from memory.archive.entry import CONVERSATION, DAILY, Entry, ticks

__all__ = ["AccessPolicy", "Principal", "Retention", "View"]


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks. It comes from the runtime, never from the arguments of a tool."""

    agent: str
    session: str = ""


@dataclass(frozen=True, slots=True)
class Retention:
    """How many days an entry lives after its last update; 0 = for ever."""

    daily_days: int = 7
    conversation_days: int = 3

    def __post_init__(self) -> None:
        for name, days in (("daily_days", self.daily_days), ("conversation_days", self.conversation_days)):
            if days < 0:
                raise ValueError(f"{name} is {days}: give a number of days, 0 for never")


@dataclass(frozen=True, slots=True)
class View:
    """What may be seen. Every read of a backend takes one and applies it before any limit.

    `View()` hides nothing, not even what has expired.
    """

    owner: str | None = None
    # only entries of this owner; None: of all
    session: str | None = None
    # only this session's conversation entries; None: those of all
    daily_after: int | None = None
    # daily entries updated at or before this (ticks) have expired; None: none has
    conversation_after: int | None = None

    def sees(self, entry: Entry) -> bool:
        if self.owner is not None and entry.owner != self.owner:
            return False
        if self.session is not None and entry.category == CONVERSATION and entry.session != self.session:
            return False
        return not self.expired(entry)

    def expired(self, entry: Entry) -> bool:
        """Tell whether the entry's time is over, whoever it belongs to."""
        if entry.category == DAILY:
            limit = self.daily_after
        elif entry.category == CONVERSATION:
            limit = self.conversation_after
        else:
            return False
        return limit is not None and ticks(entry.updated) <= limit

    def limits(self) -> dict[str, int]:
        """Return, for each category that expires, the youngest `updated` (in ticks) that has."""
        limits = {DAILY: self.daily_after, CONVERSATION: self.conversation_after}
        return {category: limit for category, limit in limits.items() if limit is not None}

    def sql(self, mark: str = "?") -> tuple[str, list[str | int]]:
        """Return `sees` as a condition on the columns owner, session, category and updated, with its values in order.

        `mark` is the placeholder: `?` for sqlite3, `%s` for psycopg. The condition is in brackets.
        """
        parts: list[str] = []
        values: list[str | int] = []
        if self.owner is not None:
            parts.append(f"owner = {mark}")
            values.append(self.owner)
        if self.session is not None:
            parts.append(f"(category <> '{CONVERSATION}' OR session = {mark})")
            values.append(self.session)
        for category, limit in self.limits().items():
            parts.append(f"NOT (category = '{category}' AND updated <= {mark})")
            values.append(limit)
        return f"({' AND '.join(parts) or '1 = 1'})", values


@dataclass(frozen=True, slots=True)
class AccessPolicy:
    """Whether agents are kept apart, and which of them may see everything."""

    enabled: bool = False
    admins: frozenset[str] = field(default_factory=frozenset)

    def view(self, who: Principal, retention: Retention, now: datetime) -> View:
        """Return what `who` may read and forget at `now`."""
        return View(
            owner=who.agent if self.enabled and who.agent not in self.admins else None,
            session=who.session,
            daily_after=last_expired(now, retention.daily_days),
            conversation_after=last_expired(now, retention.conversation_days),
        )


def last_expired(now: datetime, days: int) -> int | None:
    """Return the youngest update that has expired; days beyond the calendar mean never."""
    try:
        return ticks(now - timedelta(days=days)) if days else None
    except OverflowError:
        return None
