"""`heal`: a whole history mended at once, to compare another with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agent import Message
from agent.healing import Healing

__all__ = ["heal"]


def heal(messages: Iterable[Any]) -> list[Message]:
    healing = Healing()
    for message in messages:
        healing.add(message)
    return healing.settled()
