"""`EventReader`: the server-sent events in a stream of bytes, as they come."""

from __future__ import annotations

from json import JSONDecoder
from typing import Any

from agent.failures import ProviderFailed

__all__ = ["EventReader"]

LINE_LIMIT_BYTES = 16 * 2**20  # no answer has a line that long; an endless one must not fill the memory
BOM = b"\xef\xbb\xbf"

_decode = JSONDecoder(strict=False).raw_decode  # strict refuses the raw tabs and line ends in texts of some servers


class EventReader:
    """Takes blocks of bytes, cut anywhere, and returns the JSON objects of their `data:` lines.

    A line ends at `\\n` or `\\r\\n` and nowhere else. An object counts as soon as it is whole, so a blank line between
    events may be missing, and one object may stand in several `data:` lines. The data of an `event: error` comes as
    `{"error": ...}`. Nothing is read after `[DONE]` or after a fault.
    """

    def __init__(self) -> None:
        self.done = False
        # `[DONE]` came
        self.fault: ProviderFailed | None = None
        # What made the rest unreadable; what was returned before it is sound
        self.page = b""
        # All there was, as long as no data has come: perhaps a page of HTML or one JSON object
        self._began = False
        self._rest = b""
        self._open = ""
        self._error_event = False

    def feed(self, block: bytes) -> list[dict[str, Any]]:
        """Return the objects that became whole with `block`."""
        if not self._began:
            self.page += block
        lines = (self._rest + block).split(b"\n")
        self._rest = lines.pop()
        if max(len(self._rest), len(self.page), len(self._open)) > LINE_LIMIT_BYTES:
            self.fault = ProviderFailed(f"The provider sent {LINE_LIMIT_BYTES // 2**20} MB without the end of a line.")
        found = self._objects(lines)
        if self._began:
            self.page = b""
        return found

    def end(self) -> list[dict[str, Any]]:
        """Return what the last line held, which has no end of its own; half an object there is a cut, not a fault."""
        last, self._rest = self._rest, b""
        found = [] if self._open else self._objects([last])
        if last:
            self._open = ""
        return found + self._close_event()

    def _objects(self, lines: list[bytes]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for line in lines:
            if self.done or self.fault is not None:
                break
            if line[:5] == b"data:":
                text = line[5:].decode("utf-8", "replace").strip(" \r")
                if self._open:
                    text = f"{self._open}\n{text}"
                elif text == "[DONE]":
                    self.done = self._began = True
                    return found
                elif not text:  # keeps the connection alive
                    continue
                self._began = True
                value, end = self._parse(text)
                if end != len(text):
                    self._open = text  # the next `data:` line may complete it
                    continue
                self._open = ""
                if isinstance(value, dict):
                    found.append({"error": value} if self._error_event and "error" not in value else value)
            elif line[:6] == b"event:":
                self._error_event = line[6:].strip() == b"error"
            elif line[:3] == BOM:
                found += self._objects([line[3:]])
            elif line in (b"", b"\r") and (self._open or self._error_event):
                found += self._close_event()
        return found

    def _parse(self, text: str) -> tuple[Any, int]:
        try:
            return _decode(text) if not self._open or text.endswith("}") else (None, -1)
        except (ValueError, RecursionError):
            return None, -1

    def _close_event(self) -> list[dict[str, Any]]:
        text, error_event = self._open, self._error_event
        self._open, self._error_event = "", False
        if text and not error_event:
            self.fault = ProviderFailed(f"The provider sent data that is not JSON: {text[:200]!r}.", retryable=True)
            return []
        return [{"error": text}] if text else []
