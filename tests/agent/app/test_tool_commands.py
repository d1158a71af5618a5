"""`my-agent tools` and `my-agent doctor`: what is there, and what could be wrong."""

from __future__ import annotations

import signal
import socket
import time
from typing import Any

import pytest
from command_line import Place

from agent.app.version import VERSION


def finding(found: Any, what: str) -> dict[str, str]:
    return next(dict(one) for one in found["findings"] if one["what"] == what)


def test_list_shows_each_tool_and_its_verdict(place: Place) -> None:
    place.with_memory().user_config(
        '[security.tool_policy.tools]\nshell = "supervised"\n[memory]\nbackend = "markdown"\n'
    )
    rows = {row["name"]: row["verdict"] for row in place.run("tools", "list", "--deny", "task", "--json").json}
    assert rows["shell"] == "supervised"
    assert rows["task"] == "deny"
    assert {"file_read", "file_write", "memory", "memory_store", "memory_recall"} <= set(rows)
    assert "file_read " in place.run("tools", "list").out


def test_access_control_takes_recall_away(place: Place) -> None:
    place.user_config('[memory]\nbackend = "markdown"\nacl_enabled = true\n')
    names = {row["name"] for row in place.run("tools", "list", "--json").json}
    assert "memory_recall" not in names
    assert "memory_search" in names


def test_without_memory_there_are_no_memory_tools(place: Place) -> None:
    place.with_memory()
    assert not any("memory" in row["name"] for row in place.run("tools", "list", "--no-memory", "--json").json)


def test_show_gives_the_schema(place: Place) -> None:
    found = place.run("tools", "show", "file_read").json
    assert (found["verdict"], found["function"]["name"]) == ("allow", "file_read")
    done = place.run("tools", "show", "fly")
    assert done.code == 2
    assert "file_read" in done.err


def test_doctor_is_content_with_a_fresh_machine(place: Place) -> None:
    done = place.run("doctor", "--json")
    assert (done.code, done.json["ok"]) == (0, True)
    assert VERSION in finding(done.json, "my-agent")["text"]
    assert "my-agent init" in finding(done.json, "memory")["text"]
    assert "built-in rules" in finding(done.json, "model")["text"]
    assert "ok    python" in place.run("doctor").out


def test_doctor_changes_nothing(place: Place) -> None:
    place.user_config('[memory]\nbackend = "sqlite"\n')
    place.run("doctor")
    assert not (place.cwd / ".my_agent_core" / "memory").exists()


@pytest.mark.parametrize(
    ("config", "env", "code", "what"),
    [
        ('[memory]\nbackend = "x"', {}, 2, "configuration"),
        ('[security.tool_policy.tools]\nshel = "deny"', {}, 2, "tools"),
        ('[memory]\nprovider = "nowhere"', {}, 2, "tools"),
        ('[provider]\nmodel = "m"', {}, 3, "model"),
        ('[provider]\nbase_url = "http://127.0.0.1:9"', {}, 2, "model"),
    ],
)
def test_doctor_ends_with_the_code_of_what_is_wrong(
    place: Place, config: str, env: dict[str, str], code: int, what: str
) -> None:
    place.user_config(config)
    place.env |= env
    done = place.run("doctor", "--json")
    assert (done.code, finding(done.json, what)["state"]) == (code, "bad")


def test_doctor_tells_of_a_damaged_memory_and_a_damaged_archive(place: Place) -> None:
    place.with_memory()
    (place.memory_dir / "MEMORY.md").write_bytes(b"\xff")
    place.user_config('[memory]\nbackend = "sqlite"\npath = "arc"\n')
    (place.cwd / "arc").mkdir()
    (place.cwd / "arc" / "archive.db").write_text("no database")
    done = place.run("doctor")
    assert done.code == 8
    assert "not UTF-8" in done.out
    assert "archive.db" in done.out


def test_doctor_says_what_is_in_the_place_of_the_archive(place: Place) -> None:
    place.user_config('[memory]\nprovider = "nowhere"\n')
    assert "'nowhere'" in finding(place.run("doctor", "--json").json, "archive")["text"]
    assert "--no-memory" in finding(place.run("doctor", "--no-memory", "--json").json, "memory")["text"]


def test_doctor_in_a_chat_looks_at_the_archive_too(place: Place) -> None:
    place.user_config('[memory]\nbackend = "sqlite"\n')
    done = place.process("chat", "--offline", stdin="/doctor\n")
    assert "archive: backend sqlite" in done.out
    assert "BAD" not in done.out


def test_ctrl_c_ends_a_doctor_whose_server_is_silent(place: Place) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://me@127.0.0.1:{silent.getsockname()[1]}/x?connect_timeout=20"
        place.user_config(f'[memory]\nbackend = "postgres"\n[memory.postgres]\nurl = "{url}"\n')
        process = place.start("doctor")
        held, _ = silent.accept()
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert place.finish(process).code == 130
        assert time.monotonic() - began < 3
        held.close()
