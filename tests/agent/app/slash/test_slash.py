from __future__ import annotations

import json
import os
import re
import signal
import threading
from pathlib import Path

import pytest
from chat_stage import Stage

from agent import Completion, Session, Usage
from tools import Tool, ToolCall, ToolPolicy


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(tmp_path, monkeypatch, memory=True)


def remembers(content: str) -> Completion:
    arguments = json.dumps({"action": "add", "target": "memory", "content": content})
    return Completion(calls=(ToolCall("c1", "memory", arguments),), finish_reason="tool_calls")


def test_commands_never_reach_the_model(stage: Stage) -> None:
    everything = (
        "/help",
        "/memory",
        "/tools",
        "/policy",
        "/cost",
        "/context",
        "/cache",
        "/sessions",
        "/doctor",
        "/nonsense",
    )
    talk = stage.play(*everything, "/undo", "/retry", "/compact", "/model", "/recall x", "/forget x", "/fork")

    assert talk.model.requests == []
    assert talk.code == 0


def test_ctrl_c_stops_the_wait_for_the_doctor(stage: Stage) -> None:
    def looks() -> str:
        os.kill(os.getpid(), signal.SIGINT)
        threading.Event().wait(0.5)
        return "late"

    stage.more = {"doctor": looks}
    talk = stage.play("/doctor", "/help")

    assert "Interrupted." in talk.err
    assert "/doctor" in talk.out
    assert "late" not in talk.out


def test_help_names_every_command(stage: Stage) -> None:
    from agent.app.slash.table import TABLE

    out = stage.play("/help").out
    assert all(f"/{command.name}" in out for command in TABLE)


def test_exit_leaves_and_what_follows_is_not_read(stage: Stage) -> None:
    assert stage.play("/exit", "hello").model.requests == []


def test_an_unknown_command_is_one_sentence(stage: Stage) -> None:
    assert stage.play("/memry").err == (
        "There is no command /memry, and nothing was sent. Did you mean /memory? /help lists the commands\n"
    )


def test_memory_shows_what_is_in_this_prompt_and_what_is_not_yet(stage: Stage) -> None:
    stage.memory_dir.mkdir()
    (stage.memory_dir / "MEMORY.md").write_text("Uses uv\n§\nOld fact", encoding="utf-8")
    talk = stage.play("note it", "/forget Old", "/memory", script=[remembers("Tests run with pytest"), "noted"])
    shown = talk.out

    assert f"Folder: {stage.memory_dir}" in shown
    assert re.search(r"MEMORY\.md +█░+ 31/2,200 characters", shown)
    assert "● Uses uv\n" in shown
    assert "○ Tests run with pytest\n" in shown
    assert "✗ Old fact\n" in shown


def test_a_new_talk_has_the_new_memory_and_nothing_of_the_old_talk(stage: Stage) -> None:
    talk = stage.play("note it", "/reset", "what?", script=[remembers("Builds with ninja"), "noted", "ninja"])
    before, after = talk.model.requests[1].messages, talk.model.requests[2].messages

    assert "ninja" not in before[0]["content"]
    assert "Builds with ninja" in after[0]["content"]
    assert [message["role"] for message in after] == ["system", "user"]
    assert len(list(stage.sessions.glob("*.jsonl"))) == 2


def test_remember_writes_for_the_person_and_leaves_the_prompt_alone(stage: Stage) -> None:
    talk = stage.play("/remember Uses uv", "/remember --user 喜欢茶", "hi", script=["hello"])
    journal = [json.loads(line) for line in (stage.memory_dir / "journal.jsonl").read_text("utf-8").splitlines()]

    assert (stage.memory_dir / "MEMORY.md").read_text("utf-8") == "Uses uv"
    assert (stage.memory_dir / "USER.md").read_text("utf-8") == "喜欢茶"
    assert [change["author"] for change in journal] == ["user", "user"]
    assert "uv" not in talk.model.requests[0].messages[0]["content"]


def test_forget_takes_the_one_entry_out(stage: Stage) -> None:
    stage.play("/remember Uses uv", "/remember --user Likes tea", "/forget tea")

    assert (stage.memory_dir / "USER.md").read_text() == ""
    assert (stage.memory_dir / "MEMORY.md").read_text() == "Uses uv"


def test_forget_asks_for_more_where_two_entries_hold_the_text(stage: Stage) -> None:
    talk = stage.play("/remember tea one", "/remember --user tea two", "/forget tea", "/forget nothing")

    assert "give more of the entry" in talk.err
    assert "No entry of MEMORY.md or USER.md holds 'nothing'" in talk.err
    assert (stage.memory_dir / "MEMORY.md").read_text() == "tea one"


def test_a_refused_memory_is_a_sentence(stage: Stage) -> None:
    talk = stage.play("/remember " + "x" * 3_000, "/memory")

    assert talk.err.startswith("Error: memory would hold 3000/2200 chars.")


def test_memory_can_be_searched(stage: Stage) -> None:
    talk = stage.play("/remember Uses uv", "/remember Runs pytest", "/memory search UV", "/memory search zzz")

    assert "memory: Uses uv\nNo entry of MEMORY.md or USER.md holds 'zzz'\n" in talk.out


def test_without_memory_the_commands_say_how_to_get_it(stage: Stage) -> None:
    stage.memory = False

    assert stage.play("/memory", "/remember x", "/forget x").err.count("Memory is off here") == 3


def test_undo_takes_the_last_turn_back(stage: Stage) -> None:
    talk = stage.play("one", "two", "/undo", "three", script=["1", "2", "3"])

    assert [m["content"] for m in talk.model.requests[2].messages[1:]] == ["one", "1", "three"]
    assert "Taken back from the talk: two" in talk.err


def test_retry_sends_the_last_message_again(stage: Stage) -> None:
    talk = stage.play("one", "/retry", script=["1", "1b"])

    assert [m["content"] for m in talk.model.requests[1].messages[1:]] == ["one"]
    assert talk.out == "1\n1b\n"


def test_a_command_says_that_it_takes_no_text(stage: Stage) -> None:
    talk = stage.play("one", "/new fix the bug", "two", script=["1", "2"])

    assert "/new takes nothing after it" in talk.err
    assert [m["content"] for m in talk.model.requests[1].messages[1:]] == ["one", "1", "two"]


def test_retry_does_not_attach_a_file_twice(stage: Stage) -> None:
    (stage.cwd / "a").write_text("A")
    talk = stage.play("see @a", "/retry", script=["1", "2"])

    assert talk.sent[0] == talk.sent[1] == 'see @a\n\n<file path="a">\nA\n</file>'


def test_sessions_are_listed_and_resumed_by_the_beginning_of_their_id(stage: Stage) -> None:
    first = stage.play("about whales", script=["big"])
    (path,) = stage.sessions.glob("*.jsonl")
    assert first.code == 0
    talk = stage.play("about ants", "/sessions", f"/resume {path.stem[:-2]}", "more", script=["small", "yes"])

    assert "about whales" in talk.out
    assert [m["content"] for m in talk.model.requests[1].messages[1:]] == ["about whales", "big", "more"]


def test_resume_without_an_id_takes_the_last_other_talk(stage: Stage) -> None:
    stage.play("about whales", script=["big"])
    talk = stage.play("/resume", "more", script=["yes"])

    assert talk.model.requests[0].messages[1]["content"] == "about whales"


def test_a_session_that_is_in_use_stays_closed_and_the_talk_goes_on(stage: Stage) -> None:
    stage.play("about whales", script=["big"])
    (path,) = stage.sessions.glob("*.jsonl")
    other = Session.open(path)
    talk = stage.play(f"/resume {path.stem}", "hello", script=["here"])
    other.close()

    assert "in use" in talk.err
    assert talk.out == "here\n"
    assert talk.code == 0


def test_a_fork_goes_on_in_a_copy(stage: Stage) -> None:
    talk = stage.play("one", "/fork", "two", script=["1", "2"])
    first, second = sorted(stage.sessions.glob("*.jsonl"), key=lambda path: len(path.read_text()))

    assert [m["content"] for m in talk.model.requests[1].messages[1:]] == ["one", "1", "two"]
    assert "two" not in first.read_text()
    assert first.stem in second.read_text()


def test_another_model_says_what_it_costs(stage: Stage) -> None:
    talk = stage.play("one", "/model other", "/new", "two", script=["1", "2"])

    assert re.search(r"The model is other .* about [\d,]+ tokens", talk.out)
    assert stage.built[-1].model.name == "other"


def test_tools_and_policy_are_listed(stage: Stage) -> None:
    def look(place: str) -> str:
        """Look at a place.

        And more.
        """
        return place

    stage.tools, stage.policy = [Tool(look)], ToolPolicy({"look": "supervised", "memory": "deny"})
    talk = stage.play("/tools", "/tools look", "/tools nothing", "/policy")

    assert re.search(r"^look +Look at a place\.$", talk.out, re.MULTILINE)
    assert '"place"' in talk.out
    assert "There is no tool 'nothing'" in talk.err
    assert re.search(r"^look +supervised +asks first$", talk.out, re.MULTILINE)
    assert re.search(r"^memory +deny +never runs$", talk.out, re.MULTILINE)


def test_cost_and_cache_count_the_whole_chat(stage: Stage) -> None:
    answer = Completion("x", usage=Usage(1_000, 50, 800))
    talk = stage.play("one", "/new", "two", "/cost", "/cache", script=[answer, answer])

    assert re.search(r"Sent +2,000 tokens, 80 %", talk.out)
    assert re.search(r"Received +100 tokens", talk.out)
    assert "1,600 of 2,000 tokens" in talk.out


def test_context_has_a_bar_for_each_part(stage: Stage) -> None:
    out = stage.play("/context").out

    assert all(
        re.search(rf"^{part} +[█░]{{20}} +[\d,]+ +[\d.]+ %$", out, re.M)
        for part in ("tools", "system", "memory", "talk")
    )


def test_compact_sums_up_and_the_talk_goes_on(stage: Stage) -> None:
    script = ["1", "2", "SUMMARY of it", "3"]
    talk = stage.play("one", "two", "/compact", "three", script=script)

    assert "compacting" in talk.err
    assert "SUMMARY of it" in talk.model.requests[3].messages[1]["content"]
