from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent.app.editor import EditorProblem, edit_text, find_editor


def editor(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "my editor"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f"'{path}' --wait")


def test_what_was_saved_is_returned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    editor(tmp_path, 'printf "%s，更多\\n" "$(cat "$2")" > "$2"', monkeypatch)

    assert asyncio.run(edit_text("草稿")) == "草稿，更多"


def test_an_editor_that_fails_leaves_the_text_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    editor(tmp_path, "exit 3", monkeypatch)

    with pytest.raises(EditorProblem, match="ended with code 3"):
        asyncio.run(edit_text("x"))


def test_an_editor_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "/no/such/editor")

    with pytest.raises(EditorProblem, match="/no/such/editor"):
        asyncio.run(edit_text("x"))


def test_visual_goes_before_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "one -w")
    monkeypatch.setenv("EDITOR", "two")

    assert find_editor() == ["one", "-w"]


def test_an_editor_that_is_no_command_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "'unclosed")

    with pytest.raises(EditorProblem, match="unclosed"):
        find_editor()
