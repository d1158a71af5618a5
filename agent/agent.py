"""`Agent`: a model with tools, a talk and memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from agent.compaction import Compactor
from agent.delegation import AgentLimits, Delegation, with_role
from agent.events import Emit, Event, Notice, ToolFinished, ToolStarted, ignore
from agent.failures import ContextOverflow
from agent.history import History
from agent.home import MemoryDir, home_folders
from agent.loop import react
from agent.memory_layers import MemoryLayers
from agent.messages import Message, Model, Usage, scrub, text_of, user_message
from agent.model import OpenAIModel
from agent.reply import Reply, memory_write
from agent.session import Session
from memory import Origin
from prompts import render
from tools import Approve, Tool, ToolPolicy, ToolRegistry, ToolResult, make_task_tool, refuse

if TYPE_CHECKING:
    from memory import MemoryProvider, MemoryStore

__all__ = ["Agent"]


class Agent:
    """A model that answers turn after turn, with tools and, if wanted, memory.

    The system prompt is built here and by `reset()`, and nowhere else: it carries the snapshot of the curated memory
    as it was then. `memory_dir` is None (`<cwd>/.my_agent_core/memory` if it is there), False (off) or a folder.
    Sub-agents come from `spawn()` and `delegate()` and have no memory at all. One turn at a time.
    """

    _prompt_name: ClassVar[str] = "system"

    def __init__(
        self,
        *,
        model: Model | str,
        tools: Sequence[Tool] = (),
        session: Session | None = None,
        instructions: str = "",
        memory_dir: MemoryDir = None,
        memory_limits: tuple[int, int] | None = None,
        provider: MemoryProvider | None = None,
        policy: ToolPolicy | None = None,
        approve: Approve = refuse,
        max_steps: int = 50,
        max_retries: int = 4,
        context_budget: int = 100_000,
        can_delegate: bool = True,
        limits: AgentLimits | None = None,
        private: Sequence[Path] = (),
        name: str = "main",
        cwd: Path | str | None = None,
    ) -> None:
        """Wire the parts together.

        `memory_limits`: characters of MEMORY.md and USER.md. `context_budget`: tokens of a request at most.
        `private`: folders that no sub-agent's file tool may touch, beside those of memory and of the session.
        """
        self.model: Model = OpenAIModel(model) if isinstance(model, str) else model
        self.name = name
        self.cwd = Path.cwd() if cwd is None else Path(cwd)
        self.instructions = instructions
        self.max_steps, self.max_retries = max_steps, max_retries
        self.policy = ToolPolicy(None) if policy is None else policy
        self.limits = limits or AgentLimits()
        self.private = list(private)
        self.usage = Usage()
        # Of all turns, sub-agents and summaries included
        self.memory = MemoryLayers(memory_dir, self.cwd, provider=provider, limits=memory_limits, origin=self._origin)
        self.turn = 0
        # The number of the running turn, or of the last one
        self._call_id = ""
        self._spent: list[Usage] = []
        self._delegation = Delegation(self.limits)
        self._history = History(session)
        self._compactor = Compactor(self._history, context_budget, self._spent.append)
        own = [make_task_tool(self.delegate)] if can_delegate else []
        self.registry = ToolRegistry([*tools, *self.memory.tools(), *own], policy=self.policy, approve=approve)
        self.approve = self.registry.approve  # one question after the other, those of sub-agents too
        self._build_prompt()

    def _origin(self) -> Origin:
        session = self._history.session_id
        return Origin(author="agent", agent=self.name, session=session, turn=self.turn, call_id=self._call_id)

    def _build_prompt(self) -> None:
        text = render(self._prompt_name, memory=self.memory.load(), instructions=self.instructions)
        self._history.freeze(text)

    @property
    def memory_store(self) -> MemoryStore | None:
        return self.memory.store

    @property
    def system_prompt(self) -> str:
        return text_of(self._history.messages[0])

    @property
    def messages(self) -> list[Message]:
        """The talk so far, without the system prompt."""
        return self._history.talk

    @property
    def session(self) -> Session | None:
        """The file that this talk is kept in."""
        return self._history.session

    @property
    def notices(self) -> list[str]:
        """Sentences for the person about what was found in memory and in the session when they were loaded."""
        return self.memory.notices + ([] if self.session is None else list(self.session.notices))

    def context_parts(self) -> dict[str, int]:
        """Return how many tokens of the next request are tools, system, memory and talk (estimated)."""
        return self._compactor.parts(self.registry.schemas(), self.memory.frozen)

    @property
    def context_budget(self) -> int:
        return self._compactor.budget_tokens

    async def run(self, text: str, *, on_event: Emit = ignore) -> Reply:
        """Play one turn: from the user's `text` to the final answer.

        Raises `ValueError` for an empty text, a `ModelFailure` when no answer came, and `CancelledError`. The
        history is valid and saved in each case.
        """
        text = scrub(text)
        if not text.strip():
            raise ValueError("The message is empty; say what is to be done")
        self.turn += 1
        self._delegation.begin()
        self._compactor.begin()
        self._spent.clear()
        writes: list[dict[str, Any]] = []

        def watch(event: Event) -> None:
            if isinstance(event, ToolStarted):
                self._call_id = event.call.id
            elif isinstance(event, ToolFinished) and (write := memory_write(event.call, event.result)) is not None:
                writes.append(write)
            on_event(event)

        async def make_room(overflow: ContextOverflow | None) -> bool:
            schemas = self.registry.schemas()
            return await self._compactor.make_room(
                self.model, schemas, overflow=overflow, emit=watch, max_retries=self.max_retries
            )

        recalled = await self.memory.manager.prefetch(text)
        for notice in self.memory.manager.take_notices():
            on_event(Notice("recall", notice))
        self._history.record(user_message(f"{recalled}\n\n{text}" if recalled else text))
        try:
            outcome = await react(
                self.model,
                self._history.messages,
                self.registry,
                record=self._history.record,
                emit=watch,
                max_steps=self.max_steps,
                max_retries=self.max_retries,
                make_room=make_room,
                weigh=lambda completion: self._compactor.learn(completion.usage),
            )
        finally:
            usage = sum(self._spent, Usage())
            self.usage += usage
        return Reply(outcome.text, outcome.finish_reason, outcome.steps, usage, writes, self._history.session_id)

    def change_model(self, model: Model) -> None:
        """Let another model answer from here on; the one before is the caller's to close."""
        self.model = model
        self._compactor.forget()

    async def compact(self, *, on_event: Emit = ignore) -> bool:
        """Sum up the older part of the talk now. Says, by a notice too, whether anything was shortened."""
        self._compactor.begin()
        self._spent.clear()
        try:
            return await self._compactor.shorten(
                self.model, emit=on_event, max_retries=self.max_retries, why="you asked for it"
            )
        finally:
            self.usage += sum(self._spent, Usage())

    def reset(self) -> None:
        """Load memory again, freeze it again, and begin an empty talk, in a new session file if there was one."""
        self._history.restart(cwd=self.cwd, model=self.model.name)
        self._build_prompt()

    def undo(self) -> str | None:
        """Take the last turn out of the talk. Returns what the user had asked, None where there is no turn."""
        return self._history.undo()

    def spawn(self, *, tools: Sequence[Tool] | None = None, instructions: str | None = None, name: str = "") -> Agent:
        """Make a sub-agent: the same model, an empty talk, no memory, no session, and no sub-agents of its own.

        It gets the tools that may be inherited, with the folders of memory, sessions and `private` barred; `tools`
        are given to it on purpose instead, barred likewise, and never a tool that may not be inherited at all.
        """
        sessions = [] if self.session is None else [self.session.path.parent]
        folders = [*self.private, *self.memory.folders, *home_folders(self.cwd), *sessions]
        chosen = self.registry.inheritable() if tools is None else [tool for tool in tools if tool.inheritable]
        return SubAgent(
            model=self.model,
            tools=[tool.barred(folders) for tool in chosen],
            instructions=self.instructions if instructions is None else instructions,
            memory_dir=False,
            policy=self.policy,
            approve=self.approve,
            max_steps=self.limits.max_steps,
            max_retries=self.max_retries,
            context_budget=self._compactor.budget_tokens,
            can_delegate=False,
            limits=replace(self.limits, max_agents=0),
            private=folders,
            name=name or f"{self.name}/sub",
            cwd=self.cwd,
        )

    async def delegate(self, prompt: str, agent_type: str | None = None) -> ToolResult:
        """Hand one job to a fresh sub-agent and return what came of it; bounded, and within the limits of the turn."""
        instructions = with_role(agent_type, self.instructions)

        def spawn(number: int) -> Agent:
            return self.spawn(instructions=instructions, name=f"{self.name}/sub-{number}")

        return await self._delegation.run(spawn, prompt, self._spent.append)

    async def close(self) -> None:
        """Close the model's connections, the provider and the session file."""
        await self.memory.manager.close()
        await self.model.close()
        if self.session is not None:
            self.session.close()


class SubAgent(Agent):
    """An agent for one job, without memory; made by `Agent.spawn` only."""

    _prompt_name = "subagent"
