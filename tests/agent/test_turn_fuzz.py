"""Random answers of a provider against whole turns: the next request is always valid, and no cut call ever runs."""

from __future__ import annotations

import asyncio
import contextlib
import random
from pathlib import Path

from loopback import Answer, Loopback, Request, request_faults
from wire_scripts import WireScript

from agent import Agent, ModelFailure, OpenAIModel, Session
from tools import Tool

REQUESTS = 2_000
SIDE_BY_SIDE = 8
NEVER_WHOLE = {"cut", "refused", "page", "garbage", "empty"}


class Talk:
    """One agent after another against one server; each request gets the script of the next seed."""

    def __init__(self, folder: Path, first: int, last: int) -> None:
        self.folder = folder
        self.asked, self.last = first, last
        self.ran: list[tuple[int, str]] = []
        # (number of the request whose answer was read last, tool)

    def answer(self, request: Request) -> Answer:
        script = WireScript.of(self.asked)
        self.asked += 1
        return script.answer

    def tools(self) -> list[Tool]:
        def note(name: str) -> None:
            self.ran.append((self.asked - 1, name))

        def file_read(path: str = "") -> str:
            """Read."""
            note("file_read")
            return f"text of {path} \ud800"

        def shell(content: str = "") -> str:
            """Run."""
            note("shell")
            raise OSError(f"no such thing: {content}")

        async def x(**ignored: object) -> dict[str, int]:
            """Do x."""
            note("x")
            return {"x": 1}

        return [Tool(file_read, parallel=True), Tool(shell), Tool(x, parallel=True)]

    async def play(self, url: str) -> None:
        model = OpenAIModel("m", base_url=url, api_key="sk-fuzz-0123456789", timeout_s=0.4)
        rng = random.Random(self.asked)
        while self.asked < self.last:
            session = Session.create(self.folder, cwd=self.folder, model="m")
            for _ in range(rng.randrange(1, 8)):
                agent = self.agent(model, session)
                for _ in range(rng.randrange(1, 4)):
                    await self.turn(agent, rng)
                if not session.path.exists():
                    break
                session.close()
                session = Session.open(session.path)
                assert session.messages == agent.messages
            session.close()
        await model.close()

    def agent(self, model: OpenAIModel, session: Session) -> Agent:
        return Agent(
            model=model,
            cwd=self.folder,
            tools=self.tools(),
            session=session,
            max_steps=4,
            max_retries=0,
            can_delegate=False,
        )

    async def turn(self, agent: Agent, rng: random.Random) -> None:
        limit = rng.choice([None, None, None, 0.002, 0.01])  # a cancel anywhere in the turn, now and then
        try:
            async with asyncio.timeout(limit):
                await agent.run(f"turn at {self.asked} \udfff")
        except (ModelFailure, TimeoutError):
            pass  # what a person would see as one sentence; anything else fails the test


def test_thousands_of_random_answers_never_wedge_a_talk(tmp_path: Path) -> None:
    share = REQUESTS // SIDE_BY_SIDE
    talks = [Talk(tmp_path / str(n), n * share, (n + 1) * share) for n in range(SIDE_BY_SIDE)]

    async def play_all(servers: list[Loopback]) -> None:
        await asyncio.gather(*(talk.play(server.url) for talk, server in zip(talks, servers, strict=True)))

    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(Loopback(talk.answer)) for talk in talks]
        asyncio.run(play_all(servers))
        faults = [found for server in servers for request in server.requests if (found := request_faults(request.body))]
    ran = [run for talk in talks for run in talk.ran]
    assert faults == []
    assert len(ran) > REQUESTS // 20
    assert [(seed, name) for seed, name in ran if WireScript.of(seed).kind in NEVER_WHOLE] == []
