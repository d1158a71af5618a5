from __future__ import annotations

import asyncio
import stat
from pathlib import Path

import pytest

from agent.app.input_history import InputHistory


def load(path: Path) -> list[str]:
    async def read() -> list[str]:
        return [text async for text in InputHistory(lambda: path, print).load()]

    return asyncio.run(read())


def store(path: Path, *texts: str) -> list[str]:
    warned: list[str] = []
    history = InputHistory(lambda: path, warned.append)
    for text in texts:
        history.append_string(text)
    return warned


def test_what_was_typed_is_there_in_the_next_chat_newest_first(tmp_path: Path) -> None:
    path = tmp_path / "state" / "history"
    store(path, "one", "两行\n文字")
    store(path, "three")

    assert load(path) == ["three", "两行\n文字", "one"]


def test_only_its_owner_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "state" / "history"
    store(path, "x")
    path.chmod(0o644)
    store(path, "y")

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_keys_are_taken_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-123456")
    store(tmp_path / "h", "use sk-secret-123456")

    assert b"sk-secret" not in (tmp_path / "h").read_bytes()


def test_halves_of_characters_do_no_harm(tmp_path: Path) -> None:
    store(tmp_path / "h", "a\udce9b")

    assert load(tmp_path / "h") == ["a?b"]


def test_damaged_lines_are_passed_over(tmp_path: Path) -> None:
    store(tmp_path / "h", "one")
    with (tmp_path / "h").open("ab") as file:
        file.write(b"\xff\xfe\n\0\0\n# half\n+two\n")

    assert load(tmp_path / "h") == ["two", "one"]


def test_a_history_that_cannot_be_written_is_told_of_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    warned = store(tmp_path / "file" / "history", "one", "two")

    assert len(warned) == 1
    assert "not kept" in warned[0]
