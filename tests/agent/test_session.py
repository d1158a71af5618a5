"""A talk in a file: appended to, locked, mended, forked."""

from __future__ import annotations

import json
import math
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from agent import Session, SessionUnavailable, find_session, list_sessions

USER = {"role": "user", "content": "部署在 kite 上 \u2028 and\ffeed"}
ANSWER = {"role": "assistant", "content": "noted"}


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session.create(tmp_path / "sessions", cwd=tmp_path, model="test-model")


def reopened(session: Session) -> Session:
    session.close()
    return Session.open(session.path)


def test_a_talk_comes_back_as_it_was(session: Session) -> None:
    session.append(USER)
    session.append(ANSWER)
    again = reopened(session)
    assert again.messages == [USER, ANSWER]
    assert (again.id, again.model, again.created) == (session.id, "test-model", session.created)
    assert again.notices == []
    again.close()


def test_no_file_is_made_before_the_first_message(session: Session) -> None:
    assert not session.path.exists()
    session.append(USER)
    assert session.path.stat().st_mode & 0o777 == 0o600
    session.close()


def test_each_event_is_one_line_whatever_the_text_holds(session: Session) -> None:
    session.append(USER)
    session.close()
    lines = session.path.read_bytes().split(b"\n")
    assert len(lines) == 3
    assert [json.loads(line)["type"] for line in lines[:2]] == ["session", "message"]
    assert len(session.path.read_text(encoding="utf-8").splitlines()) == 2


def test_a_torn_tail_costs_its_own_line_only(session: Session) -> None:
    session.append(USER)
    session.close()
    with session.path.open("ab") as file:
        file.write(b'{"type": "message", "message": {"role": "assi')
    again = Session.open(session.path)
    assert again.messages == [USER]
    assert "damaged" in again.notices[0]
    again.append(ANSWER)
    assert reopened(again).messages == [USER, ANSWER]


def test_nul_padding_in_the_middle_is_skipped_and_told(session: Session) -> None:
    session.append(USER)
    session.close()
    with session.path.open("ab") as file:
        file.write(b"\0" * 512 + b"\n")
    again = Session.open(session.path)
    again.append(ANSWER)
    last = reopened(again)
    assert last.messages == [USER, ANSWER]
    assert last.notices
    last.close()


def test_a_line_behind_nul_padding_is_still_read(session: Session) -> None:
    session.append(USER)
    session.close()
    raw = session.path.read_bytes()
    session.path.write_bytes(raw + b"\0" * 99 + json.dumps({"type": "message", "message": ANSWER}).encode() + b"\n")
    assert Session.open(session.path).messages == [USER, ANSWER]


@pytest.mark.parametrize("content", [b"", b"\0\0\0", b"not a session\n", b"[1, 2]\n"])
def test_a_file_without_a_session_is_refused_and_kept(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(SessionUnavailable, match="holds no session"):
        Session.open(path)
    assert path.read_bytes() == content


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"type": "session", "version": 99, "id": "x"}\n')
    with pytest.raises(SessionUnavailable, match="newer version"):
        Session.open(path)


@pytest.mark.parametrize("version", ["2.x", "1", [1], {}, 1.5, math.inf, math.nan, True, -1])
def test_a_version_that_is_none_is_refused_and_the_lock_let_go(tmp_path: Path, version: Any) -> None:
    path = tmp_path / "x.jsonl"
    head = {"type": "session", "version": version, "id": "x"}
    path.write_text(f"{json.dumps(head)}\n{json.dumps({'type': 'message', 'message': USER})}\n")
    for _ in range(2):
        with pytest.raises(SessionUnavailable, match="damaged"):
            Session.open(path)


@pytest.mark.parametrize(
    "line",
    [
        {"type": "message", "message": {"role": "usr", "content": "lost words"}},
        {"type": "message", "message": {"role": "user", "content": 5}},
        {"type": "compact", "messages": [1, 2], "keep": 1},
        {"type": "compact", "messages": [], "keep": -1},
        {"type": "compact", "messages": [], "keep": True},
        {"type": "rewind", "to": math.nan},
        {"type": "rewind", "to": False},
        {"type": "rewind", "to": -1},
    ],
)
def test_a_line_that_is_no_event_is_skipped_and_told(session: Session, line: Any) -> None:
    session.append(USER)
    session.close()
    with session.path.open("a") as file:
        file.write(json.dumps(line) + "\n")
    again = Session.open(session.path)
    again.close()
    assert again.messages == [USER]
    assert again.notices == [f"1 damaged line(s) in {session.path.name} were skipped; the rest was kept"]
    (summary,) = list_sessions(session.path.parent)
    assert (summary.turns, summary.title) == (1, " ".join(USER["content"].split()))


def test_what_a_full_disk_did_not_take_is_written_when_there_is_room(session: Session) -> None:
    session.append(USER)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (session.path.stat().st_size + 20, limits[1]))
    try:
        for message in (ANSWER, USER):
            with pytest.raises(SessionUnavailable, match="cannot be written"):
                session.append(message)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    session.append(ANSWER)
    again = reopened(session)
    again.close()
    assert (again.messages, again.notices) == ([USER, ANSWER, USER, ANSWER], [])


def test_a_session_in_use_is_refused_with_the_way_out(session: Session) -> None:
    session.append(USER)
    with pytest.raises(SessionUnavailable, match="--fork"):
        Session.open(session.path)
    session.close()
    Session.open(session.path).close()


def test_the_lock_of_a_killed_process_is_no_lock(session: Session, tmp_path: Path) -> None:
    session.append(USER)
    session.close()
    code = (
        "from pathlib import Path\nfrom agent import Session\n"
        f"held = Session.open(Path({str(session.path)!r}))\nprint('open', flush=True)\ninput()"
    )
    holder = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "open\n"
    with pytest.raises(SessionUnavailable):
        Session.open(session.path)
    holder.send_signal(signal.SIGKILL)
    holder.communicate()
    Session.open(session.path).close()


def test_a_fork_has_all_that_was_said_and_leaves_the_original(session: Session) -> None:
    session.append(USER)
    before = session.path.read_bytes()
    fork = session.fork()
    fork.append(ANSWER)
    assert session.path.read_bytes() == before
    assert fork.parent == session.id
    assert reopened(fork).messages == [USER, ANSWER]


def test_rewind_and_compact_hold_after_reopening(session: Session) -> None:
    for number in range(4):
        session.append({"role": "user", "content": f"u{number}"})
        session.append({"role": "assistant", "content": f"a{number}"})
    session.rewind(6)
    session.compact([{"role": "user", "content": "summary"}, {"role": "assistant", "content": "yes"}], keep=2)
    said = [message["content"] for message in session.messages]
    assert said == ["summary", "yes", "u2", "a2"]
    again = reopened(session)
    assert [message["content"] for message in again.messages] == said
    again.close()


def test_the_title_outlives_a_compaction(session: Session) -> None:
    for number in range(4):
        session.append({"role": "user", "content": f"u{number}"})
        session.append({"role": "assistant", "content": f"a{number}"})
    session.compact([{"role": "user", "content": "summary"}, {"role": "assistant", "content": "yes"}], keep=2)
    (listed,) = list_sessions(session.path.parent)
    assert listed.title == "u0"


def test_keys_never_reach_the_file(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", 'odd"key-Ω-7731')
    monkeypatch.setenv("HARMLESS", "visible-value")
    github = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    session.append({"role": "user", "content": f'odd"key-Ω-7731 {github} visible-value'})
    session.close()
    raw = session.path.read_text()
    assert "7731" not in raw
    assert github not in raw
    assert "visible-value" in raw
    assert Session.open(session.path).messages[0]["content"].endswith("visible-value")


def test_sessions_are_listed_the_last_one_first(tmp_path: Path) -> None:
    made = []
    for number in range(3):
        session = Session.create(tmp_path, cwd=tmp_path, model="m")
        session.append({"role": "user", "content": f"question  {number}\nmore"})
        session.close()
        os.utime(session.path, (1000 + number, 1000 + number))
        made.append(session)
    (tmp_path / "junk.jsonl").write_text("junk\n")
    found = list_sessions(tmp_path)
    assert [summary.id for summary in found] == [session.id for session in reversed(made)]
    assert found[0].title == "question 2 more"
    assert found[0].turns == 1


def test_a_session_is_found_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    session = Session.create(tmp_path, cwd=tmp_path, model="m")
    session.append(USER)
    session.close()
    assert find_session(tmp_path, session.id) == session.path
    assert find_session(tmp_path, session.id[:-1]) == session.path
    for name in ("nothing", "", "n" * 300, "../x", f"../{tmp_path.name}/{session.id}"):
        with pytest.raises(SessionUnavailable, match="No session"):
            find_session(tmp_path, name)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_text("in the way")
    session = Session.create(place / "sessions", cwd=tmp_path, model="m")
    with pytest.raises(SessionUnavailable, match="file"):
        session.append(USER)


def test_resuming_five_megabytes_is_quick(session: Session) -> None:
    big: dict[str, Any] = {"role": "user", "content": "x" * 2_000}
    session.append(big)
    session.close()
    line = json.dumps({"type": "message", "message": big}) + "\n"
    with session.path.open("a") as file:
        file.write(line * 2_500)
    start = time.process_time()
    again = Session.open(session.path)
    spent = time.process_time() - start
    assert len(again.messages) == 2_501
    assert spent < 5  # a bound against quadratic work, not a measurement
    again.close()
