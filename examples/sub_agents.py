"""Three jobs handed to sub-agents side by side. They get file tools, and nothing of the parent's memory or talk.

uv run python examples/sub_agents.py
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from agent import Agent, OfflineModel
from tools import make_file_tools


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in ("one", "two", "three"):
            (Path(folder) / f"{name}.txt").write_text(f"this is file {name}\n", encoding="utf-8")
        agent = Agent(
            model=OfflineModel(), tools=make_file_tools(folder), memory_dir=Path(folder) / "memory", cwd=folder
        )
        await agent.run("Remember that the vault code is 4711")
        results = await asyncio.gather(*(agent.delegate(f"read {name}.txt") for name in ("one", "two", "three")))
        for result in results:
            print(result.serialize())
        refused = await agent.delegate("read memory/MEMORY.md")
        assert "4711" not in refused.serialize()
        print(refused.serialize())


if __name__ == "__main__":
    asyncio.run(main())
