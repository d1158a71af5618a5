"""What is piped in: nothing hangs, nothing is lost."""

from __future__ import annotations

import io
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.app import stdin
from agent.app.exits import TimedOut
from agent.app.stdin import Piped, read_stdin


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Standard input is a pipe; the other end is a file to write to."""
    out, into = os.pipe()
    monkeypatch.setattr(sys, "stdin", os.fdopen(out, "r"))
    writer = os.fdopen(into, "wb", buffering=0)
    yield writer
    writer.close()
    sys.stdin.close()


def read_from(data: bytes, pipe: Any, *, needed: bool = False) -> Piped:
    threading.Thread(target=lambda: (pipe.write(data), pipe.close())).start()
    return read_stdin(needed=needed)


def test_a_pipe_is_read_to_its_end(pipe: Any) -> None:
    assert read_from("日志\n".encode(), pipe) == Piped("日志\n")


def test_a_megabyte_is_no_matter(pipe: Any) -> None:
    assert len(read_from(b"x" * 2**20, pipe).text) == 2**20


def test_an_empty_pipe_is_empty(pipe: Any) -> None:
    assert read_from(b"", pipe) == Piped("")


def test_bytes_that_are_not_utf8_are_replaced_and_said(pipe: Any) -> None:
    assert read_from(b"caf\xe9", pipe) == Piped("caf\ufffd", replaced=True)


def test_a_byte_order_mark_is_dropped(pipe: Any) -> None:
    assert read_from(b"\xef\xbb\xbfhi", pipe) == Piped("hi")


def test_a_pipe_that_gives_nothing_is_left_alone(pipe: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdin, "FIRST_BYTE_S", 0.05)
    assert read_stdin(needed=False) == Piped(silent=True)


def test_a_slow_producer_is_waited_for_once_it_has_begun(pipe: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdin, "FIRST_BYTE_S", 0.1)
    pipe.write(b"first ")
    threading.Timer(0.4, lambda: (pipe.write(b"last"), pipe.close())).start()
    assert read_stdin(needed=False) == Piped("first last")


def test_what_is_needed_is_waited_for_however_long(pipe: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdin, "FIRST_BYTE_S", 0.01)
    threading.Timer(0.2, lambda: (pipe.write(b"task"), pipe.close())).start()
    assert read_stdin(needed=True) == Piped("task")


@pytest.mark.parametrize("needed", [True, False])
def test_the_time_limit_holds_while_waiting(pipe: Any, needed: bool) -> None:
    with pytest.raises(TimedOut, match="--timeout"):
        read_stdin(needed=needed, deadline=time.monotonic() + 0.1)


def test_a_file_is_read_and_a_device_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "log").write_text("line\n")
    with (tmp_path / "log").open() as file, Path(os.devnull).open() as nothing:
        monkeypatch.setattr(sys, "stdin", file)
        assert read_stdin(needed=False) == Piped("line\n")
        monkeypatch.setattr(sys, "stdin", nothing)
        assert read_stdin(needed=False) == Piped()


@pytest.mark.parametrize("gone", [None, io.StringIO("text")])
def test_a_closed_input_gives_nothing(gone: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", gone)
    assert read_stdin(needed=True) == Piped()
