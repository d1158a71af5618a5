from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from chat_stage import Stage
from command_line import Place
from loopback import Loopback, message

from agent import Completion, KeyRefused, ProviderFailed, Session, SessionUnavailable
from agent.app.exits import UsageProblem
from tools import Tool, ToolCall, ToolPolicy


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(tmp_path, monkeypatch)


def calls(name: str, arguments: str = "{}") -> Completion:
    return Completion(calls=(ToolCall("c1", name, arguments),), finish_reason="tool_calls")


def interrupt_self() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_each_line_is_a_turn_and_the_end_of_input_leaves_with_zero(stage: Stage) -> None:
    talk = stage.play("first", "二", script=["one", "两个"])

    assert (talk.code, talk.out, talk.err) == (0, "one\n两个\n", "")
    assert talk.sent == ["first", "二"]


def test_a_last_line_without_a_line_end_is_a_message_too(stage: Stage) -> None:
    assert stage.play("a\r", "b", ending=b"", script=["1", "2"]).sent == ["a", "b"]


def test_blank_lines_are_no_messages(stage: Stage) -> None:
    assert stage.play("", "   ", "x", script=["1"]).sent == ["x"]


def test_bytes_that_are_no_utf8_are_replaced_and_sent(stage: Stage) -> None:
    assert stage.play(b"caf\xe9 ol\xe9", script=["ok"]).sent == ["caf\ufffd ol\ufffd"]


def test_a_message_of_a_megabyte_arrives_whole(stage: Stage) -> None:
    assert stage.play("x" * 1_000_000, script=["ok"]).sent == ["x" * 1_000_000]


def test_the_first_message_is_sent_before_anything_is_read(stage: Stage) -> None:
    assert stage.play("two", first="one", script=["1", "2"]).sent == ["one", "two"]


def test_answers_go_to_stdout_and_tools_to_stderr_without_escapes(stage: Stage) -> None:
    def where() -> str:
        """Say where."""
        return "\x1b]52;c;evil\x07 here"

    stage.tools = [Tool(where)]
    talk = stage.play("go", script=[calls("where"), "**done** \x1b[2J [/x]"])

    assert talk.out == "**done** ␛[2J [/x]\n"
    assert talk.err.startswith("* where -> ␛]52;c;evil␇ here (")
    assert "\x1b" not in talk.out + talk.err


def test_a_failed_turn_is_one_sentence_and_the_chat_goes_on(stage: Stage) -> None:
    talk = stage.play("a", "b", script=[KeyRefused("The key was refused (401)", status=401), "fine"])

    assert (talk.code, talk.out) == (0, "fine\n")
    assert talk.err == "Error: The key was refused (401)\n"


def test_an_unforeseen_error_shows_its_kind_and_no_traceback(stage: Stage) -> None:
    talk = stage.play("a", "b", script=["fine", ZeroDivisionError("oh")])

    assert (talk.code, talk.out) == (1, "fine\n")
    assert talk.err == "Internal error: ZeroDivisionError: oh (-v shows where)\n"


def test_quiet_leaves_the_answers_and_what_went_wrong(stage: Stage) -> None:
    def look() -> str:
        """Look."""
        return "seen"

    stage.tools, stage.quiet = [Tool(look)], True
    talk = stage.play("a", "b", script=[calls("look"), "one", ProviderFailed("down", status=400)])

    assert (talk.out, talk.err) == ("one\n", "Error: down\n")


def test_verbose_shows_where_and_no_key(stage: Stage) -> None:
    stage.monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    stage.verbose = 1
    talk = stage.play("a", script=[ZeroDivisionError("with sk-very-secret")])

    assert "Traceback" in talk.err
    assert "sk-very-secret" not in talk.err


def test_the_code_is_that_of_the_last_turn(stage: Stage) -> None:
    failures = [KeyRefused("no key", status=401), "fine", ProviderFailed("down", status=400)]

    assert stage.play("a", "b", "c", script=failures).code == 4


def test_an_answer_that_broke_off_is_not_on_stdout(stage: Stage) -> None:
    async def breaks(messages: object, tools: object) -> Completion:
        raise ProviderFailed("dropped", retryable=True)

    talk = stage.play("a", script=[breaks, "whole"])

    assert talk.out == "whole\n"


def test_nobody_can_approve_on_a_pipe(stage: Stage) -> None:
    ran: list[str] = []

    def shell(command: str) -> str:
        """Run."""
        ran.append(command)
        return "ran"

    stage.tools, stage.policy = [Tool(shell)], ToolPolicy({"shell": "supervised"})
    talk = stage.play("go", script=[calls("shell", '{"command": "ls"}'), "well"])

    assert ran == []
    assert "approval that nobody could give" in talk.err
    assert talk.code == 7
    assert "approval was not given" in talk.model.requests[1].messages[-1]["content"]


def test_what_nobody_approved_is_told_with_its_own_turn(stage: Stage) -> None:
    def shell(command: str) -> str:
        """Run."""
        return "ran"

    stage.tools, stage.policy = [Tool(shell)], ToolPolicy({"shell": "supervised"})
    script = [calls("shell", '{"command": "ls"}'), ProviderFailed("down", status=400), "fine"]
    talk = stage.play("go", "again", script=script)

    assert talk.err.index("nobody could give") < talk.err.index("down")
    assert talk.code == 0


def test_yes_answers_for_nobody(stage: Stage) -> None:
    def shell(command: str) -> str:
        """Run."""
        return f"ran {command}"

    stage.tools, stage.policy, stage.more = [Tool(shell)], ToolPolicy({"shell": "supervised"}), {"yes": True}
    talk = stage.play("go", script=[calls("shell", '{"command": "ls"}'), "well"])

    assert talk.model.requests[1].messages[-1]["content"] == "ran ls"


def test_ctrl_c_stops_the_turn_keeps_what_was_said_and_the_chat_goes_on(stage: Stage) -> None:
    async def wait() -> str:
        """Wait for ever."""
        asyncio.get_running_loop().call_later(0.01, interrupt_self)
        await asyncio.sleep(60)
        return "never"

    stage.tools = [Tool(wait)]
    talk = stage.play("go", "again", script=[calls("wait"), "here again"])

    assert (talk.code, talk.out) == (0, "here again\n")
    assert "Interrupted.\n" in talk.err
    assert [m["role"] for m in talk.model.requests[1].messages][:4] == ["system", "user", "assistant", "tool"]


def test_a_second_ctrl_c_does_not_break_the_cleaning_up(stage: Stage) -> None:
    cleaned: list[str] = []

    async def wait() -> str:
        """Wait for ever."""
        asyncio.get_running_loop().call_later(0.01, interrupt_self)
        try:
            await asyncio.sleep(60)
        finally:
            interrupt_self()
            await asyncio.sleep(0.05)
            cleaned.append("yes")
        return "never"

    stage.tools = [Tool(wait)]

    assert stage.play("go", "again", script=[calls("wait"), "on"]).out == "on\n"
    assert cleaned == ["yes"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_the_chat_with_its_code_and_a_valid_session(stage: Stage, number: int, code: int) -> None:
    stopped: list[str] = []

    async def wait() -> str:
        """Wait for ever."""
        asyncio.get_running_loop().call_later(0.01, os.kill, os.getpid(), number)
        try:
            await asyncio.sleep(60)
        finally:
            stopped.append("yes")
        return "never"

    stage.tools = [Tool(wait)]
    talk = stage.play("go", "never sent", script=[calls("wait")])

    assert (talk.code, stopped, len(talk.model.requests)) == (code, ["yes"], 1)
    (path,) = stage.sessions.glob("*.jsonl")
    session = Session.open(path)
    assert [message["role"] for message in session.messages][:3] == ["user", "assistant", "tool"]
    session.close()


def test_the_handlers_of_before_are_there_again_afterwards(stage: Stage) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCONT)]
    stage.play("x", script=["y"])

    assert before == [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCONT)]


def test_a_reader_that_left_ends_a_piped_chat_quietly(place: Place) -> None:
    talk = place.start("chat", "--offline", stdin=subprocess.PIPE)
    assert talk.stdin is not None
    assert talk.stdout is not None
    talk.stdout.close()
    talk.stdin.write(b"hello\n")
    talk.stdin.flush()

    assert talk.wait(timeout=30) == 141
    assert talk.stderr is not None
    assert talk.stderr.read() == b""
    talk.stdin.close()
    talk.stderr.close()


def test_another_model_keeps_the_cache_key_of_the_talk(place: Place, wire: Callable[..., Loopback]) -> None:
    server = wire(message("1"), message("2"))
    talk = place.start("chat", stdin=subprocess.PIPE)
    talk.communicate(b"one\n/model other\ntwo\n", timeout=30)
    first, second = (request.data for request in server.requests)

    assert [first["model"], second["model"]] == ["test-model", "other"]
    assert first["prompt_cache_key"] == second["prompt_cache_key"]
    assert first["prompt_cache_key"]


def test_closed_standard_input_is_one_sentence_that_names_it(stage: Stage) -> None:
    stage.monkeypatch.setattr("sys.stdin", None)
    from agent.app.chat_parts import ChatParts
    from agent.app.output import Output
    from agent.app.repl import run_chat

    parts = ChatParts(Output(None, None), stage.cwd, None, None, None)  # type: ignore[arg-type]  # none is reached
    with pytest.raises(UsageProblem, match="stdin"):
        run_chat(parts)


def test_a_session_that_cannot_be_opened_ends_the_chat(stage: Stage) -> None:
    def busy() -> Session:
        raise SessionUnavailable("Session x is in use by another process")

    with pytest.raises(SessionUnavailable, match="in use"):
        stage.play("x", session=busy)


def test_what_was_wrong_with_a_session_is_told(stage: Stage) -> None:
    stage.play("first", script=["one"])
    (path,) = stage.sessions.glob("*.jsonl")
    path.write_bytes(path.read_bytes() + b"\0\0\0\n")

    talk = stage.play("second", script=["two"], session=lambda: Session.open(path))

    assert "damaged" in talk.err
    assert [m["content"] for m in talk.model.requests[0].messages[1:]] == ["first", "one", "second"]


def test_a_named_file_goes_with_the_message(stage: Stage) -> None:
    (stage.cwd / "说明.txt").write_text("内容\n", encoding="utf-8")
    talk = stage.play("read @说明.txt please", script=["ok"])

    assert talk.sent == ['read @说明.txt please\n\n<file path="说明.txt">\n内容\n\n</file>']


def test_an_exclamation_mark_on_a_pipe_is_text(stage: Stage) -> None:
    assert stage.play("!touch made", script=["ok"]).sent == ["!touch made"]
    assert not (stage.cwd / "made").exists()


def test_events_of_the_turn_reach_the_screen_in_order(stage: Stage) -> None:
    def look() -> str:
        """Look."""
        return "seen"

    stage.tools = [Tool(look)]
    script = [Completion("Let me look.", (ToolCall("c1", "look", "{}"),), "tool_calls"), "Done."]
    talk = stage.play("go", script=script)

    assert talk.out == "Let me look.\nDone.\n"
    assert talk.err.startswith("* look -> seen (")
