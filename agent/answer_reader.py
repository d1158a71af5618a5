"""`read_answer`: the body of one answer, read block by block until it is a `Completion`."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator
from typing import Any

from agent.event_reader import EventReader
from agent.failures import ModelFailure, ProviderFailed
from agent.messages import Completion
from agent.refusals import failure_of_connection, words_of
from agent.stream import Assembly

__all__ = ["read_answer"]

log = logging.getLogger(__name__)

GRACE_S = 3.0  # after the finish reason: for the figures of use, which some servers send later and others never
DRAIN_S = 0.05  # after `[DONE]`: for the end of the body, without which the connection cannot be used again


async def read_answer(
    blocks: AsyncIterator[bytes], *, model: str, base_url: str, timeout_s: float
) -> AsyncIterator[str | Completion]:
    """Yield the texts in `blocks`, the bytes of a response with status 200, and then the whole `Completion`.

    Once the finish reason is there, the answer is whole, and nothing that breaks afterwards can spoil it. Raises a
    `ModelFailure` for a cut stream, a reported error, an empty answer, and for bytes that are no answer.
    """
    events, answer = EventReader(), Assembly(model=model, base_url=base_url)
    over = False
    while not (over or events.done):
        broken: Exception | None = None
        try:
            block = await _next(blocks, GRACE_S if answer.finish_reason else None)
        except Exception as error:  # the border to the provider: whatever breaks in its connection is its failure
            log.debug("the stream broke: %s", type(error).__name__)
            block, broken = None, error
        over = block is None
        try:
            for event in events.end() if block is None else events.feed(block):
                if text := answer.add(event):
                    yield text
        except ModelFailure:
            over = True
            if not answer.finish_reason:
                raise
        if broken is not None and not answer.finish_reason:
            raise failure_of_connection(broken, base_url=base_url, timeout_s=timeout_s) from None
    if not (events.done or answer.finish_reason) and (
        text := answer.add(_object_in(events.page, base_url), whole=True)
    ):
        yield text
    with contextlib.suppress(Exception):  # a connection that breaks by now is not used again
        while events.done and await _next(blocks, DRAIN_S) is not None:
            pass
    yield answer.completion()


def _object_in(page: bytes, base_url: str) -> dict[str, Any]:
    """The one JSON object that came instead of a stream; `{}` where nothing came but comments."""
    lines = [line for line in page.split(b"\n") if not line.startswith((b":", b"event:", b"id:", b"retry:"))]
    text = b"\n".join(lines).decode("utf-8-sig", "replace").strip()
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError):
        value = {} if text.startswith("{") else None
    if isinstance(value, dict) and (not text or not value or value.keys() & {"choices", "error", "base_resp"}):
        return value
    kind = "an HTML page" if text.startswith("<") else "something else"
    raise ProviderFailed(
        f"{base_url} is not an OpenAI-compatible address: it answered with {kind} ({words_of(text)!r}). "
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
