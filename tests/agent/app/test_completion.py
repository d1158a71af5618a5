from __future__ import annotations

from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from agent.app.completion import ChatCompleter


def choices() -> list[tuple[str, str]]:
    return [("/memory", "what is remembered"), ("/model", "the model")]


def completed(root: Path, line: str) -> list[str]:
    """The lines that the completions make of `line`."""
    found = ChatCompleter(choices, root).get_completions(Document(line), CompleteEvent())
    return [line[: len(line) + one.start_position] + one.text for one in found]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    for name in ("notes.md", "说明.txt", ".hidden", "src/a.py", "my file"):
        (tmp_path / name).write_text("")
    return tmp_path


def test_commands_are_completed_at_the_beginning_of_a_line(root: Path) -> None:
    assert completed(root, "/me") == ["/memory"]
    assert completed(root, "／mo") == ["/model"]
    assert completed(root, "say /me") == []
    assert completed(root, "/memory s") == []
    assert completed(root, "line\n/me") == []


def test_paths_are_completed_after_an_at_sign(root: Path) -> None:
    assert completed(root, "read @no") == ["read @notes.md"]
    assert completed(root, "读 @说") == ["读 @说明.txt"]
    assert completed(root, "@s") == ["@src/"]
    assert completed(root, "@src/") == ["@src/a.py"]
    assert completed(root, "me@no") == []


def test_names_with_blanks_are_put_in_quotes(root: Path) -> None:
    assert completed(root, "@my") == ['@"my file"']
    assert completed(root, '@"my f') == ['@"my file"']


def test_hidden_files_show_when_they_are_asked_for(root: Path) -> None:
    assert "@.hidden" not in completed(root, "@")
    assert completed(root, "@.h") == ["@.hidden"]


def test_a_folder_that_is_not_there_completes_nothing(root: Path) -> None:
    assert completed(root, "@nowhere/x") == []
    assert completed(root, "@a\0b/") == []
