"""One question, one answer, with memory in a folder of its own.

    uv run python examples/one_shot.py "Remember that releases are on Fridays"

Without OPENAI_API_KEY or OPENAI_BASE_URL the built-in rules answer.
"""

from __future__ import annotations

import asyncio
import os
import sys

from agent import Agent, Model, OfflineModel, OpenAIModel
from tools import make_file_tools


def choose_model() -> Model:
    if os.environ.get("OPENAI_API_KEY") or os.environ.get("OPENAI_BASE_URL"):
        return OpenAIModel(os.environ.get("OPENAI_MODEL", "gpt-5-mini"))
    return OfflineModel()


async def main(task: str) -> None:
    agent = Agent(model=choose_model(), tools=make_file_tools("."), memory_dir="example_memory")
    try:
        reply = await agent.run(task)
    finally:
        await agent.close()
    print(reply.text)


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[1:]) or "What do you know about releases?"))
