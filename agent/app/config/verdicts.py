"""`stricter_of`: two tool policies made one that is nowhere looser than either."""

from __future__ import annotations

from agent.app.config.checking import Path, Value

__all__ = ["BUILT_IN_TOOLS", "DEFAULT", "TOOLS", "meant_tool", "stricter_of"]

DEFAULT: Path = ("security", "tool_policy", "default")
TOOLS: Path = ("security", "tool_policy", "tools")

BUILT_IN_TOOLS = (
    *("file_edit", "file_list", "file_read", "file_search", "file_write", "shell", "task"),
    *("memory", "memory_forget", "memory_get", "memory_recall", "memory_search", "memory_store"),
)

_ORDER = ("allow", "supervised", "deny")


def stricter_of(own: dict[Path, Value], project: dict[Path, Value]) -> tuple[dict[Path, Value], list[str]]:
    """Return the policy keys of both, the stricter verdict each, and the project's wishes that were looser.

    A tool that one side does not name has that side's default there.
    """
    built_in = Value("allow", "built in")
    ours, theirs = own.get(DEFAULT, built_in), project.get(DEFAULT, built_in)
    merged = {DEFAULT: _stricter(ours, theirs)} if DEFAULT in own or DEFAULT in project else {}
    looser: list[str] = []
    for path in dict.fromkeys([*own, *project]):
        if path[:-1] != TOOLS:
            continue
        mine, wish = own.get(path, ours), project.get(path, theirs)
        merged[path] = _stricter(mine, wish)
        if path in project and merged[path] is not wish and _rank(mine) > _rank(wish):
            looser.append(f"{path[-1]} = {wish.value!r} (here it stays {mine.value!r})")
    return merged, looser


def meant_tool(name: str) -> str | None:
    """Return the tool that a misspelt name means; None for a name that is right, or that may be a provider's."""
    if name in BUILT_IN_TOOLS:
        return None
    from difflib import get_close_matches  # only where a name is strange

    close = get_close_matches(name, BUILT_IN_TOOLS, n=1, cutoff=0.75)
    return close[0] if close else None


def _stricter(one: Value, other: Value) -> Value:
    return other if _rank(other) > _rank(one) else one


def _rank(value: Value) -> int:
    return _ORDER.index(value.value) if value.value in _ORDER else len(_ORDER)
    # an unknown word wins here, so that the check that follows names it
