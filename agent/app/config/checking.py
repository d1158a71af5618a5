"""`flatten` and `build`: between the tables of a TOML file and the classes of `settings.py`, checked key by key."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from agent.app.config.settings import Bounds, Section
from agent.app.exits import ConfigProblem

__all__ = ["Leaf", "Path", "Value", "Values", "build", "dotted", "flatten", "from_text", "known_leaves"]

Path = tuple[str, ...]


class Value(NamedTuple):
    value: Any
    origin: str
    # As a sentence names it: a file, a variable, a flag


Values = dict[Path, Value]


class Leaf(NamedTuple):
    """A key that holds a value and not a table of keys."""

    hint: Any
    default: Any
    bounds: Bounds | None


class _Free(NamedTuple):
    """A table whose names are free; `inner` stands under each."""

    inner: Any


def dotted(path: Path) -> str:
    return ".".join(path)


@cache
def _parts(cls: type) -> dict[str, Any]:
    """Return what stands under each name of a settings class: a `Leaf`, a class or a `_Free`."""
    hints = get_type_hints(cls, include_extras=True)
    return {name: _part(hint, getattr(cls, name)) for name, hint in hints.items()}


def _part(hint: Any, default: Any) -> Any:
    bounds = None
    if get_origin(hint) is Annotated:
        hint, bounds = get_args(hint)
    if get_origin(hint) is Mapping and get_args(hint)[1] is not Any:
        return _Free(_part(get_args(hint)[1], None))
    return hint if _is_section(hint) else Leaf(hint, default, bounds)


def _is_section(part: Any) -> bool:
    return isinstance(part, type) and issubclass(part, Section)


def known_leaves(cls: type, prefix: Path = ()) -> Iterator[tuple[Path, Leaf]]:
    """Yield every key with a fixed name."""
    for name, part in _parts(cls).items():
        if isinstance(part, Leaf):
            yield (*prefix, name), part
        elif _is_section(part):
            yield from known_leaves(part, (*prefix, name))


def flatten(owner: Any, table: Mapping[str, Any], origin: str, prefix: Path = ()) -> tuple[Values, list[Path]]:
    """Return the values of a table by path, and the paths that no setting has.

    Raises `ConfigProblem` where a value stands in the place of a table.
    """
    found: Values = {}
    unknown: list[Path] = []
    for name, value in table.items():
        path = (*prefix, name)
        part = owner.inner if isinstance(owner, _Free) else _parts(owner).get(name)
        if part is None:
            unknown.append(path)
        elif isinstance(part, Leaf):
            found[path] = Value(value, origin)
        elif isinstance(value, Mapping):
            inner, strange = flatten(part, value, origin, path)
            found |= inner
            unknown += strange
        else:
            raise ConfigProblem(f"{dotted(path)} = {value!r} ({origin}) must be a table: [{dotted(path)}]")
    return found, unknown


def build(part: Any, values: Values, prefix: Path = ()) -> Any:
    """Make settings of values; what is not there keeps its built-in value. Raises `ConfigProblem`."""
    if isinstance(part, Leaf):
        return _checked(prefix, part, values[prefix])
    depth = len(prefix)
    names = dict.fromkeys(path[depth] for path in values if path[:depth] == prefix and len(path) > depth)
    if isinstance(part, _Free):
        return {name: build(part.inner, values, (*prefix, name)) for name in names}
    return part(**{name: build(_parts(part)[name], values, (*prefix, name)) for name in names})


def _checked(path: Path, leaf: Leaf, value: Value) -> Any:
    try:
        found = _converted(leaf.hint, value.value)
        if leaf.bounds is not None:
            low, high = leaf.bounds
            if found < low or (high is not None and found > high):
                raise ValueError(
                    f"must be at least {low:g}" if high is None else f"must be between {low:g} and {high:g}"
                )
    except ValueError as error:
        raise ConfigProblem(f"{dotted(path)} = {value.value!r} ({value.origin}) {error}") from error
    return found


def _converted(hint: Any, value: Any) -> Any:
    """Return `value` as the annotation wants it, or raise a `ValueError` that says what is wanted."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        if value not in args or isinstance(value, bool):
            raise ValueError(f"is not one of: {', '.join(choice for choice in args if choice)}")
        return value
    if origin is Sequence:
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise ValueError("must be a list of texts")
        return tuple(value)
    if origin is Mapping:
        if not isinstance(value, Mapping):
            raise ValueError("must be a table")
        return dict(value)
    if hint is float:
        if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
            return float(value)
    elif isinstance(value, hint) and not (hint is int and isinstance(value, bool)):
        return value
    raise ValueError(f"must be {_NAMES[hint]}")


_NAMES = {str: "a text in quotes", int: "a whole number", float: "a number", bool: "true or false"}


def from_text(leaf: Leaf, text: str) -> Any:
    """Read the text of an environment variable as the leaf's type; text that does not fit stays text."""
    if leaf.hint is bool:
        words = {
            "1": True,
            "true": True,
            "yes": True,
            "on": True,
            "0": False,
            "false": False,
            "no": False,
            "off": False,
        }
        return words.get(text.lower(), text)
    if get_origin(leaf.hint) is Sequence:
        return [part.strip() for part in text.split(",") if part.strip()]
    if leaf.hint in (int, float):
        try:
            return leaf.hint(text)
        except ValueError:
            return text
    return text
