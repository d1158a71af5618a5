"""`my-agent tools list|show`: what the model may do here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.app.config import Config
from agent.app.exits import UsageProblem
from agent.app.options import Options
from agent.app.output import begin

if TYPE_CHECKING:
    from tools import Tool, ToolPolicy

__all__ = ["list_all", "show", "wired"]


def list_all(options: Options) -> int:
    config, output = begin(options)
    tools, policy = wired(config, options)
    rows = [
        {"name": name, "verdict": policy.verdict(name), "description": tool.description} for name, tool in tools.items()
    ]
    width = max((len(row["name"]) for row in rows), default=0)
    lines = [
        f"{output.styled(row['name'].ljust(width), 'bold')}  {row['verdict']:<10}  "
        + output.styled(row["description"].strip().split("\n")[0], "dim")
        for row in rows
    ]
    return output.result(rows, "\n".join(lines))


def show(options: Options, name: str) -> int:
    """Show one tool as the model sees it, and what the policy says."""
    config, output = begin(options)
    tools, policy = wired(config, options)
    if name not in tools:
        raise UsageProblem(f"There is no tool {name!r}; there are {', '.join(tools)}")
    tool = tools[name]
    output.data({"verdict": policy.verdict(name), "parallel": tool.parallel, **tool.schema()})
    return 0


def wired(config: Config, options: Options) -> tuple[dict[str, Tool], ToolPolicy]:
    """Wire an agent as a run would, with the embedded model, which needs no key; return its tools and policy."""
    import asyncio

    from agent.app.build import build_agent
    from agent.offline import OfflineModel
    from tools import refuse

    agent = build_agent(config, options, model=OfflineModel(), approve=refuse, session=None)
    asyncio.run(agent.close())
    tools = {name: agent.registry.get(name) for name in sorted(agent.registry.names())}
    return {name: tool for name, tool in tools.items() if tool is not None}, agent.policy
