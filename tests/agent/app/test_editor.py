from __future__ import annotations

import pytest

from agent.app.editor import EditorProblem, find_editor


def test_visual_goes_before_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "one -w")
    monkeypatch.setenv("EDITOR", "two")

    assert find_editor() == ["one", "-w"]


def test_an_editor_that_is_no_command_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "'unclosed")

    with pytest.raises(EditorProblem, match="unclosed"):
        find_editor()
