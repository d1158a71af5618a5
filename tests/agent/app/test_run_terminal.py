"""`run` where a person sits: the answer as it comes, and questions before supervised tools."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pexpect
import pytest
from command_line import Place
from loopback import Loopback, call, message

Wire = Callable[..., Loopback]
WRITE = call("file_write", {"path": "x.txt", "content": "1"})


def terminal(place: Place, *words: str) -> pexpect.spawn:
    command, *arguments = place.command(*words)
    return pexpect.spawn(
        command,
        arguments,
        cwd=str(place.cwd),
        env=place.environment(),
        encoding="utf-8",
        timeout=30,
        dimensions=(24, 90),
    )


@pytest.mark.parametrize(
    ("typed", "code", "written"), [("y", 0, True), ("n", 0, False), ("", 0, False), ("好", 0, True)]
)
def test_a_supervised_tool_asks_the_person(place: Place, wire: Wire, typed: str, code: int, written: bool) -> None:
    place.user_config('[security.tool_policy.tools]\nfile_write = "supervised"\n')
    wire(message(None, [WRITE]), message("Done, **so far**."))
    child = terminal(place, "run", "write x")
    child.expect_exact("file_write asks for your approval")
    child.expect_exact("path: x.txt")
    child.expect_exact("[a]lways ")
    child.sendline(typed)
    child.expect("Done")
    child.expect(pexpect.EOF)
    child.close()
    assert (child.exitstatus, (place.cwd / "x.txt").exists()) == (code, written)


def test_always_is_asked_once(place: Place, wire: Wire) -> None:
    place.user_config('[security.tool_policy.tools]\nfile_write = "supervised"\n')
    again = call("file_write", {"path": "y.txt", "content": "2"}, "call_2")
    wire(message(None, [WRITE]), message(None, [again]), message("Both."))
    child = terminal(place, "run", "write both")
    child.expect_exact("[a]lways ")
    child.sendline("a")
    child.expect("Both")
    child.expect(pexpect.EOF)
    assert (place.cwd / "y.txt").read_text() == "2"


def test_ctrl_c_at_the_question_ends_the_run(place: Place, wire: Wire) -> None:
    place.user_config('[security.tool_policy.tools]\nfile_write = "supervised"\n')
    wire(message(None, [WRITE]))
    child = terminal(place, "run", "write x")
    child.expect_exact("[a]lways ")
    child.sendintr()
    child.expect("interrupted")
    child.expect(pexpect.EOF)
    child.close()
    assert (child.exitstatus, (place.cwd / "x.txt").exists()) == (130, False)


def test_the_answer_is_shown_once_and_styled(place: Place, wire: Wire) -> None:
    wire(message("An answer with **weight**."))
    child = terminal(place, "run", "say it")
    child.expect(pexpect.EOF)
    shown = str(child.before)
    assert shown.count("An answer with") == 1
    assert "\x1b[1mweight" in shown
    assert "1 step" in shown


def test_quiet_in_a_terminal_is_the_answer_alone(place: Place, wire: Wire) -> None:
    wire(message("42"))
    child = terminal(place, "run", "-q", "say it")
    child.expect(pexpect.EOF)
    assert str(child.before) == "42\r\n"


def test_no_color_in_a_terminal_shows_no_escapes(place: Place, wire: Wire) -> None:
    place.env["NO_COLOR"] = "1"
    wire(message(None, [call("shell", {"command": "echo hi"})]), message("**bold**"))
    child = terminal(place, "run", "say it")
    child.expect(pexpect.EOF)
    assert "\x1b" not in str(child.before)


def test_a_person_is_asked_also_when_standard_input_is_a_pipe(place: Place, wire: Wire) -> None:
    place.user_config('[security.tool_policy.tools]\nfile_write = "supervised"\n')
    wire(message(None, [WRITE]), message("Done."))
    words = ["-c", 'echo context | "$@"', "sh", *place.command("run", "write x")]
    child = pexpect.spawn("/bin/sh", words, cwd=str(place.cwd), env=place.environment(), encoding="utf-8", timeout=30)
    child.expect_exact("[a]lways ")
    child.sendline("y")
    child.expect("Done")
    child.expect(pexpect.EOF)
    assert (place.cwd / "x.txt").exists()


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_the_terminal_is_open_for_the_time_of_a_question_only(place: Place, wire: Wire) -> None:
    place.user_config('[security.tool_policy.tools]\nfile_write = "supervised"\n')
    again = [call("file_write", {"path": "x.txt", "content": "1"}, f"call_{number}") for number in range(4)]
    wire(message(None, again), message("Done."))
    words = ["-c", 'exec "$@" < /dev/null', "sh", *place.command("run", "write x")]
    child = pexpect.spawn("/bin/sh", words, cwd=str(place.cwd), env=place.environment(), encoding="utf-8", timeout=30)
    for _ in again:
        child.expect_exact("[a]lways ")
        child.expect_exact("session: ")
        opened = [path.readlink().name for path in Path(f"/proc/{child.pid}/fd").iterdir()]
        child.sendline("n")
        assert opened.count("tty") == 1
    child.expect("Done")
    child.expect(pexpect.EOF)


def test_without_a_command_a_terminal_is_a_chat(place: Place) -> None:
    child = terminal(place, "--offline", "hello there")
    child.expect("built-in")
    child.sendeof()
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert os.WIFEXITED(child.status)


def test_a_task_is_a_task_in_a_terminal_too_where_a_flag_says_so(place: Place, wire: Wire) -> None:
    wire(message("42"))
    child = terminal(place, "what is it?", "--output-format", "json")
    child.expect_exact('"result": "42"')
    child.expect(pexpect.EOF)


def test_a_task_can_be_typed(place: Place, wire: Wire) -> None:
    server = wire(message("42"))
    child = terminal(place, "run")
    child.expect("Ctrl-D")
    child.sendline("what is it?")
    child.sendeof()
    child.expect("42")
    child.expect(pexpect.EOF)
    assert server.requests[0].messages[-1]["content"] == "what is it?\n"
