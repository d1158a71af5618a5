"""Commands about the model, what it is sent, and what that costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.app.bar import bar
from agent.app.style import DIM, NOTE
from agent.app.warm_up import warm_up
from agent.messages import Usage

if TYPE_CHECKING:
    from agent.app.repl import Chat

__all__ = ["cache", "cost", "model", "show"]

NOTHING = "Nothing was counted yet: no turn was played, or the server reports no usage"


async def model(chat: Chat, rest: str) -> None:
    agent = chat.agent
    if not rest:
        chat.screen.show(f"{agent.model.name}")
        chat.say("/model NAME goes on with another model of the same server", DIM)
        return
    if rest == agent.model.name:
        chat.say(f"{rest} is the model you are talking to", NOTE)
        return
    before, tokens = agent.model, sum(agent.context_parts().values())
    agent.change_model(chat.parts.new_model(rest, agent.session))
    chat.model_name = rest
    warm_up(agent.model, styled=chat.screen.styled)
    await before.close()
    chat.screen.show(
        f"The model is {rest} from here on. Its prefix cache begins anew: the next message sends about "
        f"{tokens:,} tokens at the full price"
    )


async def cost(chat: Chat, rest: str) -> None:
    total = chat.total_usage
    lines = [
        f"Sent       {total.prompt_tokens:>12,} tokens, {_share(total)} of them from the provider's cache",
        f"Received   {total.completion_tokens:>12,} tokens",
    ]
    if total == Usage():
        lines = [NOTHING]
    chat.screen.show("\n".join(lines))
    chat.say("Counted by the server, sub-agents and summaries included. Prices differ; multiply with yours", DIM)


async def show(chat: Chat, rest: str) -> None:
    parts, budget = chat.agent.context_parts(), chat.agent.context_budget
    total = sum(parts.values())
    rows = [*parts.items(), ("free", max(0, budget - total))]
    lines = [f"{name:<8} {bar(tokens, budget)} {tokens:>9,}  {100 * tokens / budget:5.1f} %" for name, tokens in rows]
    chat.screen.show("\n".join([f"About {total:,} of {budget:,} tokens", *lines]))
    chat.say("Estimated. When it is full, older messages are summed up; /compact does it now", DIM)


async def cache(chat: Chat, rest: str) -> None:
    total = chat.total_usage
    if not total.prompt_tokens:
        chat.screen.show(NOTHING)
        return
    used, sent = total.cached_tokens, total.prompt_tokens
    lines = [f"{bar(used, sent)} {used:,} of {sent:,} tokens sent came from the provider's cache ({_share(total)})"]
    if total.cache_write_tokens:
        lines.append(f"{total.cache_write_tokens:,} tokens were written to it")
    chat.screen.show("\n".join(lines))
    chat.say("Tools, system prompt and earlier messages never change within a talk, so only what is new is paid", DIM)


def _share(usage: Usage) -> str:
    return f"{100 * usage.cached_tokens / usage.prompt_tokens:.0f} %" if usage.prompt_tokens else "0 %"
