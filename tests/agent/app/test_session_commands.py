"""`my-agent sessions`: the saved talks."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from command_line import Place

from agent.session import Session

TALK = [
    {"role": "user", "content": "read it"},
    {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "file_read", "arguments": '{"path": "a"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "```\nfenced\n```"},
    {"role": "assistant", "content": "It says: \x1b[31mred"},
]


def folder(place: Place) -> Path:
    return place.cwd / ".my_agent_core" / "sessions"


@pytest.fixture
def saved(place: Place) -> Session:
    folder(place).mkdir(parents=True)
    session = Session.create(folder(place), cwd=place.cwd, model="m")
    for message in TALK:
        session.append(message)
    session.close()
    return session


def test_list_shows_the_last_one_first(place: Place, saved: Session) -> None:
    copy = place.run("sessions", "fork", saved.id).out.strip()
    rows = place.run("sessions", "list", "--json").json
    assert {row["id"] for row in rows} == {copy, saved.id}
    assert next(row for row in rows if row["id"] == copy)["parent"] == saved.id
    assert rows[0]["title"] == "read it"
    assert f"(from {saved.id})" in place.run("sessions", "list").out
    assert len(place.run("sessions", "list", "-n", "1", "--json").json) == 1


def test_an_empty_list_says_so(place: Place) -> None:
    done = place.run("sessions", "list")
    assert (done.code, done.out) == (0, "")
    assert "no sessions" in done.err


def test_show_defuses_and_takes_the_beginning_of_an_id(place: Place, saved: Session) -> None:
    done = place.run("sessions", "show", saved.id[:-1])
    assert "\x1b" not in done.out
    assert "> file_read" in done.out
    assert len(place.run("sessions", "show", saved.id, "--json").json["messages"]) == 4
    assert place.run("sessions", "show", "nowhere").code == 8


def test_a_fork_leaves_the_original_even_while_it_is_in_use(place: Place, saved: Session) -> None:
    before = saved.path.read_bytes()
    held = Session.open(saved.path)
    found = place.run("sessions", "fork", saved.id, "--json").json
    held.close()
    assert found["parent"] == saved.id
    assert saved.path.read_bytes() == before
    assert len(place.run("sessions", "show", found["id"], "--json").json["messages"]) == 4


def test_export_is_markdown_or_json(place: Place, saved: Session) -> None:
    text = place.run("sessions", "export", saved.id).out
    assert text.startswith("# read it\n")
    assert "````\n```\nfenced\n```\n````" in text
    assert place.run("sessions", "export", saved.id, "--to", "talk.json", "--format", "json").code == 0
    assert json.loads((place.cwd / "talk.json").read_text(encoding="utf-8"))["messages"] == TALK
    assert place.run("sessions", "export", saved.id, "--to", "talk.json").code == 2


def test_keys_do_not_leave_in_an_export(place: Place, saved: Session) -> None:
    raw = saved.path.read_text() + json.dumps(
        {"type": "message", "message": {"role": "user", "content": "sk-proj-abcdefghijklmnopqrstuvwxyz"}}
    )
    saved.path.write_text(raw + "\n")
    assert "sk-proj-abc" not in place.run("sessions", "export", saved.id).out


def test_delete_refuses_what_is_in_use_and_checks_all_names_first(place: Place, saved: Session) -> None:
    assert place.run("sessions", "delete", saved.id, "nowhere").code == 8
    assert saved.path.exists()
    held = Session.open(saved.path)
    assert place.run("sessions", "delete", saved.id).code == 8
    held.close()
    assert place.run("sessions", "delete", saved.id).code == 0
    assert not saved.path.exists()


def test_path_names_the_folder_or_the_file(place: Place, saved: Session) -> None:
    assert place.run("sessions", "path").out == f"{folder(place)}\n"
    assert place.run("sessions", "path", saved.id).out == f"{saved.path}\n"


def test_damaged_lines_are_told(place: Place, saved: Session) -> None:
    with saved.path.open("ab") as file:
        file.write(b"\0" * 10 + b"\n{half")
    assert "damaged" in place.run("sessions", "show", saved.id).err


def test_a_damaged_file_costs_only_itself(place: Place, saved: Session) -> None:
    odd = [
        {"type": "session", "version": 1, "created": 5, "cwd": [], "model": {}, "parent": math.nan},
        {"type": "message", "message": TALK[0]},
        {"type": "message", "message": {**TALK[1], "tool_calls": [{"id": 5, "function": 7}, None, {"id": []}]}},
        {"type": "compact", "messages": [1, 2], "keep": 1},
        {"type": "message", "message": {"role": ["user"], "content": math.inf}},
    ]
    (folder(place) / "odd.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in odd))
    (folder(place) / "version.jsonl").write_text(json.dumps({"type": "session", "version": "2.x"}) + "\n")

    assert {row["id"] for row in place.run("sessions", "list", "--json").json} == {saved.id, "odd", "version"}
    shown = place.run("sessions", "show", "odd", "--json")
    assert [message["content"] for message in shown.json["messages"]] == ["read it", "I look."]
    assert "2 damaged line(s)" in shown.err
    assert "NaN" not in shown.out
    assert "2 damaged line(s)" in place.run("sessions", "fork", "odd").err
    assert place.run("sessions", "export", "odd").code == 0
    assert place.run("sessions", "delete", "odd").code == 0
    refused = place.run("sessions", "fork", "version")
    assert (refused.code, "damaged" in refused.err) == (8, True)
