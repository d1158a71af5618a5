"""`play_chat`: lines on a pipe through a real chat with a scripted model, in this process."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from agent import Agent, ScriptedModel, Session
from agent.app.chat_parts import ChatParts
from agent.app.output import Output
from agent.app.repl import run_chat
from tools import Approve, Tool, ToolPolicy

__all__ = ["Stage", "Talk"]


@dataclass(frozen=True)
class Talk:
    code: int
    out: str
    err: str
    model: ScriptedModel

    @property
    def sent(self) -> list[str]:
        """The last user message of each request."""
        users = ([m["content"] for m in request.messages if m["role"] == "user"] for request in self.model.requests)
        return [found[-1] for found in users]


@dataclass
class Stage:
    """A working folder and what the agents of a chat there are made of. Sessions lie in `sessions`."""

    cwd: Path
    monkeypatch: pytest.MonkeyPatch
    tools: Sequence[Tool] = ()
    policy: ToolPolicy | None = None
    memory: bool = False
    quiet: bool = False
    verbose: int = 0
    more: dict[str, Any] = field(default_factory=dict)
    # for `ChatParts`
    built: list[Agent] = field(default_factory=list)

    @property
    def sessions(self) -> Path:
        return self.cwd / "sessions"

    @property
    def memory_dir(self) -> Path:
        return self.cwd / "mem"

    def play(
        self,
        *lines: str | bytes,
        script: Sequence[Any] | Callable[..., Any] = (),
        session: Callable[[], Session | None] | None = None,
        first: str = "",
        ending: bytes = b"\n",
    ) -> Talk:
        """Let a chat read the lines and then the end of its input."""
        model = ScriptedModel(script, check=False)

        def build(approve: Approve, chosen: Session | None) -> Agent:
            agent = Agent(
                model=model,
                tools=self.tools,
                session=chosen,
                memory_dir=self.memory_dir if self.memory else False,
                policy=self.policy,
                approve=approve,
                cwd=self.cwd,
            )
            self.built.append(agent)
            return agent

        def new_session() -> Session:
            return Session.create(self.sessions, cwd=self.cwd, model=model.name)

        def new_model(name: str, chosen: Session | None) -> ScriptedModel:
            model.name = name
            return model

        out, err = io.StringIO(), io.StringIO()
        parts = ChatParts(
            output=Output(out, err, quiet=self.quiet, verbose=self.verbose),
            cwd=self.cwd,
            build=build,
            first_session=session or new_session,
            new_model=new_model,
            sessions_dir=self.sessions,
            **self.more,
        )
        raw = b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines) + ending
        with _standard_input(raw, self.cwd / "stdin", self.monkeypatch):
            code = run_chat(parts, first)
        return Talk(code, out.getvalue(), err.getvalue(), model)


class _standard_input:
    """A pipe that holds `raw` and is closed at its other end; a longer text comes from a file."""

    def __init__(self, raw: bytes, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        if len(raw) < 60_000:
            source, end = os.pipe()
            os.write(end, raw)
            os.close(end)
        else:
            file.write_bytes(raw)
            source = os.open(file, os.O_RDONLY)
        self._stream = os.fdopen(source, "r")
        self._monkeypatch = monkeypatch

    def __enter__(self) -> None:
        self._monkeypatch.setattr(sys, "stdin", self._stream)

    def __exit__(self, *_: object) -> None:
        self._monkeypatch.undo()
        self._stream.close()
