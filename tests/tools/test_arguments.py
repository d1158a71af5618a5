"""`tidy_schema`: small and plain; `Arguments` are tried with `Tool`."""

from __future__ import annotations

from typing import Any

from tools.arguments import tidy_schema


def test_titles_go_but_a_property_of_that_name_stays() -> None:
    schema: dict[str, Any] = {
        "title": "Arguments",
        "type": "object",
        "properties": {"title": {"title": "Title", "type": "string"}},
        "required": ["title"],
    }
    assert tidy_schema(schema, optional=()) == {
        "type": "object",
        "properties": {"title": {"type": "string"}},
        "required": ["title"],
    }


def test_references_are_written_out() -> None:
    schema = {
        "$defs": {
            "Node": {"type": "object", "properties": {"leaf": {"$ref": "#/$defs/Leaf"}}},
            "Leaf": {"type": "integer", "title": "Leaf"},
        },
        "type": "object",
        "properties": {"first": {"$ref": "#/$defs/Node", "description": "where it begins"}},
    }
    written = {"type": "object", "properties": {"leaf": {"type": "integer"}}}
    assert tidy_schema(schema, optional=()) == {
        "type": "object",
        "properties": {"first": {**written, "description": "where it begins"}},
    }


def test_the_order_of_keys_does_not_depend_on_the_source() -> None:
    one = {"type": "object", "properties": {"a": {"type": "integer", "minimum": 1, "default": 2, "description": "d"}}}
    other = {"properties": {"a": {"description": "d", "default": 2, "minimum": 1, "type": "integer"}}, "type": "object"}
    assert str(tidy_schema(one, optional=())) == str(tidy_schema(other, optional=()))


def test_an_optional_property_does_not_mention_null() -> None:
    choices = [{"type": "integer"}, {"type": "string"}, {"type": "null"}]
    schema = {"type": "object", "properties": {"a": {"anyOf": choices, "default": None}, "b": {"anyOf": choices[1:]}}}
    assert tidy_schema(schema, optional=("a", "b"))["properties"] == {
        "a": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        "b": {"type": "string"},
    }
