"""`AnswerReader`: the body of one answer, read block by block until it is a `Completion`."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator
from typing import Any

from agent.connection_faults import failure_of_connection
from agent.event_reader import EventReader
from agent.failures import ModelFailure, ProviderFailed
from agent.messages import Completion
from agent.stream import Assembly

__all__ = ["AnswerReader"]

log = logging.getLogger(__name__)

GRACE_S = 3.0  # after the finish reason: for the figures of use, which some servers send later and others never
DRAIN_S = 0.05  # after `[DONE]`: for the end of the body, without which the connection cannot be used again
_QUIET = (b":", b"event:", b"id:", b"retry:")


class AnswerReader:
    """Reads `blocks`, the bytes of a response with status 200, whatever they turn out to be.

    Once the finish reason is there, the answer is whole, and nothing that breaks afterwards can spoil it.
    """

    def __init__(self, blocks: AsyncIterator[bytes], *, model: str, base_url: str, timeout_s: float) -> None:
        self.over = False
        # No more text will come, and `completion` may be asked
        self._blocks = blocks
        self._model = model
        self._base_url = base_url
        self._timeout_s = timeout_s
        self._events = EventReader()
        self._assembly = Assembly(model=model, base_url=base_url)

    async def more(self) -> list[str]:
        """Read one block and return the texts that came with it. Raises a `ModelFailure`."""
        if self._events.done:
            await self._drain()
            return []
        finished = bool(self._assembly.finish_reason)
        try:
            block = await _next(self._blocks, GRACE_S if finished else None)
        except Exception as error:  # the border to the provider: whatever breaks in its connection is its failure
            log.debug("the stream broke: %s", type(error).__name__)
            if not finished:
                raise failure_of_connection(error, base_url=self._base_url, timeout_s=self._timeout_s) from None
            block = None
        texts = self._add(self._events.end() if block is None else self._events.feed(block))
        fault = self._events.fault
        if fault is not None and not self._assembly.finish_reason:
            raise fault
        self.over = block is None or fault is not None
        if self.over and self._events.page:
            texts += self._add_page(self._events.page)
        return texts

    def completion(self) -> Completion:
        """Return the whole answer. Raises `ProviderFailed` if it was cut, `EmptyAnswer` if nothing is in it."""
        return self._assembly.completion()

    async def _drain(self) -> None:
        with contextlib.suppress(Exception):  # the answer is whole; a connection that breaks is not used again
            while await _next(self._blocks, DRAIN_S) is not None:
                pass
        self.over = True

    def _add(self, events: list[dict[str, Any]]) -> list[str]:
        texts = []
        for event in events:
            try:
                text = self._assembly.add(event)
            except ModelFailure:
                if self._assembly.finish_reason:
                    break
                raise
            if text:
                texts.append(text)
        return texts

    def _add_page(self, page: bytes) -> list[str]:
        """Take a body without events: one JSON object is an answer all the same, anything else is a mistake."""
        lines = [line for line in page.split(b"\n") if not line.startswith(_QUIET)]
        text = b"\n".join(lines).decode("utf-8-sig", "replace").strip()
        if not text:
            raise ProviderFailed("The provider ended the stream without any answer.", retryable=True)
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            if text.startswith("{"):
                raise ProviderFailed("The provider's answer was cut in the middle.", retryable=True) from None
            value = None
        if isinstance(value, dict) and (isinstance(value.get("choices"), list) or value.get("error")):
            return [self._assembly.add_whole(value)]
        from agent.refusals import words_of  # its tables are for the rare case

        kind = "an HTML page" if text.startswith("<") else "something else"
        raise ProviderFailed(
            f"{self._base_url} is not an OpenAI-compatible address: it answered with {kind} ({words_of(text)!r}). "
            "Check the base URL."
        )


async def _next(blocks: AsyncIterator[bytes], limit_s: float | None) -> bytes | None:
    """The next block, or None at the end."""
    try:
        if limit_s is None:
            return await anext(blocks)
        async with asyncio.timeout(limit_s):
            return await anext(blocks)
    except StopAsyncIteration:
        return None
