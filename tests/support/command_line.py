"""`Place`: a folder and a home of their own, in which the command line runs, in this process or in a fresh one."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["KEY", "Done", "Place", "kill_group", "wait_until"]

ENTRY = "from agent.app.main import main; main()"
TIMEOUT_S = 60
KEY = "test-key-9f31-abcdef"


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass
class Place:
    """`cwd` is the working folder, `home` holds the user's files; no variable of the machine reaches the program."""

    cwd: Path
    home: Path
    capture: Callable[[], tuple[str, str]]
    env: dict[str, str] = field(default_factory=dict)

    @property
    def memory_dir(self) -> Path:
        return self.cwd / ".my_agent_core" / "memory"

    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "XDG_DATA_HOME": str(self.home / ".local/share"),
            "XDG_CACHE_HOME": str(self.home / ".cache"),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            **self.env,
        }

    def with_memory(self, **entries: str) -> Place:
        """Switch memory on; `MEMORY="one"` writes MEMORY.md."""
        self.memory_dir.mkdir(parents=True, exist_ok=True)
        for name, text in entries.items():
            (self.memory_dir / f"{name}.md").write_text(text, encoding="utf-8", newline="\n")
        return self

    def user_config(self, text: str) -> Path:
        return _written(self.home / ".config/my-agent/config.toml", text)

    def project_config(self, text: str) -> Path:
        return _written(self.cwd / ".my_agent_core/config.toml", text)

    def run(self, *words: str) -> Done:
        """Run a command line in this process."""
        from agent.app.main import perform

        gc.enable()  # the entry of the program switches it off
        with self._inside():
            self.capture()
            code = perform(words)
            out, err = self.capture()
        return Done(code, out, err)

    def process(self, *words: str, stdin: str | bytes | int | None = None, **more: Any) -> Done:
        """Run a command line in a process of its own."""
        given = {"input": stdin.encode() if isinstance(stdin, str) else stdin} if isinstance(stdin, str | bytes) else {}
        source = {} if given else {"stdin": subprocess.DEVNULL if stdin is None else stdin}
        done = subprocess.run(
            self.command(*words),
            cwd=self.cwd,
            env=self.environment(),
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
            **given,
            **source,
            **more,
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    def start(self, *words: str, **more: Any) -> subprocess.Popen[bytes]:
        """Start a command line in a process of its own."""
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
        return subprocess.Popen(
            self.command(*words), cwd=self.cwd, env=self.environment(), start_new_session=True, **streams
        )

    @staticmethod
    def command(*words: str) -> list[str]:
        return [sys.executable, "-c", ENTRY, *words]

    @staticmethod
    def finish(process: subprocess.Popen[bytes]) -> Done:
        out, err = process.communicate(timeout=TIMEOUT_S)
        return Done(process.returncode, (out or b"").decode(), (err or b"").decode())

    @contextmanager
    def _inside(self) -> Iterator[None]:
        before, folder, inside = dict(os.environ), Path.cwd(), self.environment()
        os.environ.clear()
        os.environ.update(inside)
        os.chdir(self.cwd)
        try:
            yield
        finally:
            os.chdir(folder)
            os.environ.clear()
            os.environ.update(before)


def wait_until(true: Callable[[], Any], timeout_s: float = 20.0) -> None:
    end = time.monotonic() + timeout_s
    while not true():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.02)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    os.killpg(process.pid, signal.SIGKILL)


def _written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
