"""Commands about tools, their policy and this installation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent.app.plain import one_line, shorten
from agent.app.style import DIM, NOTE

if TYPE_CHECKING:
    from agent.app.chat import Chat

__all__ = ["doctor", "names", "policy", "show"]


def names(chat: Chat) -> Iterator[tuple[str, str]]:
    for name in chat.agent.registry.names():
        yield name, _first_line(chat, name)


async def show(chat: Chat, rest: str) -> None:
    registry = chat.agent.registry
    if not rest:
        width = max(map(len, registry.names()), default=0)
        room = max(20, chat.screen.columns - width - 2)
        chat.show("\n".join(f"{name:<{width}}  {shorten(_first_line(chat, name), room)}" for name in registry.names()))
        return
    tool = registry.get(rest)
    if tool is None:
        chat.say(f"There is no tool {rest!r}; there are {', '.join(registry.names())}", NOTE)
        return
    parameters = json.dumps(tool.schema()["function"]["parameters"], ensure_ascii=False, indent=2)
    chat.show(f"{tool.name}: {tool.description}\n\n{parameters}")


async def policy(chat: Chat, rest: str) -> None:
    registry = chat.agent.registry
    meaning = {"allow": "runs", "supervised": "asks first", "deny": "never runs"}
    width = max(map(len, registry.names()), default=0)
    lines = []
    for name in registry.names():
        verdict = registry.policy.verdict(name)
        allowed = " (always, in this session)" if name in chat.approver.always else ""
        lines.append(f"{name:<{width}}  {verdict:<10}  {meaning[verdict]}{allowed}")
    chat.show("\n".join(lines))
    chat.say("Set in [security.tool_policy.tools] of the configuration, or with --allow, --ask and --deny", DIM)


async def doctor(chat: Chat, rest: str) -> None:
    if chat.parts.doctor is None:
        chat.say("Run `my-agent doctor` in a shell", NOTE)
        return
    chat.screen.end_line()
    chat.parts.doctor()


def _first_line(chat: Chat, name: str) -> str:
    tool = chat.agent.registry.get(name)
    return one_line((tool.description if tool is not None else "").partition("\n")[0])
