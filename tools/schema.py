"""`tidy_schema`: a JSON schema of pydantic made small, plain and the same everywhere.

No titles, references written out, no `null` for an argument that may be left out, and keys sorted: the schema is
part of the prefix a provider caches, and small models read it better.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

__all__ = ["tidy_schema"]

NULL = {"type": "null"}


def tidy_schema(schema: Mapping[str, Any], *, optional: Collection[str]) -> dict[str, Any]:
    """Return the schema of an object whose `optional` properties may be absent.

    Raises RecursionError for a type that holds itself: it cannot be written out.
    """
    node = {"properties": {}, **schema}
    definitions: Mapping[str, Any] = node.pop("$defs", {})
    tidy: dict[str, Any] = _tidy(node, definitions)
    for name in optional:
        tidy["properties"][name] = _without_null(tidy["properties"][name])
    return tidy


def _tidy(node: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(node, list):
        return [_tidy(part, definitions) for part in node]
    if not isinstance(node, Mapping):
        return node
    if "$ref" in node:
        node = {**definitions[node["$ref"].rpartition("/")[2]], **node}
    tidy: dict[str, Any] = {}
    for key, value in node.items():
        if key == "const":
            tidy["enum"] = [value]  # some servers know `enum` only
        elif key == "properties":
            tidy[key] = {name: _tidy(part, definitions) for name, part in value.items()}
        elif key not in ("title", "$ref") and not (key == "default" and value is None):
            tidy[key] = _tidy(value, definitions)
    return dict(sorted(tidy.items()))


def _without_null(node: dict[str, Any]) -> dict[str, Any]:
    choices = [part for part in node.get("anyOf", []) if part != NULL]
    if len(choices) != 1:
        return {**node, "anyOf": choices} if choices else node
    beside = {key: value for key, value in node.items() if key != "anyOf"}
    return dict(sorted({**choices[0], **beside}.items()))
