from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import pytest

from agent.app.own_command import is_own_command, shell


@pytest.mark.parametrize(
    ("text", "is_one"),
    [("!ls", True), ("!!git status", True), ("![ -f x ] && echo y", True), ("![logo](x.png)", False), ("hi!", False)],
)
def test_what_counts_as_a_command(text: str, is_one: bool) -> None:
    assert is_own_command(text) is is_one
    assert not is_own_command(f"{text}\nmore")


def test_output_is_shown_as_it_comes_and_returned_with_the_code(tmp_path: Path) -> None:
    shown: list[str] = []

    assert asyncio.run(shell("echo 你好; pwd >&2; exit 3", tmp_path, shown.append)) == (f"你好\n{tmp_path}\n", 3)
    assert "".join(shown) == f"你好\n{tmp_path}\n"


def test_a_command_gets_no_input(tmp_path: Path) -> None:
    assert asyncio.run(shell("cat; echo end", tmp_path, str)) == ("end\n", 0)


def test_what_is_left_running_does_not_hold_the_chat_and_is_stopped(tmp_path: Path) -> None:
    output, code = asyncio.run(shell("sleep 30 & echo $!", tmp_path, str))

    assert code == 0
    assert not _alive(int(output))


def test_what_is_kept_is_bounded_and_what_is_shown_is_not(tmp_path: Path) -> None:
    shown: list[str] = []
    output, _ = asyncio.run(shell("head -c 100000 /dev/zero | tr '\\0' x", tmp_path, shown.append))

    assert len("".join(shown)) == 100_000
    assert len(output) <= 20_000
    assert output.startswith("xxx")


def test_a_cancel_kills_the_whole_group(tmp_path: Path) -> None:
    async def play() -> None:
        started: list[str] = []
        task = asyncio.ensure_future(shell("trap '' TERM; sleep 60 & echo $!; wait", tmp_path, started.append))
        while not started:
            await asyncio.sleep(0.01)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        assert task.cancelled()
        child = int(started[0])
        for _ in range(200):
            if not _alive(child):
                return
            await asyncio.sleep(0.02)
        raise AssertionError(f"{child} is still there")

    asyncio.run(play())


def _alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False
