"""Server-sent events out of bytes, wherever the bytes are cut."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent.event_reader import EventReader
from agent.failures import ProviderFailed


def read(data: bytes, size: int = 0) -> tuple[EventReader, list[dict[str, Any]]]:
    """Feed `data` in blocks of `size` bytes, then the end."""
    reader, found = EventReader(), []
    for start in range(0, len(data), size or len(data) or 1):
        found += reader.feed(data[start : start + (size or len(data))])
    return reader, [*found, *reader.end()]


@pytest.mark.parametrize("size", [0, 1, 2, 7])
@pytest.mark.parametrize(
    "data",
    [
        b'data: {"a":1}\n\ndata: {"a":2}\n\ndata: [DONE]\n\n',
        b'data:{"a":1}\n\ndata:{"a":2}\n\ndata:[DONE]\n\n',
        b'data: {"a":1}\r\n\r\ndata: {"a":2}\r\n\r\ndata: [DONE]\r\n\r\n',
        b'\xef\xbb\xbfdata: {"a":1}\n\ndata: {"a":2}\n\ndata: [DONE]',
        b': keep alive\n\nid: 7\nevent: message\nretry: 5\ndata: {"a":1}\n\n:\ndata: {"a":2}\n\ndata: [DONE]\n\n',
        b'data: {"a":1}\ndata: {"a":2}\ndata: [DONE]\n',
        b'data: {\ndata: "a":1\ndata: }\n\ndata: {"a":\ndata: 2}\n\ndata: [DONE]\n\n',
        b'data: {"a":1}\n\ndata:\n\ndata: null\n\ndata: {"a":2}\n\ndata: [DONE]\n\ndata: {"a":3}\n\n',
    ],
)
def test_the_same_objects_come_out_of_every_spelling(data: bytes, size: int) -> None:
    reader, found = read(data, size)

    assert found == [{"a": 1}, {"a": 2}]
    assert reader.done


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c"])
def test_only_a_line_feed_ends_a_line(separator: str) -> None:
    data = f'data: {{"a":"one{separator}two"}}\n\n'.encode()

    assert read(data)[1] == [{"a": f"one{separator}two"}]


def test_a_letter_cut_in_two_comes_out_whole() -> None:
    data = 'data: {"a":"héllo 世界 😀"}\n\n'.encode()

    assert [read(data, size)[1] for size in range(1, 8)] == [[{"a": "héllo 世界 😀"}]] * 7


def test_half_an_object_at_the_end_is_left_out() -> None:
    reader, found = read(b'data: {"a":1}\n\ndata: {"a":')

    assert (found, reader.done) == ([{"a": 1}], False)


def test_what_is_not_json_is_a_fault_and_what_came_before_it_counts() -> None:
    events = EventReader().feed(b'data: {"a":1}\n\ndata: {oops}\n\ndata: {"a":2}\n\n')

    assert next(events) == {"a": 1}
    with pytest.raises(ProviderFailed, match=r"\{oops\}") as caught:
        next(events)
    assert caught.value.retryable


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b'event: error\ndata: {"message":"no"}\n\n', {"message": "no"}),
        (b'event: error\ndata: {"error":{"message":"no"}}\n\n', {"message": "no"}),
        (b"event: error\ndata: overloaded\n\n", "overloaded"),
    ],
)
def test_the_data_of_an_error_event_is_an_error(data: bytes, error: object) -> None:
    assert read(data)[1] == [{"error": error}]


def test_a_body_without_events_is_kept_as_a_page() -> None:
    page = json.dumps({"choices": []}, indent=1).encode()

    reader, found = read(page, 5)

    assert (found, reader.page) == ([], page)


def test_raw_tabs_inside_a_text_are_read() -> None:
    assert read(b'data: {"a":"x\ty"}\n\n')[1] == [{"a": "x\ty"}]
