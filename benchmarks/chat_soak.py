"""A long talk typed into a real terminal: messages, pastes, Ctrl-C at any moment, resizes, commands, tools.

    python benchmarks/chat_soak.py                 200 turns
    python benchmarks/chat_soak.py --turns 1000 --seed 7

The program talks to a loopback server whose answers stall now and then. It must come back to its prompt after each
turn, every request must be one that a strict server takes, the session must resume with all that was said, and the
memory of the process must not grow by 20 MB after the first turns.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "support"))
from loopback import Answer, Loopback, Request, call, deltas, message, request_faults
from terminal_stage import Terminal

GROWTH_MB = 20.0
WARM_TURNS = 20  # the memory of a process settles in its first turns
WORDS = [
    "the",
    "tests",
    "测试",
    "通过",
    "了",
    "**bold**",
    "`code`",
    "and\n-",
    "\n\n| a | b |\n|---|---|\n| 1 | 你好 |\n\n",
]


@dataclass
class Soak:
    """One talk. `play` types it and returns what it found."""

    folder: Path
    turns: int
    seed: int
    slowest_s: float = 0.0
    # The longest wait for the prompt after Ctrl-C

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.answers = random.Random(self.seed + 1)

    def play(self) -> dict[str, float]:
        with Loopback(self.answer) as server:
            with self.terminal(server, "chat") as terminal:
                self.wait_until_open(terminal)
                base = 0.0
                for number in range(self.turns):
                    self.turn(terminal, number)
                    if number == min(WARM_TURNS, self.turns - 1):
                        base = resident_mb(terminal)
                stopped = terminal.text.count("Interrupted.")
                grown = resident_mb(terminal) - base
                terminal.type("/exit\r")
                code = terminal.wait_for_end()
                assert code == 0, f"the chat left with {code}"
            self.resume(server)
            faults = [fault for request in server.requests for fault in request_faults(request.body)]
        assert not faults, faults[:5]
        assert grown < GROWTH_MB, f"the process grew by {grown:.1f} MB"
        return {"grown_mb": grown, "requests": len(server.requests), "stopped": stopped, "slowest_s": self.slowest_s}

    def terminal(self, server: Loopback, *words: str) -> Terminal:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "OPENAI_API_KEY": "sk-test-0000",
            "OPENAI_BASE_URL": server.url,
            "OPENAI_MODEL": "m",
        }
        command = [sys.executable, "-c", "from agent.app.main import main; main()", *words]
        return Terminal(command, cwd=self.folder, env=env)

    def wait_until_open(self, terminal: Terminal) -> None:
        """The first prompt is repainted once, when the agent has been built."""
        terminal.wait_for("model: m")
        terminal.wait_for_editor(more_than=1)

    def turn(self, terminal: Terminal, number: int) -> None:
        kind = self.chance.random()
        if kind < 0.1:
            self.type(terminal, self.chance.choice(["/help", "/context", "/cost", "/tools", "/nonsense"]))
            return
        mark = f"message-{number}"
        if kind < 0.3:
            terminal.paste(f"一段粘贴的文字 {mark}\n" + "x = 1\n" * self.chance.randint(1, 30))
            self.type(terminal, "")
        elif kind < 0.6:
            self.type(terminal, f"explain {mark} slowly", stop_after_s=self.chance.uniform(0.0, 0.4))
        else:
            self.type(terminal, f"说说 {mark}")

    def type(self, terminal: Terminal, text: str, *, stop_after_s: float | None = None) -> None:
        if self.chance.random() < 0.3:
            terminal.resize(self.chance.randint(30, 160), self.chance.randint(8, 60))
        terminal.type(text)
        terminal.settle()
        prompts = terminal.prompts
        terminal.type("\r")
        if stop_after_s is not None:
            time.sleep(stop_after_s)
            if self.chance.random() < 0.3:
                terminal.resize(self.chance.randint(30, 160), self.chance.randint(8, 60))
            began = time.monotonic()
            terminal.type("\x03")
            terminal.wait_for_editor(more_than=prompts)
            self.slowest_s = max(self.slowest_s, time.monotonic() - began)
        terminal.wait_for_editor(more_than=prompts)

    def answer(self, request: Request) -> Answer:
        """Mostly an answer in pieces; now and then a tool first, and a stall where the message invites Ctrl-C."""
        last = request.messages[-1]
        if last["role"] == "user" and self.answers.random() < 0.2:
            return message("Let me look.", [call("shell", {"command": "echo looked"}, f"c{len(request.messages)}")])
        pieces = [{"content": self.answers.choice(WORDS) + " "} for _ in range(self.answers.randint(1, 120))]
        if "slowly" in str(last.get("content")):
            return deltas(pieces, gap_s=0.02, stall_after=self.answers.randint(1, len(pieces)), stall_s=0.7)
        return deltas(pieces)

    def resume(self, server: Loopback) -> None:
        """Take the talk up again, and look at what goes to the server."""
        (path,) = (self.folder / ".local/share/my-agent/sessions").glob("*.jsonl")
        with self.terminal(server, "chat", "--resume", path.stem) as terminal:
            self.wait_until_open(terminal)
            before = len(server.requests)
            sent = set(re.findall(r"message-\d+", " ".join(str(request.messages) for request in server.requests)))
            self.type(terminal, "is all still there?")
            terminal.type("/exit\r")
            assert terminal.wait_for_end() == 0
        text = str(server.requests[before].messages)
        missing = sent - set(re.findall(r"message-\d+", text))
        assert not missing or "Summary of the talk" in text, f"not there after resuming: {sorted(missing)[:5]}"


def resident_mb(terminal: Terminal) -> float:
    status = Path(f"/proc/{terminal.process.pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+)", status)
    assert found is not None
    return int(found[1]) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        found = Soak(Path(folder), options.turns, options.seed).play()
    print(f"{options.turns} turns in {time.monotonic() - began:.0f} s:")
    print("\n".join(f"  {name:<9} {value:.1f}" for name, value in found.items()))


if __name__ == "__main__":
    main()
