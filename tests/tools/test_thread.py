"""`in_thread`: threads that are used again and hold nobody."""

from __future__ import annotations

import asyncio
import contextvars
import threading

import pytest

from tools.thread import in_thread


def test_it_returns_raises_and_sees_the_context() -> None:
    word = contextvars.ContextVar("word", default="none")

    def fail() -> None:
        raise LookupError("gone")

    async def main() -> str:
        word.set("here")
        with pytest.raises(LookupError, match="gone"):
            await in_thread(fail)
        return await in_thread(word.get)

    assert asyncio.run(main()) == "here"


def test_a_waiting_thread_is_used_again() -> None:
    async def main() -> set[int]:
        return {await in_thread(threading.get_ident) for _ in range(50)}

    assert len(asyncio.run(main())) < 50


def test_a_cancel_waits_for_a_function_that_is_nearly_done() -> None:
    started, ended = threading.Event(), threading.Event()

    def nearly_done() -> None:
        started.set()
        threading.Event().wait(0.05)
        ended.set()

    async def main() -> bool:
        call = asyncio.create_task(in_thread(nearly_done))
        while not started.is_set():
            await asyncio.sleep(0.001)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        return ended.is_set()

    assert asyncio.run(main())
