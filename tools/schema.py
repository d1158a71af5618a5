"""`tidy_schema`: a JSON schema of pydantic made small, plain and the same everywhere.

No titles, no references where they can be written out, no `null` for an argument that may be left out, and keys in one
order: the schema is part of the prefix a provider caches, and small models read it better.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

__all__ = ["tidy_schema"]

ORDER = ("$ref", "type", "description", "enum", "default", "anyOf", "items", "properties", "required")
LAST = ("additionalProperties", "$defs")
REFERENCE = "#/$defs/"


def tidy_schema(schema: Mapping[str, Any], *, optional: Collection[str]) -> dict[str, Any]:
    """Return the schema of an object whose `optional` properties may be absent."""
    definitions: Mapping[str, Any] = schema.get("$defs", {})
    recursive: set[str] = set()
    tidy = _tidy({key: value for key, value in schema.items() if key != "$defs"}, definitions, (), recursive)
    tidy.setdefault("properties", {})
    for name in optional:
        tidy["properties"][name] = _without_null(tidy["properties"][name])
    written: dict[str, Any] = {}
    while missing := sorted(recursive - written.keys()):
        for name in missing:
            written[name] = _tidy(definitions[name], definitions, (name,), recursive)
    if written:
        tidy["$defs"] = written
    return _in_order(tidy)


def _tidy(
    node: Mapping[str, Any], definitions: Mapping[str, Any], open_names: tuple[str, ...], recursive: set[str]
) -> dict[str, Any]:
    def inner(part: Any) -> Any:
        return _tidy(part, definitions, open_names, recursive) if isinstance(part, Mapping) else part

    if isinstance(reference := node.get("$ref"), str):
        name = reference.removeprefix(REFERENCE)
        beside = {key: value for key, value in node.items() if key != "$ref"}
        if name not in open_names:
            return _tidy({**definitions[name], **beside}, definitions, (*open_names, name), recursive)
        recursive.add(name)
    tidy: dict[str, Any] = {}
    for key, value in node.items():
        if key == "title" or (key == "default" and value is None):
            continue
        if key == "const":
            tidy["enum"] = [value]  # some servers know `enum` only
        elif key in ("properties", "patternProperties", "$defs"):
            tidy[key] = {name: inner(part) for name, part in value.items()}
        elif key in ("anyOf", "oneOf", "allOf", "prefixItems"):
            tidy[key] = [inner(part) for part in value]
        elif key in ("items", "additionalProperties", "not", "propertyNames"):
            tidy[key] = inner(value)
        else:
            tidy[key] = value
    return _in_order(tidy)


def _without_null(node: dict[str, Any]) -> dict[str, Any]:
    choices = [part for part in node.get("anyOf", []) if part != {"type": "null"}]
    if not choices:
        return node
    beside = {key: value for key, value in node.items() if key != "anyOf"}
    return _in_order({**choices[0], **beside} if len(choices) == 1 else {**beside, "anyOf": choices})


def _in_order(node: dict[str, Any]) -> dict[str, Any]:
    middle = sorted(node.keys() - {*ORDER, *LAST})
    return {key: node[key] for key in (*ORDER, *middle, *LAST) if key in node}
