"""The program as a process: its entry, its streams and the signals that end it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest
from command_line import Place, wait_until
from loopback import Loopback, call, message

Wire = Callable[..., Loopback]

SLEEP = call("shell", {"command": "sleep 321.5"})


def sleeping(place: Place) -> list[str]:
    """The processes that sleep in the place's folder."""
    found = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout
    lines = [line.split(maxsplit=1) for line in found.splitlines() if "sleep 321.5" in line and "ps -eo" not in line]
    return [pid for pid, _ in lines if _folder(pid) == str(place.cwd)]


def _folder(pid: str) -> str:
    try:
        return str(Path(f"/proc/{pid}/cwd").readlink())
    except OSError:
        return ""


def test_the_version_is_that_of_the_package(place: Place) -> None:
    done = place.process("--version")
    assert (done.code, done.out, done.err) == (0, f"my-agent {version('my-agent-core')}\n", "")


@pytest.mark.parametrize("words", [["--help"], ["help"], ["-q", "-h"]])
def test_help_is_help(place: Place, words: list[str]) -> None:
    done = place.run(*words)
    assert done.code == 0
    assert "chat" in done.out


@pytest.mark.parametrize("words", [["memory"], ["memory", "--help"]])
def test_a_group_shows_its_commands(place: Place, words: list[str]) -> None:
    assert "  reindex " in place.run(*words).out


def test_the_help_of_a_command_shows_its_flags(place: Place) -> None:
    done = place.run("memory", "search", "--help")
    assert done.code == 0
    assert all(word in done.out for word in ("--layer", "--memory-dir", "QUERY"))


def test_a_shell_gets_completions(place: Place) -> None:
    place.env |= {"_MY_AGENT_COMPLETE": "complete_bash", "COMP_WORDS": "my-agent memory l", "COMP_CWORD": "2"}
    done = place.process()
    assert (done.code, done.out.split()) == (0, ["list", "log"])


def test_completion_loads_no_model_client(place: Place) -> None:
    place.env |= {"_MY_AGENT_COMPLETE": "complete_bash", "COMP_WORDS": "my-agent r", "COMP_CWORD": "1"}
    place.env |= {"PYTHONPROFILEIMPORTTIME": "1"}
    loaded = place.process().err
    assert "| agent.app" in loaded.replace("  ", " ").replace("  ", " ")
    assert not any(f" {name}\n" in loaded for name in ("openai", "tiktoken", "prompt_toolkit", "rich"))


def test_a_prompt_in_a_pipe_is_a_task(place: Place, wire: Wire) -> None:
    server = wire(message("42"), message("43"))
    assert place.process("what is it?", stdin="").out == "42\n"
    assert place.process(stdin="what is it then?").out == "43\n"
    assert [request.messages[-1]["content"] for request in server.requests] == ["what is it?", "what is it then?"]


def test_what_is_piped_in_is_context(place: Place, wire: Wire) -> None:
    server = wire(message("A division."), message("ok"))
    assert place.process("run", "why did this fail?", stdin="Traceback: ZeroDivisionError\n").code == 0
    assert place.process("run", "why?", "--no-stdin", stdin="noise").code == 0
    said = server.requests[0].messages[-1]["content"]
    assert said == "why did this fail?\n\n<stdin>\nTraceback: ZeroDivisionError\n</stdin>"
    assert server.requests[1].messages[-1]["content"] == "why?"


def test_what_is_not_utf8_is_replaced_and_said(place: Place, wire: Wire) -> None:
    server = wire(message("ok"), message("ok"))
    done = place.process("run", "-", stdin=b"caf\xe9")
    assert "not UTF-8" in done.err
    told = subprocess.run(
        [*place.command("run"), b"caf\xe9"],
        cwd=place.cwd,
        env=place.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    assert b"not UTF-8" in told.stderr
    assert [request.messages[-1]["content"] for request in server.requests] == ["caf\ufffd"] * 2


def test_a_megabyte_of_task_arrives(place: Place, wire: Wire) -> None:
    server = wire(message("ok"))
    place.env |= {"MY_AGENT_AGENT_CONTEXT_BUDGET": "2000000"}
    assert place.process("run", "-", stdin="x" * 2**20).code == 0
    assert server.requests[0].messages[-1]["content"] == "x" * 2**20


def test_a_reader_that_leaves_is_no_drama(place: Place, wire: Wire) -> None:
    wire(message("x\n" * 100_000))
    process = place.start("run", "long")
    assert process.stdout is not None
    assert process.stdout.readline() == b"x\n"
    process.stdout.close()
    process.stdout = None
    done = place.finish(process)
    assert done.code == 141
    assert "Error" not in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_drama(place: Place, closed: str) -> None:
    line = f'exec "$@" {closed}'
    words = ["/bin/sh", "-c", line, "sh", *place.command("run", "--offline", "hi")]
    done = subprocess.run(words, cwd=place.cwd, env=place.environment(), capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("number", "code", "kind"),
    [
        (signal.SIGTERM, 143, "terminated"),
        (signal.SIGHUP, 129, "terminated"),
        (signal.SIGINT, 130, "interrupted"),
    ],
)
def test_a_signal_ends_the_tools_and_is_reported(place: Place, number: int, code: int, kind: str, wire: Wire) -> None:
    wire(message(None, [SLEEP]))
    process = place.start("run", "--json", "wait")
    try:
        wait_until(lambda: sleeping(place))
        process.send_signal(number)
        done = place.finish(process)
    finally:
        process.kill()
    assert (done.code, done.json["exit_code"], done.json["error"]["kind"]) == (code, code, kind)
    wait_until(lambda: not sleeping(place))
    saved = (place.home / ".local/share/my-agent/sessions" / f"{done.json['session']}.jsonl").read_text()
    assert "Interrupted" in saved or "interrupted" in saved


def test_a_signal_while_standard_input_is_awaited_is_reported(place: Place) -> None:
    out, into = os.pipe()
    process = place.start("run", "--json", "-", stdin=out)
    os.close(out)
    try:
        # It reads as soon as a byte is there, so what was written is gone when the pipe is empty
        os.write(into, b"x")
        wait_until(lambda: _waits(process.pid))
        process.terminate()
        done = place.finish(process)
    finally:
        os.close(into)
        process.kill()
    assert (done.code, done.json["error"]["kind"]) == (143, "terminated")


def _waits(pid: int) -> bool:
    """The process has its handler and sleeps in a read."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:  # noqa: PTH123
        fields = dict(line.split(":", 1) for line in file)
    caught = int(fields["SigCgt"], 16)
    return bool(caught >> (signal.SIGTERM - 1) & 1) and fields["State"].strip().startswith("S")


def test_no_signal_that_the_parent_ignores_ends_it(place: Place, wire: Wire) -> None:
    server = wire(message("done", delay_s=1.5))
    words = ["/bin/sh", "-c", "trap '' HUP; exec \"$@\"", "sh", *place.command("run", "hi")]
    process = subprocess.Popen(
        words, cwd=place.cwd, env=place.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    )
    server.wait_until(lambda: server.requests)
    process.send_signal(signal.SIGHUP)
    assert process.communicate(timeout=60)[0] == b"done\n"


def test_an_internal_error_is_a_sentence(place: Place) -> None:
    code = (
        "import agent.app.oneshot, agent.app.main, sys\n"
        "agent.app.oneshot.load_config = lambda options: 1 / 0\n"
        "sys.argv[1:] = ['run', 'hi']\n"
        "agent.app.main.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=place.cwd,
        env=place.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "internal error: ZeroDivisionError: division by zero" in done.stderr
    assert "Traceback" not in done.stderr


def test_events_that_nobody_reads_end_the_turn(place: Place, wire: Wire) -> None:
    server = wire(message(None, [call("shell", {"command": "head -c 100000 /dev/zero | tr '\\0' x"})]), message("more"))
    process = place.start("run", "--output-format", "stream-json", "x")
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    assert place.finish(process).code == 141
    assert len(server.requests) <= 1


def test_a_flag_of_run_alone_makes_a_prompt_a_task(place: Place, wire: Wire) -> None:
    wire(message("42"))
    assert place.process("--json", "what is it?").json["result"] == "42"


@pytest.mark.parametrize("form", [[], ["--json"], ["--output-format", "stream-json"]])
def test_a_full_disk_behind_stdout_is_told_in_a_sentence(place: Place, wire: Wire, form: list[str]) -> None:
    wire(*[message("hello")] * 2)
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = place.finish(place.start("run", "hi", *form, stdout=full))
    assert done.code == 8
    assert "No space left" in done.err
    assert "Traceback" not in done.err


def test_a_reader_who_leaves_a_stream_of_events_is_no_news(place: Place, wire: Wire) -> None:
    wire(message("hello"))
    process = place.start("run", "hi", "--output-format", "stream-json")
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr is not None
    said = process.stderr.read().decode()
    assert process.wait(20) == 141
    assert "Cancelled" not in said


@pytest.mark.parametrize("word", ["-x", "--json", "--help"])
def test_behind_two_dashes_everything_is_text(place: Place, wire: Wire, word: str) -> None:
    server = wire(message("fine"))
    assert place.process("run", "--", word).out == "fine\n"
    assert server.requests[0].messages[-1]["content"] == word


@pytest.mark.parametrize(("env", "words"), [({}, ["--timeout", "nan"]), ({"MY_AGENT_NOW": "yesterday"}, [])])
def test_a_time_that_is_none_is_a_wrong_line(place: Place, env: dict[str, str], words: list[str]) -> None:
    place.env |= env
    done = place.process("run", "hi", "--offline", *words)
    assert done.code == 2
    assert "internal" not in done.err
