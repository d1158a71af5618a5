"""`introduce`: what a chat says about itself at its beginning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.app.plain import one_line, shorten
from agent.app.style import DIM, NOTE
from agent.app.version import VERSION

if TYPE_CHECKING:
    from agent import Agent
    from agent.app.repl import Chat

__all__ = ["WELCOME", "introduce"]

WELCOME = f"my-agent {VERSION} · /help says what can be typed here · Ctrl-D leaves"
SHOWN_LINES = 6


def introduce(chat: Chat) -> None:
    """Say what answers, what is remembered, where an old talk had stopped, and what was wrong with it."""
    if chat.screen.terminal:
        chat.say(_parts(chat.agent), DIM)
        if chat.agent.messages:
            chat.say(_last_words(chat.agent, chat.screen.columns), DIM)
    for notice in chat.agent.notices:
        chat.say(notice, NOTE)


def _parts(agent: Agent) -> str:
    """Return one line: the model and the memory."""
    from agent import OfflineModel  # the first prompt, which needs only WELCOME, does not wait for it

    store, model, memory = agent.memory_store, agent.model.name, "off"
    if isinstance(agent.model, OfflineModel):
        model = "none configured: built-in rules answer, not a language model"
    if store is not None:
        count = len(store.entries("memory")) + len(store.entries("user"))
        memory = f"{count} {'entry' if count == 1 else 'entries'} in {store.mem_dir}"
    return f"model: {model} · memory: {memory}"


def _last_words(agent: Agent, columns: int) -> str:
    """Return where a talk that is taken up again had stopped."""
    from agent.history import typed_part
    from agent.messages import text_of

    asked = next((typed_part(message) for message in reversed(agent.messages) if message.get("role") == "user"), "")
    said = [text_of(message).strip() for message in agent.messages if message.get("role") == "assistant"]
    answer = next((text for text in reversed(said) if text), "").split("\n")
    head = f"This talk has {len(agent.messages)} messages. It stopped at:\n> {shorten(one_line(asked), columns - 2)}"
    return "\n".join([head, *answer[:SHOWN_LINES], *(["…"] if len(answer) > SHOWN_LINES else [])])
