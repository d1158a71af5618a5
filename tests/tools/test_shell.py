"""`shell`: commands that leave nothing behind but their words."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tool_calls import call_tool

from tools import Tool, make_shell_tool


@pytest.fixture
def shell(tmp_path: Path) -> Tool:
    return make_shell_tool(tmp_path, spill_dir=tmp_path / "spill")


def alive(mark: str) -> list[str]:
    """Running processes that have `mark` among their arguments."""
    listed = subprocess.run(["ps", "-eo", "stat=,args="], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if mark in line and not line.startswith("Z")]


@pytest.fixture
def nap() -> str:
    """A number of seconds that no other test sleeps."""
    return f"3{time.time_ns() % 10**9}.{os.getpid()}"


def test_it_has_a_limit_of_its_own_and_is_inherited_where_supervised(shell: Tool) -> None:
    assert shell.inheritable == "supervised"
    assert not shell.parallel
    assert list(shell.schema()["function"]["parameters"]["properties"]) == ["command", "timeout_s"]


def test_output_errors_and_status_are_told_in_order(shell: Tool) -> None:
    result = call_tool(shell, command="echo out; echo err >&2; echo more; exit 3")
    assert result.ok
    assert result.data == "out\nerr\nmore\n[exit status 3]"


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("true", "[exit status 0; no output]"),
        ("echo hi", "hi\n"),
        ("printf hi; false", "hi\n[exit status 1]"),
        ("kill -9 $$", "[ended by signal 9 (Killed); no output]"),
        ("printf 'left\\000right'", "left�right"),
        ("printf 'ok \\377\\376 \\227 end'", "ok �� � end"),
        ("echo 你好", "你好\n"),
        ("[[ a == a ]] && echo ${#BASH_VERSION[@]}", "1\n"),
    ],
)
def test_what_a_command_says_comes_back(shell: Tool, command: str, answer: str) -> None:
    assert call_tool(shell, command=command).data == answer


def test_it_runs_in_the_workspace(shell: Tool, tmp_path: Path) -> None:
    assert call_tool(shell, command="pwd -P").data == f"{tmp_path.resolve()}\n"


def test_a_command_is_utf_8_in_any_locale(tmp_path: Path) -> None:
    program = (
        "import asyncio, json, pathlib, sys; from tools import make_shell_tool; "
        "shell = make_shell_tool(pathlib.Path(sys.argv[1])); "
        "call = shell.execute(json.dumps({'command': 'printf \\u4f60 > a.txt'})); print(asyncio.run(call).ok)"
    )
    ascii_only = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run([sys.executable, "-c", program, tmp_path], env=ascii_only, capture_output=True, text=True)
    assert done.stdout == "True\n", done.stderr
    assert (tmp_path / "a.txt").read_bytes() == "你".encode()


def test_there_is_no_input_and_no_terminal(shell: Tool) -> None:
    assert (
        call_tool(shell, command="cat; read -p 'name? ' n; echo \"got:$n\"; tty").data
        == "got:\nnot a tty\n[exit status 1]"
    )
    assert "cannot" in call_tool(shell, command="(: < /dev/tty) 2>&1 || echo cannot").data


def test_keys_are_not_in_the_environment(shell: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"OPENAI_API_KEY": "sk-live-7731", "GH_TOKEN": "gh-7733", "MY_PLAIN": "visible"}.items():
        monkeypatch.setenv(name, value)
    printed = call_tool(shell, command="env; cat /proc/self/environ").data
    assert "visible" in printed
    assert "7731" not in printed
    assert "7733" not in printed


def test_an_allowed_key_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GH_TOKEN", "gh-7733")
    shell = make_shell_tool(tmp_path, env_allow=["GH_TOKEN"])
    assert call_tool(shell, command="echo $GH_TOKEN").data == "gh-7733\n"


@pytest.mark.parametrize("start", ["sleep {} &", "(sleep {} &)", "nohup sleep {} > /dev/null 2>&1 &"])
def test_what_is_left_in_the_background_is_stopped_and_told(shell: Tool, nap: str, start: str) -> None:
    data = call_tool(shell, command=f"{start.format(nap)}\necho hi").data
    assert data == "hi\n[what it left running in the background was stopped]"
    assert not alive(nap)


def test_a_daemon_that_holds_the_output_is_not_waited_for(shell: Tool, nap: str) -> None:
    data = call_tool(shell, command=f"setsid sleep {nap} & sleep 0.1; echo hi").data
    assert data == "hi\n"
    for line in alive(nap):
        pid = subprocess.run(["pgrep", "-f", nap], capture_output=True, text=True, check=True).stdout.split()[0]
        assert "sleep" in line
        os.kill(int(pid), signal.SIGKILL)


@pytest.mark.parametrize(
    "command",
    [
        "echo early; sleep {0}; echo late",
        "trap '' TERM INT HUP; echo early; sleep {0}; sleep {0}",
        "echo early; setsid sleep {0} & setsid bash -c 'sleep {0}; sleep {0}' & wait",
        "echo early; sleep {0} | cat",
    ],
)
def test_at_its_time_limit_everything_is_stopped(shell: Tool, nap: str, command: str) -> None:
    result = call_tool(shell, command=command.format(nap), timeout_s=0.5)
    assert not result.ok
    assert "stopped after 0.5 s" in result.serialize()
    assert result.serialize().endswith("Output until then:\nearly\n")
    assert not alive(nap)


@pytest.mark.parametrize("command", ["sleep {0}", "trap '' TERM; sleep {0}; sleep {0}", "setsid sleep {0} & wait"])
def test_a_cancel_stops_everything(shell: Tool, nap: str, command: str) -> None:
    async def main() -> None:
        call = asyncio.create_task(shell.execute(json.dumps({"command": command.format(nap)})))
        while not alive(f"sleep {nap}"):
            await asyncio.sleep(0.02)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(main())
    assert not alive(nap)


def test_a_second_cancel_still_kills(shell: Tool, nap: str) -> None:
    async def main() -> None:
        command = f"trap '' TERM; sleep {nap}; sleep {nap}"
        call = asyncio.create_task(shell.execute(json.dumps({"command": command})))
        while not alive(f"sleep {nap}"):
            await asyncio.sleep(0.02)
        call.cancel()
        await asyncio.sleep(0.05)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        while alive(nap):
            await asyncio.sleep(0.02)

    asyncio.run(asyncio.wait_for(main(), 20))


def test_long_output_is_bounded_and_saved(shell: Tool, tmp_path: Path) -> None:
    data = call_tool(shell, command="seq 1 300000").data
    assert len(data) <= 20_000
    assert data.startswith("1\n2\n")
    assert data.endswith("299999\n300000\n")
    (saved,) = (tmp_path / "spill").iterdir()
    assert str(saved) in data
    assert saved.read_text() == "".join(f"{number}\n" for number in range(1, 300_001))


def test_no_descriptor_is_left_open(shell: Tool) -> None:
    def descriptors() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    call_tool(shell, command="true")
    before = descriptors()
    for _ in range(10):
        call_tool(shell, command="sleep 60 & echo hi")
    assert descriptors() == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"command": " "}, "command is empty"),
        ({"command": "echo a\0b"}, "embedded null byte"),
        ({"command": "x" * 200_000}, "Argument list too long"),
        ({"command": "ls", "timeout_s": 0}, "'timeout_s' must be more than 0"),
        ({"command": "ls", "timeout_s": "5"}, "'timeout_s' must be a number"),
        ({}, "'command' is missing"),
    ],
)
def test_what_cannot_be_run_is_refused_in_words(shell: Tool, arguments: dict[str, object], words: str) -> None:
    assert words in call_tool(shell, **arguments).serialize()


def test_a_folder_that_is_gone_is_told(tmp_path: Path) -> None:
    assert "No such file" in call_tool(make_shell_tool(tmp_path / "gone"), command="ls").serialize()
