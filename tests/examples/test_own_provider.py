"""The provider of examples/own_provider.py runs, alone and behind an entry point."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from memory import MemoryManager, load_provider

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "hosts.md").write_text("The build host is kestrel.\nLunch is at noon.\n", encoding="utf-8")
    (folder / "会议.txt").write_text("项目部署在 kite 集群\n", encoding="utf-8")
    return folder


def test_the_example_shows_what_it_finds(notes: Path) -> None:
    words = [sys.executable, str(EXAMPLES / "own_provider.py"), str(notes), "where", "does", "the", "build", "run"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "tools: notes_search" in done.stdout
    assert "<RECALLED>" in done.stdout
    assert "kestrel" in done.stdout
    assert "Lunch" not in done.stdout


def test_the_example_says_what_it_wants(notes: Path) -> None:
    words = [sys.executable, str(EXAMPLES / "own_provider.py"), str(notes)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "Usage: uv run python examples/own_provider.py FOLDER WORDS...\n")


def test_the_example_can_be_registered(notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    information = tmp_path / "own_provider-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: own-provider\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[my_agent.memory_providers]\nnotes = own_provider:build\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(EXAMPLES)
    manager = MemoryManager(load_provider("notes", {"folder": str(notes)}))
    assert "kite" in asyncio.run(manager.prefetch("项目部署在哪里？"))
    assert list(manager.folders) == [notes]
    [tool] = manager.tools()
    found = asyncio.run(tool.execute(json.dumps({"query": "build host"})))
    assert found.serialize() == "The build host is kestrel."
    assert tool.inheritable is False
