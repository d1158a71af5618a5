"""Two agents side by side, each with a memory of its own: what one learns the other never sees.

uv run python examples/two_memories.py
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from agent import Agent, OfflineModel


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        work = Agent(model=OfflineModel(), memory_dir=Path(folder) / "work", name="work")
        home = Agent(model=OfflineModel(), memory_dir=Path(folder) / "home", name="home")
        await asyncio.gather(
            work.run("Remember that the build host is called kestrel"),
            home.run("Remember that the cat is called Mochi"),
        )
        # A write shows up after a reset, or in the next session: the running prompt is frozen
        for agent in (work, home):
            agent.reset()
            print(f"{agent.name}: {agent.memory_store.entries('memory') if agent.memory_store else []}")
            assert ("kestrel" in agent.system_prompt) is (agent.name == "work")


if __name__ == "__main__":
    asyncio.run(main())
