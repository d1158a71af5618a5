"""How long a server asks to wait."""

from __future__ import annotations

import time
from email.utils import formatdate

import pytest

from agent.waiting import retry_after


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after": "-3"}, 0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "9" * 300}, None),
        ({"retry-after": "Fri, 31 Dec 99999999999999999999 23:59:59 GMT"}, None),
        ({"retry-after": "Fri, 31 Dec 9999 23:59:59 -2359"}, None),
        ({"retry-after": "Wed, 21 Oct 2026 99:99:99 GMT"}, None),
        ({"retry-after": "Wed, 21 Oct 2020 07:28:30 GMT", "date": "Fri, 31 Dec 9" + "9" * 30 + " 23:59:59 GMT"}, 0),
        ({"retry-after": "2026-11-30T10:00:00Z"}, None),
        ({"retry-after": ","}, None),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}, 30),
        ({"retry-after": "Wed, 21 Oct 2020 07:28:00 GMT"}, 0),
        ({}, None),
    ],
)
def test_the_wait_is_read_from_the_header(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == (seconds if seconds is None else pytest.approx(seconds))


def test_a_date_counts_from_now_where_the_server_has_no_clock() -> None:
    found = retry_after({"retry-after": formatdate(time.time() + 100, usegmt=True)})

    assert found is not None and 60 < found <= 101


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        ("Please retry in 2.4s.", 2.4),
        ("Rate limit reached. Please try again in 250ms. Visit a page", 0.25),
        ("Please try again in 1 second", 1),
        ("Please retry after 20 seconds.", 20),
        ("Please try again in 7m12s", 432),
        ("try again in 1h2m3.5s", 3723.5),
        ("try again in 2 minutes", 120),
        ("try again in 300 milliseconds", 0.3),
        ("try again in 1 day", 86400),
        ("try again in 3 months", None),
        ('[{"error": {"details": [{"@type": "x.RetryInfo", "retryDelay": "2.4s"}]}}]', 2.4),
        (r'{"raw": "{\"details\": [{\"retryDelay\": \"36s\"}]}"}', 36),
        ('{"retryDelay": "soon"}', None),
        ("try again in a minute", None),
        ("try again in 5 steps", None),
        ("try again in " + "9" * 400 + "s", None),
        ("retry later", None),
    ],
)
def test_the_wait_is_read_from_the_words(body: str, seconds: float | None) -> None:
    assert retry_after({}, body) == (seconds if seconds is None else pytest.approx(seconds))


def test_the_header_counts_before_the_words() -> None:
    assert retry_after({"retry-after": "3"}, "Please retry in 9s") == 3
