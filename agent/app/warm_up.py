"""`load_client`: what a chat loads behind its first prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent import Model

__all__ = ["load_client"]


def load_client(model: Model) -> None:
    """Load the client of `model`, on a thread of its own, and let the collector work from here on."""
    from agent import OpenAIModel
    from agent.app.main import collect_again

    if isinstance(model, OpenAIModel):
        model.warm_up()
    collect_again()
