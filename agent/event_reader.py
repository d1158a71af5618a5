"""`EventReader`: the server-sent events in a stream of bytes, as they come."""

from __future__ import annotations

from collections.abc import Iterator
from json import JSONDecoder
from typing import Any

from agent.failures import ProviderFailed

__all__ = ["EventReader"]

_decode = JSONDecoder(strict=False).decode  # strict refuses the raw tabs and line ends in texts of some servers


class EventReader:
    """Takes blocks of bytes, cut anywhere, and yields the JSON objects of their `data:` lines, up to `[DONE]`.

    A line ends at `\\n` or `\\r\\n` and nowhere else. The data of an `event: error` comes as `{"error": ...}`.
    """

    def __init__(self) -> None:
        self.done = False
        # `[DONE]` came
        self.page = b""
        # All there was, as long as no data has come: perhaps a page of HTML or one JSON object
        self._began = False
        self._rest = b""
        self._data: list[str] = []
        self._error_event = False

    def feed(self, block: bytes) -> Iterator[dict[str, Any]]:
        """Yield the objects that became whole with `block`. Raises `ProviderFailed` at data that is not JSON."""
        if not self._began:
            self.page += block
        *lines, self._rest = (self._rest + block).split(b"\n")
        for line in lines:
            if not self.done and self._take(line):
                yield from self._close_event()

    def end(self) -> Iterator[dict[str, Any]]:
        """Yield what the last lines held, which have no end; half an object there is a cut and is left out."""
        if not self.done:
            self._take(self._rest)
        try:
            yield from self._close_event()
        except ProviderFailed:
            return

    def _take(self, line: bytes) -> bool:
        """Take one line; true where it ends an event."""
        if line.startswith(b"\xef\xbb\xbf"):
            line = line[3:]
        if line.startswith(b"data:"):
            text = line[5:].decode("utf-8", "replace").strip(" \r")
            self.done = text == "[DONE]"
            if text and not self.done:  # an empty one keeps the connection alive
                self._data.append(text)
            if text and not self._began:
                self._began, self.page = True, b""
            return self.done
        if line.startswith(b"event:"):
            self._error_event = line[6:].strip() == b"error"
        return line in (b"", b"\r") and bool(self._data)

    def _close_event(self) -> Iterator[dict[str, Any]]:
        data, self._data = self._data, []
        error_event, self._error_event = self._error_event, False
        for value in _values(data, error_event=error_event):
            if isinstance(value, dict):
                yield {"error": value} if error_event and "error" not in value else value


def _values(data: list[str], *, error_event: bool) -> list[Any]:
    """One value in one or several lines; or one a line, where the blank lines between events are missing."""
    text = "\n".join(data)
    for pieces in ([text], data):
        try:
            return [_decode(piece) for piece in pieces if piece]
        except (ValueError, RecursionError):
            continue
    if error_event:
        return [{"error": text}]
    raise ProviderFailed(f"The provider sent data that is not JSON: {text[:200]!r}.", retryable=True)
