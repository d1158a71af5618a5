"""`run_chat`: the talk in a terminal, or over a pipe. One event loop for the whole of it.

A message is a turn. A line that begins with `/` is a command of the chat and never reaches the model. In a terminal
`!command` runs a command for the person, and `!!command` hands its output to the model with the next message.
In a terminal the exit code is 0 whatever went wrong in between, for the person saw it; on a pipe it is the code of the
last turn or command that failed.
"""

from __future__ import annotations

import asyncio
import sys

from agent.app.chat import Chat
from agent.app.chat_parts import ChatParts
from agent.app.exits import UsageProblem

__all__ = ["run_chat"]


def run_chat(parts: ChatParts, first: str = "") -> int:
    """Talk until the person leaves; return the exit code. `first` is sent before anything is read.

    Raises what building the agent raises, and `UsageProblem` where there is no standard input.
    """
    if sys.stdin is None or sys.stdin.closed:
        raise UsageProblem("Standard input (stdin) is closed: there is nothing to read. `my-agent run TASK` needs none")
    with asyncio.Runner() as runner:
        return runner.run(_play(parts, first))


async def _play(parts: ChatParts, first: str) -> int:
    return await Chat(parts).play(first)
