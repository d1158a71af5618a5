"""`place`: a folder and a home of their own for every test of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Place


@pytest.fixture
def place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Place:
    for name in ("work", "home"):
        (tmp_path / name).mkdir()

    def capture() -> tuple[str, str]:
        out, err = capsys.readouterr()
        return out, err

    return Place(tmp_path / "work", tmp_path / "home", capture)
