"""Commands about tools, their policy and this installation."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from agent.app.plain import one_line, shorten
from agent.app.style import DIM, NOTE

if TYPE_CHECKING:
    from agent.app.repl import Chat
    from tools import Tool

__all__ = ["doctor", "policy", "show"]

MEANING = {"allow": "runs", "supervised": "asks first", "deny": "never runs"}


async def show(chat: Chat, rest: str) -> None:
    tools = _tools(chat)
    if not rest:
        width = max(map(len, tools), default=0)
        room = max(20, chat.screen.columns - width - 2)
        firsts = {name: one_line(tool.description.partition("\n")[0]) for name, tool in tools.items()}
        chat.screen.show("\n".join(f"{name:<{width}}  {shorten(first, room)}" for name, first in firsts.items()))
    elif rest not in tools:
        chat.say(f"There is no tool {rest!r}; there are {', '.join(tools)}", NOTE)
    else:
        parameters = json.dumps(tools[rest].schema()["function"]["parameters"], ensure_ascii=False, indent=2)
        chat.screen.show(f"{rest}: {tools[rest].description}\n\n{parameters}")


async def policy(chat: Chat, rest: str) -> None:
    tools = _tools(chat)
    width = max(map(len, tools), default=0)
    lines = []
    for name in tools:
        verdict = chat.agent.registry.policy.verdict(name)
        allowed = " (always, in this session)" if name in chat.approver.always else ""
        lines.append(f"{name:<{width}}  {verdict:<10}  {MEANING[verdict]}{allowed}")
    chat.screen.show("\n".join(lines))
    chat.say("Set in [security.tool_policy.tools] of the configuration, or with --allow, --ask and --deny", DIM)


async def doctor(chat: Chat, rest: str) -> None:
    if chat.parts.doctor is None:
        chat.say("Run `my-agent doctor` in a shell", NOTE)
        return
    found = await chat.interrupts.run(asyncio.to_thread(chat.parts.doctor))
    chat.screen.end_line()
    chat.parts.output.show(found)


def _tools(chat: Chat) -> dict[str, Tool]:
    found = {name: chat.agent.registry.get(name) for name in chat.agent.registry.names()}
    return {name: tool for name, tool in found.items() if tool is not None}
