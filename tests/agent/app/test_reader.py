from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from agent.app.exits import UsageProblem
from agent.app.reader import WARNING, LineReader


class Piped:
    """A reader on a pipe, and the end that is written to."""

    def __init__(self, *, interactive: bool = False) -> None:
        self.source, self.end = os.pipe()
        self.shown: list[str] = []
        self.reader = LineReader(self.source, interactive=interactive, show=self.shown.append)

    def run(self, work: Callable[[], Awaitable[None]]) -> None:
        async def play() -> None:
            await work()

        try:
            asyncio.run(play())
        finally:
            os.close(self.source)


def test_lines_come_one_by_one_whatever_the_pieces() -> None:
    piped = Piped()

    async def work() -> None:
        os.write(piped.end, "一\r\ntwo\nthr".encode())
        assert await piped.reader.read() == "一"
        assert await piped.reader.read() == "two"
        os.write(piped.end, b"ee")
        os.close(piped.end)
        assert await piped.reader.read() == "three"
        with pytest.raises(EOFError):
            await piped.reader.read()

    piped.run(work)


def test_waiting_can_be_cancelled_and_loses_nothing() -> None:
    piped = Piped()

    async def work() -> None:
        waiting = asyncio.ensure_future(piped.reader.read())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait({waiting})
        os.write(piped.end, b"still here\n")
        assert await piped.reader.read() == "still here"

    piped.run(work)


def test_ctrl_c_warns_and_then_leaves() -> None:
    piped = Piped(interactive=True)

    async def work() -> None:
        waiting = asyncio.ensure_future(piped.reader.read())
        await asyncio.sleep(0)
        assert piped.reader.interrupt()
        assert piped.shown == ["> ", f"\n{WARNING}\n> "]
        assert piped.reader.interrupt()
        with pytest.raises(EOFError):
            await waiting
        assert not piped.reader.interrupt()

    piped.run(work)


def test_a_line_typed_before_a_question_is_no_answer_to_it() -> None:
    piped = Piped(interactive=True)

    async def work() -> None:
        os.write(piped.end, b"first\nyes\n")
        assert await piped.reader.read() == "first"
        asking = asyncio.ensure_future(piped.reader.ask("Allow? "))
        await asyncio.sleep(0)
        os.write(piped.end, b"no\nand more\n")
        assert await asking == "no"
        assert [await piped.reader.read(), await piped.reader.read()] == ["yes", "and more"]

    piped.run(work)


def test_a_file_and_dev_null_can_be_read_too(tmp_path: Path) -> None:
    (tmp_path / "lines").write_bytes(b"a\nb")

    async def read(name: str) -> list[str]:
        source = os.open(name, os.O_RDONLY)
        reader = LineReader(source, interactive=False, show=None)
        found: list[str] = []
        try:
            while True:
                found.append(await reader.read())
        except EOFError:
            return found
        finally:
            os.close(source)

    assert asyncio.run(read(str(tmp_path / "lines"))) == ["a", "b"]
    assert asyncio.run(read(os.devnull)) == []


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    source = os.open(tmp_path, os.O_RDONLY)
    try:
        with pytest.raises(UsageProblem, match=r"stdin.*directory"):
            asyncio.run(LineReader(source, interactive=False, show=None).read())
    finally:
        os.close(source)
