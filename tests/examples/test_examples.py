"""Every example runs as it stands, without a key."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


def run(argv: list[str], cwd: Path) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "MY_AGENT_"))}
    env = kept | {"HOME": str(cwd), "XDG_CONFIG_HOME": str(cwd / ".config"), "XDG_DATA_HOME": str(cwd / ".data")}
    done = subprocess.run(argv, cwd=cwd, env=env, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_one_shot_remembers_in_one_process_and_knows_in_the_next(tmp_path: Path) -> None:
    script = str(ROOT / "examples" / "one_shot.py")
    run([sys.executable, script, "Remember that releases are on Fridays"], tmp_path)
    assert "Fridays" in (tmp_path / "example_memory" / "MEMORY.md").read_text(encoding="utf-8")
    assert "Fridays" in run([sys.executable, script, "What do you know about releases?"], tmp_path)


def test_two_memories_stay_apart(tmp_path: Path) -> None:
    out = run([sys.executable, str(ROOT / "examples" / "two_memories.py")], tmp_path).splitlines()
    assert "kestrel" in out[0]
    assert "kestrel" not in out[1]


def test_sub_agents_read_files_and_no_memory(tmp_path: Path) -> None:
    out = run([sys.executable, str(ROOT / "examples" / "sub_agents.py")], tmp_path)
    assert all(f"this is file {name}" in out for name in ("one", "two", "three"))
    assert "4711" not in out


def test_the_code_in_the_readme_runs(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    run([sys.executable, "-c", code], tmp_path)
    assert "Fridays" in (tmp_path / "notes" / "MEMORY.md").read_text(encoding="utf-8")


def test_the_first_command_of_the_readme_writes_memory_and_the_next_knows_it(tmp_path: Path) -> None:
    first, second, third = re.findall(r"^uv run my-agent (run .+)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    (tmp_path / ".my_agent_core" / "memory").mkdir(parents=True)
    command = str(Path(sys.executable).with_name("my-agent"))

    def words(line: str) -> list[str]:
        verb, _, text = line.partition(" ")
        return [command, verb, text.strip('"')]

    run(words(first), tmp_path)
    assert "pytest" in (tmp_path / ".my_agent_core" / "memory" / "MEMORY.md").read_text(encoding="utf-8")
    assert "pytest" in run(words(second), tmp_path)
    assert "pytest" in run(words(third), tmp_path)


@pytest.mark.parametrize("document", sorted((ROOT / "docs").glob("*.md")), ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text(encoding="utf-8")):
        assert (document.parent / target).exists(), target


def test_links_of_the_readme_lead_somewhere() -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", (ROOT / "README.md").read_text(encoding="utf-8")):
        assert (ROOT / target).exists(), target
