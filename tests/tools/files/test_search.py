"""`file_search`: lines that match, in bounded time."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import time
from pathlib import Path

import pytest
from tool_calls import Workspace

from tools.files.jail import FileRefused, Jail
from tools.files.search import find_hits


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    workspace = Workspace(tmp_path)
    workspace.put("a.py", "import os\nport = 80\n")
    workspace.put("src/b.py", "PORT = 90\r\nend\r\n")
    workspace.put("说明.txt", "端口八零\n".encode("gb18030"))
    workspace.put("wide.txt", "端口九零\n".encode("utf-16"))
    workspace.put("binary", b"port\0")
    workspace.put(".git/config", "port = 1\n")
    workspace.put("node_modules/m/c.js", "port = 2\n")
    return workspace


def test_hits_are_shown_with_path_and_line(ws: Workspace) -> None:
    assert ws("file_search", pattern=r"port = \d+$").data == "a.py:2: port = 80"
    assert (
        ws("file_search", pattern=r"port = \d+$", ignore_case=True).data == "a.py:2: port = 80\nsrc/b.py:1: PORT = 90"
    )


def test_chinese_is_found_in_any_encoding(ws: Workspace) -> None:
    assert ws("file_search", pattern="端口.零").data == "wide.txt:1: 端口九零\n说明.txt:1: 端口八零"


def test_a_path_may_be_a_folder_or_a_file(ws: Workspace) -> None:
    assert ws("file_search", pattern="90", path="src").data == "src/b.py:1: PORT = 90"
    assert ws("file_search", pattern="90", path="src/b.py").data == "src/b.py:1: PORT = 90"
    assert ws("file_search", pattern="port", path=".git").data == ".git/config:1: port = 1"
    assert ws("file_search", pattern="x", path="none").error == "there is no file or folder 'none'"


def test_a_glob_narrows_it(ws: Workspace) -> None:
    assert ws("file_search", pattern="0", glob="*.{py,js}").data == "a.py:2: port = 80\nsrc/b.py:1: PORT = 90"
    assert ws("file_search", pattern="0", glob="src/**/*.py").data == "src/b.py:1: PORT = 90"


def test_nothing_found_is_told(ws: Workspace) -> None:
    data = ws("file_search", pattern="zebra").data
    assert data == "no line matches 'zebra' in 4 files\n[1 binary files left out]"


def test_many_hits_are_cut_and_told(ws: Workspace) -> None:
    ws.put("many.txt", "same line\n" * 5_000)
    data = ws("file_search", pattern="same", limit=7).data
    assert data.count("many.txt:") == 7
    assert "truncated at 7 lines" in data
    ws.put("long.txt", ("x" * 100_000 + "needle" + "y" * 100_000 + "\n") * 70)
    found = ws("file_search", pattern="needle", limit=1000).data
    assert "xneedley" in found
    assert len(found) < 40_000


def test_a_pattern_that_is_none_is_told(ws: Workspace) -> None:
    error = ws("file_search", pattern="foo(").error
    assert error is not None
    assert error.startswith("pattern 'foo(' is no regular expression: missing )")
    assert ws("file_search", pattern="").error == "argument 'pattern' must be at least 1 characters long, not \"\""


def test_a_pattern_without_an_end_is_stopped(ws: Workspace) -> None:
    ws.put("evil.txt", "a" * 60 + "b")
    job = {"path": "evil.txt", "pattern": "^(a+)+$", "glob": None, "ignore_case": False, "limit": 10}
    begun = time.monotonic()
    with pytest.raises(FileRefused, match="nothing found in time"):
        asyncio.run(find_hits(Jail(ws.root), job, deadline_s=1))
    assert time.monotonic() - begun < 30
    assert not workers()


def test_a_cancel_ends_the_search_and_its_process(ws: Workspace) -> None:
    ws.put("evil.txt", "a" * 60 + "b")

    async def main() -> None:
        call = asyncio.create_task(ws.tools["file_search"].execute(json.dumps({"pattern": "^(a+)+$"})))
        while not workers():
            await asyncio.sleep(0.01)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        while workers():
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(main(), 9))


def workers() -> list[str]:
    """The search processes that are children of this one."""
    listed = subprocess.run(
        ["ps", "-ww", "-o", "stat=,args=", "--ppid", str(os.getpid())], capture_output=True, text=True, check=False
    ).stdout
    return [line for line in listed.splitlines() if "tools.files.hits" in line and not line.startswith("Z")]
