"""`flatten` and `build`: between the tables of a TOML file and the classes of `settings.py`, checked key by key."""

from __future__ import annotations

import math
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from agent.app.config.settings import Bounds, Section
from agent.app.exits import ConfigProblem

__all__ = ["Leaf", "Path", "Value", "build", "dotted", "flatten", "from_text", "known_leaves"]

T = TypeVar("T", bound=Section)

Path = tuple[str, ...]


class Value:
    """What a key is set to, and by whom."""

    __slots__ = ("origin", "value")

    def __init__(self, value: Any, origin: str) -> None:
        self.value = value
        self.origin = origin
        # As a sentence names it: a file, a variable, a flag


class Leaf:
    """A key that holds a value and not a table of keys."""

    __slots__ = ("bounds", "default", "hint")

    def __init__(self, hint: Any, default: Any, bounds: Bounds | None) -> None:
        self.hint = hint
        self.default = default
        self.bounds = bounds


_SHAPES: dict[type, dict[str, tuple[Any, Leaf | None]]] = {}


def dotted(path: Path) -> str:
    return ".".join(path)


def _shape(cls: Any) -> dict[str, tuple[Any, Leaf | None]]:
    """Return the keys of a settings class: its annotation, and the leaf where it is none of our classes."""
    if cls in _SHAPES:
        return _SHAPES[cls]
    shape: dict[str, tuple[Any, Leaf | None]] = {}
    for name, hint in get_type_hints(cls, include_extras=True).items():
        bounds = None
        if get_origin(hint) is Annotated:
            hint, bounds = get_args(hint)
        branch = _is_section(hint) or _by_name(hint) is not None
        shape[name] = (hint, None if branch else Leaf(hint, getattr(cls, name), bounds))
    _SHAPES[cls] = shape
    return shape


def _by_name(hint: Any) -> Any:
    """Return what stands under each name of a table whose names are free, or None for any other annotation."""
    if get_origin(hint) is Mapping and get_args(hint)[1] is not Any:
        return get_args(hint)[1]
    return None


def _is_section(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, Section)


def known_leaves(cls: type, prefix: Path = ()) -> Iterator[tuple[Path, Leaf]]:
    """Yield every key with a fixed name."""
    for name, (hint, leaf) in _shape(cls).items():
        if leaf is not None:
            yield (*prefix, name), leaf
        elif _is_section(hint):
            yield from known_leaves(hint, (*prefix, name))


def flatten(cls: type, table: Mapping[str, Any], origin: str) -> tuple[dict[Path, Value], list[Path]]:
    """Return the values of a table by path, and the paths that no setting has.

    Raises `ConfigProblem` where a value stands in the place of a table.
    """
    found: dict[Path, Value] = {}
    unknown: list[Path] = []
    _flatten(cls, table, (), origin, found, unknown)
    return found, unknown


def _flatten(
    cls: Any, table: Mapping[str, Any], prefix: Path, origin: str, found: dict[Path, Value], unknown: list[Path]
) -> None:
    shape = _shape(cls)
    for name, value in table.items():
        path = (*prefix, name)
        if name not in shape:
            unknown.append(path)
            continue
        hint, leaf = shape[name]
        inner = _by_name(hint)
        if leaf is not None:
            found[path] = Value(value, origin)
        elif not isinstance(value, Mapping):
            raise ConfigProblem(f"{dotted(path)} = {value!r} ({origin}) must be a table: [{dotted(path)}]")
        elif inner is None:
            _flatten(hint, value, path, origin, found, unknown)
        else:
            for key, one in value.items():
                if not _is_section(inner):
                    found[(*path, key)] = Value(one, origin)
                elif isinstance(one, Mapping):
                    _flatten(inner, one, (*path, key), origin, found, unknown)
                else:
                    raise ConfigProblem(f"{dotted((*path, key))} = {one!r} ({origin}) must be a table")


def build(cls: type[T], values: Mapping[Path, Value], prefix: Path = ()) -> T:
    """Make settings of checked values; what is not there keeps its built-in value. Raises `ConfigProblem`."""
    made: dict[str, Any] = {}
    for name, (hint, leaf) in _shape(cls).items():
        path = (*prefix, name)
        inner = _by_name(hint)
        if leaf is not None:
            if path in values:
                made[name] = _checked(path, leaf, values[path])
        elif inner is None:
            made[name] = build(hint, values, path)
        else:
            names = dict.fromkeys(key[len(path)] for key in values if key[: len(path)] == path and len(key) > len(path))
            if _is_section(inner):
                made[name] = {key: build(inner, values, (*path, key)) for key in names}
            else:
                free = Leaf(inner, None, None)
                made[name] = {key: _checked((*path, key), free, values[(*path, key)]) for key in names}
    return cls(**made)


def _checked(path: Path, leaf: Leaf, value: Value) -> Any:
    try:
        found = _converted(leaf.hint, value.value)
    except ValueError as error:
        raise ConfigProblem(f"{dotted(path)} = {value.value!r} ({value.origin}) {error}") from error
    if leaf.bounds is not None:
        low, high = leaf.bounds
        if found < low or (high is not None and found > high):
            bounds = f"at least {low:g}" if high is None else f"between {low:g} and {high:g}"
            raise ConfigProblem(f"{dotted(path)} = {found!r} ({value.origin}) must be {bounds}")
    return found


def _converted(hint: Any, value: Any) -> Any:
    """Return `value` as the annotation wants it, or raise a `ValueError` that says what is wanted."""
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _converted(next(one for one in args if one is not type(None)), value)
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
    args = [one for one in get_args(leaf.hint) if one is not type(None)]
    hint = args[0] if get_origin(leaf.hint) in (Union, types.UnionType) else leaf.hint
    if hint is bool:
        return {
            "1": True,
            "true": True,
            "yes": True,
            "on": True,
            "0": False,
            "false": False,
            "no": False,
            "off": False,
        }.get(text.lower(), text)
    if get_origin(hint) is Sequence:
        return [part.strip() for part in text.split(",") if part.strip()]
    if hint in (int, float):
        try:
            return hint(text)
        except ValueError:
            return text
    return text
