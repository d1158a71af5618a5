"""CPU of short runs of the command, each against a yardstick of the same run.

    uv run python benchmarks/start_up.py

`--version`, `--help` and `memory list` against `python -c pass`; `run` against a ten-line script that makes the same
request with the openai package; both talk to a loopback server in this process. Medians of CPU seconds (user + system
of the child); the goals stand beside the figures.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

from loopback import Loopback, message

ROUNDS = 15
COMMAND = str(Path(sys.executable).with_name("my-agent"))
PLAIN = """
import os, sys
from openai import OpenAI
client = OpenAI()
stream = client.chat.completions.create(
    model="m", messages=[{"role": "user", "content": "hi"}], stream=True, stream_options={"include_usage": True}
)
for chunk in stream:
    if chunk.choices and chunk.choices[0].delta.content:
        sys.stdout.write(chunk.choices[0].delta.content)
"""


def cpu_of(argv: list[str], env: dict[str, str], cwd: str) -> float:
    """CPU seconds of one child process."""
    child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=env, cwd=cwd)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{argv[:3]} ended with {child.returncode}")
    return used.ru_utime + used.ru_stime


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, Loopback(lambda request: message("hello")) as server:
        (Path(folder) / ".my_agent_core" / "memory").mkdir(parents=True)
        env = os.environ | {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.url, "OPENAI_MODEL": "m", "HOME": folder}
        runs = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "--version": [COMMAND, "--version"],
            "--help": [COMMAND, "--help"],
            "memory list": [COMMAND, "memory", "list"],
            "openai script": [sys.executable, "-c", PLAIN],
            "run": [COMMAND, "run", "hi"],
        }
        spent: dict[str, list[float]] = {name: [] for name in runs}
        for _ in range(ROUNDS):
            for name, argv in runs.items():
                spent[name].append(cpu_of(argv, env, folder))
    median = {name: statistics.median(values) for name, values in spent.items()}
    for name, yardstick, goal in (
        ("--version", "python -c pass", "under 2"),
        ("--help", "python -c pass", "under 8"),
        ("memory list", "python -c pass", ""),
        ("run", "openai script", "at most 0.75"),
    ):
        ratio = median[name] / median[yardstick]
        print(f"{name:<12} {median[name] * 1000:6.0f} ms CPU = {ratio:5.2f} x {yardstick} {goal and f'(goal: {goal})'}")


if __name__ == "__main__":
    main()
