from __future__ import annotations

import asyncio
import os
import signal

import pytest

from agent.app.interrupts import Interrupts, Stopped


async def sleeps() -> None:
    await asyncio.sleep(60)


def test_ctrl_c_stops_the_work_and_the_next_one_runs() -> None:
    async def play() -> None:
        with Interrupts(idle=lambda: None) as interrupts:
            asyncio.get_running_loop().call_later(0.01, os.kill, os.getpid(), signal.SIGINT)
            with pytest.raises(Stopped):
                await interrupts.run(sleeps())
            assert await interrupts.run(asyncio.sleep(0, "next")) == "next"

    asyncio.run(play())


def test_ctrl_c_while_nothing_runs_is_for_the_reader() -> None:
    async def play() -> list[str]:
        heard: list[str] = []
        with Interrupts(idle=lambda: heard.append("idle")):
            os.kill(os.getpid(), signal.SIGINT)
            while not heard:
                await asyncio.sleep(0.01)
        return heard

    assert asyncio.run(play()) == ["idle"]


def test_the_error_of_the_work_is_raised() -> None:
    async def fails() -> None:
        raise ValueError("broken")

    async def play() -> None:
        with Interrupts(idle=lambda: None) as interrupts, pytest.raises(ValueError, match="broken"):
            await interrupts.run(fails())

    asyncio.run(play())


def test_the_first_reason_to_end_gives_the_code() -> None:
    async def play() -> int | None:
        with Interrupts(idle=lambda: None) as interrupts:
            asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGHUP)
            try:
                await interrupts.run(sleeps())
            except asyncio.CancelledError:
                interrupts.end(143)
                return interrupts.code

        return None

    assert asyncio.run(play()) == 129


def test_a_signal_that_nohup_ignores_stays_ignored() -> None:
    async def play() -> None:
        with Interrupts(idle=lambda: None) as interrupts:
            os.kill(os.getpid(), signal.SIGHUP)
            await asyncio.sleep(0.02)
            assert interrupts.code is None

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        asyncio.run(play())
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
