from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.archive.access import AccessPolicy, Principal, Retention, View
from memory.archive.entry import Entry, ticks

NOW = datetime(2026, 3, 10, 9, tzinfo=UTC)

entries = st.builds(
    Entry,
    key=st.just("k"),
    content=st.just("v"),
    owner=st.sampled_from(["alice", "bob", ""]),
    session=st.sampled_from(["s1", "s2", ""]),
    category=st.sampled_from(["core", "daily", "conversation", "notes"]),
    updated=st.integers(-5, 5).map(lambda days: NOW + timedelta(days=days)),
)
times = st.none() | st.integers(-5, 5).map(lambda days: ticks(NOW + timedelta(days=days)))
views = st.builds(
    View,
    owner=st.sampled_from([None, "alice", "bob"]),
    session=st.sampled_from([None, "s1", ""]),
    daily_after=times,
    conversation_after=times,
)


@given(views, st.lists(entries, max_size=10))
def test_the_sql_of_a_view_says_what_the_predicate_says(view: View, some: list[Entry]) -> None:
    link = sqlite3.connect(":memory:")
    link.execute("CREATE TABLE entries (n, owner, session, category, updated)")
    rows = [(n, e.owner, e.session, e.category, ticks(e.updated)) for n, e in enumerate(some)]
    link.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", rows)
    condition, values = view.sql()
    found = [n for (n,) in link.execute(f"SELECT n FROM entries WHERE {condition} ORDER BY n", values)]
    link.close()
    assert found == [n for n, entry in enumerate(some) if view.sees(entry)]


def test_an_open_view_hides_nothing() -> None:
    assert View().sql() == ("(1 = 1)", [])
    assert View().sees(Entry("k", "v", "daily"))


def test_placeholders_are_the_drivers_own() -> None:
    assert View(owner="a", session="s").sql("%s")[0].count("%s") == 2


def test_access_control_shows_an_agent_its_own_and_an_administrator_all() -> None:
    policy = AccessPolicy(True, frozenset({"root"}))
    owners = [policy.view(Principal(agent), Retention(), NOW).owner for agent in ("alice", "root")]
    assert owners == ["alice", None]
    assert AccessPolicy().view(Principal("alice"), Retention(), NOW).owner is None


def test_an_entry_expires_exactly_when_its_days_are_over() -> None:
    view = AccessPolicy().view(Principal("a", "s"), Retention(daily_days=7), NOW)
    assert not view.sees(Entry("k", "v", "daily", updated=NOW - timedelta(days=7)))
    assert view.sees(Entry("k", "v", "daily", updated=NOW - timedelta(days=7, microseconds=-1)))
    assert view.sees(Entry("k", "v", "core", updated=NOW - timedelta(days=70)))


@pytest.mark.parametrize("days", [0, 10**7])
def test_no_days_and_days_beyond_the_calendar_mean_never(days: int) -> None:
    view = AccessPolicy().view(Principal("a", "s"), Retention(daily_days=days), NOW)
    assert view.sees(Entry("k", "v", "daily"))


def test_negative_days_are_refused() -> None:
    with pytest.raises(ValueError, match="daily_days is -1"):
        Retention(daily_days=-1)
