"""`my-agent tools list|show`: what the model may do here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

from agent.app.config import Config
from agent.app.exits import UsageProblem
from agent.app.memory_commands.curated import begin
from agent.app.options import Options
from agent.app.parameters import Arg, AsJson

if TYPE_CHECKING:
    from agent.agent import Agent

__all__ = ["list_all", "show"]


def list_all(options: Options, json: AsJson = False) -> int:
    """List the tools and what the policy says of each."""
    config, output = begin(options)
    with _wired(config, options) as agent:
        rows = [
            {"name": tool.name, "verdict": agent.policy.verdict(tool.name), "description": tool.description}
            for tool in map(agent.registry.get, sorted(agent.registry.names()))
            if tool is not None
        ]
    if json:
        output.data(rows)
        return 0
    width = max((len(row["name"]) for row in rows), default=0)
    for row in rows:
        first = row["description"].strip().split("\n")[0]
        output.show(
            f"{output.styled(row['name'].ljust(width), 'bold')}  {row['verdict']:<10}  {output.styled(first, 'dim')}"
        )
    return 0


def show(options: Options, name: Annotated[str, Arg("Name of the tool.")]) -> int:
    """Show one tool as the model sees it, and what the policy says."""
    config, output = begin(options)
    with _wired(config, options) as agent:
        tool = agent.registry.get(name)
        if tool is None:
            raise UsageProblem(f"There is no tool {name!r}; there are {', '.join(sorted(agent.registry.names()))}")
        output.data({"verdict": agent.policy.verdict(name), "parallel": tool.parallel, **tool.schema()})
    return 0


@contextmanager
def _wired(config: Config, options: Options) -> Iterator[Agent]:
    """Wire an agent as a run would, with the embedded model, which needs no key."""
    import asyncio

    from agent.app.build import build_agent
    from agent.offline import OfflineModel
    from tools import refuse

    agent = build_agent(config, options, model=OfflineModel(), approve=refuse, session=None)
    try:
        yield agent
    finally:
        asyncio.run(agent.close())
