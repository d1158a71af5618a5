from __future__ import annotations

import os
import re
import signal
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from command_line import Place, wait_until
from loopback import Answer, Loopback, call, deltas, message
from terminal_stage import Terminal

Open = Callable[..., tuple[Terminal, Loopback]]


@pytest.fixture
def chat(place: Place) -> Iterator[Open]:
    """Open a chat on a terminal, with a server that gives these answers; returns when its prompt is there."""
    with ExitStack() as stack:

        def start(*answers: Answer, words: tuple[str, ...] = (), **env: str) -> tuple[Terminal, Loopback]:
            server = stack.enter_context(Loopback(answers))
            place.env |= {"OPENAI_API_KEY": "sk-test-0000", "OPENAI_BASE_URL": server.url, "OPENAI_MODEL": "m", **env}
            command = place.command("chat", *words)
            terminal = stack.enter_context(Terminal(command, cwd=place.cwd, env=place.environment()))
            terminal.wait_for("model: m")
            terminal.wait_for_prompt()
            return terminal, server

        yield start


def last_message(server: Loopback) -> str:
    return str(server.requests[-1].messages[-1]["content"])


def test_wide_characters_are_edited_and_a_paste_is_one_message(chat: Open) -> None:
    terminal, server = chat(message("**好** [/x]"))
    terminal.type("你好吗\x7f们 ")
    terminal.paste("a = 1\nb = 2")
    terminal.type("\r")
    terminal.wait_for("好 [/x]")
    terminal.wait_for_prompt()

    assert last_message(server) == "你好们 a = 1\nb = 2"
    assert "\x1b[1m好\x1b[0m [/x]" in terminal.raw.decode()


def test_enter_sends_and_alt_enter_or_ctrl_j_begin_a_line(chat: Open) -> None:
    terminal, server = chat(message("ok"))
    terminal.type("one\x1b\rtwo\nthree\r")
    terminal.wait_for("ok")

    assert last_message(server) == "one\ntwo\nthree"


def test_ctrl_c_clears_warns_and_leaves(chat: Open) -> None:
    terminal, _ = chat()
    terminal.type("half typed")
    terminal.wait_for("half typed")
    terminal.type("\x03")
    terminal.wait_for_prompt()
    terminal.type("\x03")
    terminal.wait_for("Ctrl-C again to leave")
    terminal.type("\x03")

    assert terminal.wait_for_end() == 0
    assert terminal.mode == terminal.mode_before


def test_a_signal_in_the_place_of_ctrl_c_means_the_same(chat: Open) -> None:
    terminal, _ = chat()
    os.kill(terminal.process.pid, signal.SIGINT)
    terminal.wait_for("Ctrl-C again to leave")
    os.kill(terminal.process.pid, signal.SIGINT)

    assert terminal.wait_for_end() == 0


def test_ctrl_d_leaves_and_gives_the_terminal_back(chat: Open) -> None:
    terminal, _ = chat()
    terminal.type("\x04")

    assert terminal.wait_for_end() == 0
    assert terminal.mode == terminal.mode_before


def test_ctrl_c_in_a_stream_keeps_what_was_said_and_the_next_message_works(chat: Open) -> None:
    stalled = deltas([{"content": "The answer begins "}, {"content": "here "}]).timed(stall_after=2)
    terminal, server = chat(stalled, message("Short."))
    terminal.type("explain\r")
    server.wait_until(lambda: server.requests)
    terminal.wait_for("writing")
    terminal.type("\x03")
    terminal.wait_for("Interrupted.")
    terminal.wait_for_prompt()
    server.wait_until(lambda: server.requests[0].hung_up)
    terminal.type("again\r")
    terminal.wait_for("Short.")

    assert "The answer begins here" in str(server.requests[1].messages[2]["content"])


def test_what_is_typed_during_a_turn_is_not_echoed_and_waits_for_the_prompt(chat: Open) -> None:
    terminal, server = chat(message("first", delay_s=0.6), message("second"))
    terminal.type("one\r")
    server.wait_until(lambda: server.requests)
    terminal.type("two\r")
    terminal.wait_for("second")

    assert last_message(server) == "two"
    assert sum("two" in line for line in terminal.lines) == 1


def test_an_approval_shows_the_call_and_waits_for_the_person(chat: Open) -> None:
    shell = call("shell", {"command": "echo made > made; echo done"})
    terminal, _ = chat(message(None, [shell]), message(None, [shell]), message("ok"), words=("--ask", "shell"))
    terminal.type("go\r")
    place = terminal.wait_for("Allow? [y]es, [n]o, [a]lways shell in this session:")
    assert "command: echo made > made; echo done" in terminal.text
    terminal.type("a\r")
    terminal.wait_for("ok", after=place)
    terminal.wait_for_prompt()

    assert terminal.text.count("shell asks for your approval") == 1
    assert terminal.text.count("● shell") == 2


def test_ctrl_c_at_an_approval_is_no_and_stops_the_turn(chat: Open) -> None:
    terminal, server = chat(message(None, [call("shell", {"command": "echo x > made"})]), words=("--ask", "shell"))
    terminal.type("go\r")
    terminal.wait_for("Allow?")
    terminal.type("\x03")
    terminal.wait_for("Interrupted.")
    terminal.wait_for_prompt()

    assert len(server.requests) == 1


def test_sigterm_kills_the_tools_gives_the_terminal_back_and_leaves_with_143(chat: Open, place: Place) -> None:
    terminal, _ = chat(message(None, [call("shell", {"command": "echo $$ > pid; exec sleep 60"})]))
    terminal.type("go\r")
    wait_until(lambda: (place.cwd / "pid").exists() and (place.cwd / "pid").read_text().strip())
    os.kill(terminal.process.pid, signal.SIGTERM)

    assert terminal.wait_for_end() == 143
    assert terminal.mode == terminal.mode_before
    pid = int((place.cwd / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_window_that_is_closed_ends_the_chat_with_129(chat: Open) -> None:
    terminal, _ = chat()
    terminal.hang_up()

    assert terminal.process.wait(timeout=20) == 129


def test_no_color_takes_colours_and_accents_away_and_leaves_the_editor(chat: Open) -> None:
    terminal, server = chat(message("**bold**"), NO_COLOR="1")
    terminal.type("one\x1b\rtwo\r")
    terminal.wait_for("**bold**")

    assert last_message(server) == "one\ntwo"
    assert not re.search(rb"\x1b\[[\d;]*[1-9][\d;]*m", terminal.raw)


def test_a_resize_prints_nothing_again(chat: Open) -> None:
    terminal, _ = chat(message("line\n" * 30))
    terminal.type("go\r")
    terminal.wait_for("line\n" * 3)
    terminal.wait_for_prompt()
    terminal.resize(50, 20)
    terminal.type("x")
    terminal.wait_for("x", after=len(terminal.text))
    terminal.resize(120, 40)
    terminal.type("y")
    terminal.wait_for("y", after=len(terminal.text))

    assert terminal.text.count("line") == 30


def test_a_dumb_terminal_gets_no_escape_and_can_approve(chat: Open) -> None:
    terminal, _ = chat(
        message(None, [call("shell", {"command": "echo hi"})]),
        message("# Title\n\ntext"),
        words=("--ask", "shell"),
        TERM="dumb",
    )
    terminal.type("go\n")
    terminal.wait_for("Allow?")
    terminal.type("y\n")
    terminal.wait_for("# Title")
    terminal.wait_for_prompt()
    terminal.type("\x03")
    terminal.wait_for("Ctrl-C again to leave")
    terminal.type("\x03")

    assert terminal.wait_for_end() == 0
    assert b"\x1b" not in terminal.raw
    assert "* shell echo hi -> hi" in terminal.text


def test_the_history_is_there_in_the_next_chat_and_private(chat: Open, place: Place) -> None:
    first, _ = chat(message("one"))
    first.type("remember whales\r")
    first.wait_for("one")
    first.wait_for_prompt()
    first.type("/exit\r")
    assert first.wait_for_end() == 0
    second, _ = chat()
    second.type("\x12whal")
    second.wait_for("remember whales")

    path = place.home / ".local/state/my-agent/history"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_tab_goes_down_into_the_only_folder_that_is_meant(chat: Open, place: Place) -> None:
    (place.cwd / "sources").mkdir()
    (place.cwd / "sources" / "only.txt").write_text("X")
    terminal, server = chat(message("seen"))
    terminal.type("@sou")
    terminal.wait_for_screen("sources/")
    terminal.type("\t")
    terminal.wait_for_screen("> @sources/")
    terminal.type("\t")
    terminal.wait_for_screen("> @sources/only.txt")
    terminal.type("\r")
    terminal.wait_for("seen")

    assert last_message(server).startswith("@sources/only.txt")


def test_a_command_of_the_person_runs_and_goes_with_the_next_message(chat: Open) -> None:
    terminal, server = chat(message("seen"))
    terminal.type("!!echo 'is 你好'; false\r")
    terminal.wait_for("(exit code 1)")
    terminal.wait_for_prompt()
    terminal.type("look\r")
    terminal.wait_for("seen")

    assert "ended with code 1. Its output:\n\nis 你好\n\n\nlook" in last_message(server)


def test_the_editor_of_the_person_writes_the_next_message(chat: Open, place: Place) -> None:
    editor = place.cwd / "editor"
    editor.write_text('#!/bin/sh\nprintf "%s and\\nmore\\n" "$(cat "$1")" > "$1"\n')
    editor.chmod(0o755)
    terminal, server = chat(message("ok"), EDITOR=str(editor))
    terminal.type("this\x18\x05")
    terminal.wait_for("this and")
    terminal.type("\r")
    terminal.wait_for("ok")

    assert last_message(server) == "this and\nmore"
