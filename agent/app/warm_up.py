"""`warm_up`: loads what the first turn needs while the person types."""

from __future__ import annotations

import threading
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent import Model

__all__ = ["warm_up"]


def warm_up(model: Model, *, styled: bool) -> None:
    """Load the client and the renderer, on a thread of its own, and let the collector work from then on."""
    threading.Thread(target=_load, args=(model, styled), daemon=True).start()


def _load(model: Model, styled: bool) -> None:
    from agent import OpenAIModel
    from agent.app.main import collect_again

    if isinstance(model, OpenAIModel):
        model.warm_up()
    if styled:
        import_module("agent.app.markdown")
    collect_again()
