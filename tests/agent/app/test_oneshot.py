"""`run`: the answer on stdout, the rest on stderr, and an exit code that says how it went."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest
from command_line import KEY, Place
from loopback import Answer, call, deltas, http, message

USAGE = {"prompt_tokens": 50, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 32}}
ECHO = call("shell", {"command": "echo hi"})


def test_the_answer_alone_is_on_stdout(place: Place, wire: Any) -> None:
    wire(message("let me see", [ECHO]), message("It says **hi**.", usage=USAGE))
    done = place.run("run", "what does it say?")
    assert (done.code, done.out) == (0, "It says **hi**.\n")
    assert "* shell echo hi -> " in done.err
    assert re.search(r"50 tokens in \(32 cached\), 2 out, 2 steps, \d", done.err)


def test_quiet_leaves_stderr_empty(place: Place, wire: Any) -> None:
    wire(message(None, [ECHO]), message("42"))
    done = place.run("run", "-q", "answer?")
    assert (done.code, done.out, done.err) == (0, "42\n", "")


def test_escapes_of_the_model_are_defused(place: Place, wire: Any) -> None:
    wire(message("a \x1b]52;c;x\x07 [bold]b[/bold] app/[id].tsx"))
    assert place.run("run", "x").out == "a ␛]52;c;x␇ [bold]b[/bold] app/[id].tsx\n"


def test_json_is_one_object_with_everything(place: Place, wire: Any) -> None:
    wire(message(None, [ECHO]), message("hi", usage=USAGE))
    found = place.run("run", "--json", "say hi").json
    assert found["result"] == "hi"
    assert (found["exit_code"], found["finish_reason"], found["steps"], found["error"]) == (0, "stop", 2, None)
    assert found["usage"]["prompt_tokens"] == 50
    assert found["usage"]["cached_tokens"] == 32
    assert (found["memory_writes"], found["model"]) == ([], "test-model")
    assert (place.home / ".local/share/my-agent/sessions" / f"{found['session']}.jsonl").exists()


def test_memory_writes_are_reported(place: Place, wire: Any) -> None:
    place.with_memory()
    write = {"action": "add", "target": "user", "content": "Likes tea"}
    wire(message(None, [call("memory", write)]), message("Noted."))
    assert place.run("run", "--json", "note it").json["memory_writes"] == [{"tool": "memory", **write}]


def test_stream_json_is_one_event_a_line_and_the_outcome_last(place: Place, wire: Any) -> None:
    wire(message("look", [ECHO]), message("hi"))
    done = place.run("run", "--output-format", "stream-json", "x")
    events = [json.loads(line) for line in done.out.splitlines()]
    assert [event["type"] for event in events] == [
        *("step", "text", "tool_started", "tool_finished", "step", "text", "result"),
    ]
    assert events[2] == {"type": "tool_started", "id": "call_1", "name": "shell", "arguments": '{"command": "echo hi"}'}
    assert events[-1]["result"] == "hi"


@pytest.mark.parametrize(
    ("answer", "code", "kind"),
    [
        (http(401, {"error": {"message": f"Incorrect API key provided: {KEY}"}}), 3, "auth"),
        (http(403, {"error": {"message": "no"}}), 3, "auth"),
        (http(500, {"error": {"message": "down"}}), 4, "provider"),
        (http(200, "<html>login</html>", headers={"Content-Type": "text/html"}), 4, "provider"),
        (http(400, {"error": {"message": "messages.1 is odd"}}), 5, "refused"),
        (http(400, {"error": {"message": "too long", "code": "context_length_exceeded"}}), 5, "context"),
    ],
)
def test_a_failure_has_its_code_and_its_kind(place: Place, wire: Any, answer: Answer, code: int, kind: str) -> None:
    wire(answer)
    done = place.run("run", "--json", "--max-retries", "0", "hi")
    assert (done.code, done.json["exit_code"], done.json["error"]["kind"]) == (code, code, kind)
    assert done.json["result"] == ""
    assert KEY not in done.out + done.err
    assert "Traceback" not in done.err


def test_a_failure_leaves_stdout_empty(place: Place, wire: Any) -> None:
    wire(http(400, {"error": {"message": "messages.1 is odd"}}))
    done = place.run("run", "hi")
    assert (done.code, done.out) == (5, "")
    assert "messages.1 is odd" in done.err


def test_an_empty_answer_is_a_failure(place: Place, wire: Any) -> None:
    wire(message(""), message(""))
    done = place.run("run", "--json", "hi")
    assert (done.code, done.json["error"]["kind"]) == (4, "empty")


def test_a_truncated_answer_is_printed_and_said(place: Place, wire: Any) -> None:
    wire(deltas([{"content": "First, second and thi"}], "length"))
    done = place.run("run", "list three things")
    assert (done.code, done.out) == (6, "First, second and thi\n")
    assert "truncated" in done.err


def test_the_step_limit_ends_with_a_last_word(place: Place, wire: Any) -> None:
    wire(message(None, [ECHO]), message("So far: hi"))
    done = place.run("run", "--max-steps", "1", "--json", "count")
    assert (done.code, done.json["finish_reason"], done.json["result"]) == (6, "limit", "So far: hi")
    assert done.json["error"]["kind"] == "limit"


def test_an_approval_that_nobody_gives_is_a_no_and_exit_7(place: Place, wire: Any) -> None:
    place.user_config('[security.tool_policy.tools]\nfile_write = "supervised"\n')
    write = call("file_write", {"path": "x.txt", "content": "1"})
    wire(message(None, [write]), message("I could not."))
    done = place.run("run", "--json", "write x")
    assert (done.code, done.json["error"]["kind"], done.json["result"]) == (7, "approval", "I could not.")
    assert "file_write needed an approval" in done.json["error"]["message"]
    assert not (place.cwd / "x.txt").exists()


def test_a_denied_call_is_told_also_where_the_answer_is_cut(place: Place, wire: Any) -> None:
    place.user_config('[security.tool_policy.tools]\nfile_write = "supervised"\n')
    write = call("file_write", {"path": "x.txt", "content": "1"})
    wire(message(None, [write]), deltas([{"content": "I could n"}], "length"))
    done = place.run("run", "write x")
    assert done.code == 7
    assert "--allow file_write" in done.err


@pytest.mark.parametrize(
    ("flags", "code", "written"),
    [(["-y"], 0, True), (["--allow", "file_write"], 0, True), (["-y", "--deny", "file_write"], 0, False)],
)
def test_flags_answer_for_the_person(place: Place, wire: Any, flags: list[str], code: int, written: bool) -> None:
    place.user_config('[security.tool_policy]\ndefault = "supervised"\n')
    wire(message(None, [call("file_write", {"path": "x.txt", "content": "1"})]), message("Done."))
    done = place.run("run", *flags, "write x")
    assert (done.code, (place.cwd / "x.txt").exists()) == (code, written)


def test_the_time_limit_covers_a_silent_server(place: Place, wire: Any) -> None:
    wire(message("late", delay_s=30))
    done = place.run("run", "--json", "--timeout", "0.5", "hi")
    assert (done.code, done.json["error"]["kind"]) == (124, "timeout")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run"], "empty"),
        (["run", "  "], "empty"),
        (["run", "-"], "empty"),
        (["run", "hi", "--timeout", "0"], "--timeout 0"),
        (["run", "hi", "--output-format", "xml"], "'xml' is unknown; choose text, json, stream-json"),
        (["run", "hi", "--fork"], "--resume ID"),
        (["run", "hi", "-c", "-r", "x"], "exclude each other"),
        (["run", "hi", "--no-session", "-c"], "--no-session"),
        (["run", "hi", "-c"], "no session to continue"),
        (["run", "hi", "--tools", "file_read,fly"], "no tool 'fly'"),
        (["run", "hi", "there"], "'there' is one word too many"),
        (["run", "hi", "--no-such-flag"], "--no-such-flag"),
        (["run", "hi", "--max-steps", "x"], "--max-steps"),
        (["run", "hi", "--max-steps", "0"], "agent.max_steps"),
        (["run", "hi", "--max-retries", "-1"], "between 0 and 20"),
    ],
)
def test_a_wrong_line_ends_with_2_and_no_request(place: Place, wire: Any, words: Sequence[str], said: str) -> None:
    server = wire()
    done = place.run(*words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert server.requests == []


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (["hi", "--output-format", "text"], "usage"),
        (["hi", "--no-such-flag"], "usage"),
        (["hi", "--profile", "none"], "config"),
        ([""], "usage"),
    ],
)
def test_wrong_lines_are_told_in_json_too(place: Place, words: list[str], kind: str) -> None:
    done = place.run("run", "--json", *words)
    assert (done.code, done.json["exit_code"], done.json["error"]["kind"]) == (2, 2, kind)


def test_a_key_that_is_missing_is_named(place: Place) -> None:
    done = place.run("run", "--json", "-m", "gpt", "hi")
    assert (done.code, done.json["error"]["kind"]) == (3, "auth")
    assert "OPENAI_API_KEY" in done.err


def test_a_session_is_saved_and_gone_on_with(place: Place, wire: Any) -> None:
    server = wire(message("one"), message("two"), message("three"), message("four"))
    first = place.run("run", "--json", "first").json["session"]
    assert place.run("run", "--json", "-r", first[:-2], "second").json["session"] == first
    assert place.run("run", "--json", "-c", "third").json["session"] == first
    copy = place.run("run", "--json", "-c", "--fork", "fourth").json["session"]
    assert copy != first
    said = [m["content"] for m in server.requests[3].messages if m["role"] == "user"]
    assert said == ["first", "second", "third", "fourth"]


def test_without_a_session_nothing_is_written(place: Place, wire: Any) -> None:
    wire(message("one"))
    assert place.run("run", "--json", "--no-session", "hi").json["session"] is None
    assert not list(place.home.rglob("*.jsonl"))


def test_continue_takes_the_last_session_of_this_folder(place: Place, wire: Any) -> None:
    wire(message("a"), message("b"), message("c"))
    (place.cwd / "other").mkdir()
    here = place.run("run", "--json", "here").json["session"]
    place.run("run", "--json", "-C", "other", "there")
    assert place.run("run", "--json", "-c", "again").json["session"] == here


def test_continue_passes_over_a_file_that_holds_no_session(place: Place, wire: Any) -> None:
    wire(message("a"), message("b"))
    place.with_memory()
    here = place.run("run", "--json", "here").json["session"]
    (place.cwd / ".my_agent_core/sessions/29990101-000000-b.jsonl").touch()  # as a full disk leaves one
    assert place.run("run", "--json", "-c", "again").json["session"] == here


def test_continue_passes_over_a_session_without_a_message(place: Place, wire: Any) -> None:
    wire(message("a"), message("b"))
    here = place.run("run", "--json", "here").json["session"]
    folder = place.home / ".local/share/my-agent/sessions"
    header = (folder / f"{here}.jsonl").read_text(encoding="utf-8").partition("\n")[0]
    (folder / "29990101-000000-b.jsonl").write_text(f"{header}\n", encoding="utf-8")
    assert place.run("run", "--json", "-c", "again").json["session"] == here


def test_the_folder_of_work_can_be_chosen(place: Place, wire: Any) -> None:
    (place.cwd / "inner").mkdir()
    wire(message(None, [call("file_write", {"path": "x.txt", "content": "1"})]), message("Done."))
    assert place.run("run", "-C", "inner", "write").code == 0
    assert (place.cwd / "inner" / "x.txt").read_text() == "1"


def test_only_the_chosen_tools_are_offered(place: Place, wire: Any) -> None:
    place.with_memory(MEMORY="a fact")
    server = wire(message("a"), message("b"))
    place.run("run", "--tools", "file_read,shell", "hi")
    assert [tool["function"]["name"] for tool in server.requests[0].data["tools"]] == ["file_read", "shell"]
    place.run("run", "--tools", "", "hi")
    assert not server.requests[1].data.get("tools")
    assert "a fact" in server.requests[1].messages[0]["content"]


def test_tools_that_an_old_session_used_are_missed(place: Place, wire: Any) -> None:
    wire(message(None, [ECHO]), message("one"), message("two"))
    session = place.run("run", "--json", "one").json["session"]
    done = place.run("run", "-r", session, "--tools", "file_read", "two")
    assert "used tools that are not there now: shell" in done.err


def test_agents_files_are_read_once_outermost_first(place: Place, wire: Any) -> None:
    (place.cwd / ".git").mkdir()
    (place.cwd / "sub").mkdir()
    (place.cwd / "AGENTS.md").write_text("ROOT RULE " + "x" * 40_000, encoding="utf-8")
    (place.cwd / "sub" / "AGENTS.md").write_text("SUB RULE", encoding="utf-8")
    place.user_config('[agent]\ninstructions = "MY RULE"\n')
    server = wire(message("ok"))
    place.run("run", "-C", "sub", "hi")
    system = server.requests[0].messages[0]["content"]
    assert system.index("MY RULE") < system.index("ROOT RULE") < system.index("SUB RULE")
    assert "characters of AGENTS.md left out" in system
    assert system.count("SUB RULE") == 1


def test_settings_reach_the_request(place: Place, wire: Any) -> None:
    place.user_config("[provider]\nextra_body = {temperature = 0.5}\n[agents]\nmax_agents = 0\n")
    server = wire(message("ok"))
    place.run("run", "-m", "other", "hi")
    assert server.requests[0].data["model"] == "other"
    assert server.requests[0].data["temperature"] == 0.5
    assert "task" not in {tool["function"]["name"] for tool in server.requests[0].data["tools"]}


def test_warnings_of_the_configuration_are_told(place: Place, wire: Any) -> None:
    place.user_config("[memory]\nbackand = 1\n")
    wire(message("ok"), message("ok"))
    assert "memory.backand" in place.run("run", "hi").err
    assert place.run("run", "-q", "hi").err == ""


def test_the_embedded_rules_remember_without_a_model(place: Place) -> None:
    place.with_memory()
    assert place.run("run", "remember that this project runs its tests with pytest").code == 0
    assert "pytest" in (place.memory_dir / "MEMORY.md").read_text(encoding="utf-8")
    assert "pytest" in place.run("run", "--offline", "what do you know about pytest?").out


def test_a_memory_folder_that_is_a_file_is_a_clear_error(place: Place) -> None:
    (place.cwd / "mem").write_text("x")
    done = place.run("run", "--offline", "--memory-dir", "mem", "remember that I like tea")
    assert "Traceback" not in done.err
    assert "mem" in done.err
