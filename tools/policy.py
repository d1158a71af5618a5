"""`ToolPolicy`: which tools may run, which need a person's yes first, and which may not."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Literal, get_args

from tools.tool import ToolCall

__all__ = ["Approve", "ToolPolicy", "Verdict", "refuse", "stricter"]

Verdict = Literal["allow", "supervised", "deny"]

Approve = Callable[[ToolCall, str], Awaitable[bool]]
# Asks a person about a call; the text is its preview: what it would change or lose. Only `True` is a yes.

STRICTNESS: tuple[Verdict, ...] = get_args(Verdict)


class ToolPolicy:
    """Rules by tool name; a tool without a rule has the default."""

    def __init__(self, rules: Mapping[str, Verdict] | None = None, *, default: Verdict = "allow") -> None:
        """Raises ValueError for a verdict that is none, with the tool and the value."""
        self.rules: dict[str, Verdict] = dict(rules or {})
        self.default = default
        for name, verdict in [*self.rules.items(), ("default", default)]:
            if verdict not in STRICTNESS:
                choices = ", ".join(repr(choice) for choice in STRICTNESS)
                raise ValueError(f"tool policy of {name!r} is {verdict!r}; it must be one of {choices}")

    def verdict(self, name: str) -> Verdict:
        return self.rules.get(name, self.default)


def stricter(one: Verdict, other: Verdict) -> Verdict:
    return max(one, other, key=STRICTNESS.index)


async def refuse(call: ToolCall, preview: str) -> bool:
    """Answer no: the approver where there is nobody to ask."""
    return False
