"""`ToolPolicy`: a verdict for every tool."""

from __future__ import annotations

from typing import Any

import pytest

from tools import ToolPolicy
from tools.policy import stricter


def test_a_tool_without_a_rule_has_the_default() -> None:
    policy = ToolPolicy({"shell": "deny"}, default="supervised")
    assert policy.verdict("shell") == "deny"
    assert policy.verdict("file_read") == "supervised"
    assert ToolPolicy(None).verdict("shell") == "allow"


@pytest.mark.parametrize("value", ["alow", "", None, True, ["deny"]])
def test_an_unknown_verdict_is_named_with_its_tool(value: Any) -> None:
    with pytest.raises(ValueError, match="'memory_store'") as raised:
        ToolPolicy({"memory_store": value})
    assert repr(value) in str(raised.value)
    assert "'allow', 'supervised', 'deny'" in str(raised.value)


def test_the_stricter_verdict_wins() -> None:
    assert stricter("allow", "supervised") == stricter("supervised", "allow") == "supervised"
    assert stricter("deny", "supervised") == "deny"
