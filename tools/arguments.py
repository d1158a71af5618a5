"""`Arguments`: what a function takes, as a JSON schema, and the check of what a model sent for it."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Collection, Mapping
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

__all__ = ["Arguments", "tidy_schema"]

IGNORED = "ignored"  # the name of the `**` parameter that swallows unknown arguments
SHOWN_CHARS = 60

WHAT = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "greater_than": "more than {gt:g}",
    "greater_than_equal": "at least {ge:g}",
    "less_than": "less than {lt:g}",
    "less_than_equal": "at most {le:g}",
    "literal_error": "one of {expected}",
    "string_too_short": "at least {min_length} characters long",
    "string_too_long": "at most {max_length} characters long",
}
# Kind of a pydantic error -> what the argument should have been. Others say it in pydantic's words, behind the prefix.
PREFIX = "Input should be "


class Arguments:
    """The arguments of one function."""

    def __init__(self, func: Callable[..., Any], name: str) -> None:
        parameters, ignores_unknown = parameters_of(func, name)
        self._names = [parameter.name for parameter in parameters]
        self._optional = {p.name for p in parameters if p.default is not p.empty}
        # Fields get neutral names and the real ones as aliases: an argument may be called "schema" or "model_x".
        fields: dict[str, Any] = {}
        for index, parameter in enumerate(parameters):
            default = ... if parameter.default is parameter.empty else parameter.default
            fields[f"argument_{index}"] = (parameter.annotation, Field(alias=parameter.name, default=default))
        config = ConfigDict(extra="ignore" if ignores_unknown else "forbid", strict=True)
        self._model: type[BaseModel] = create_model(name, __config__=config, **fields)
        self.schema = tidy_schema(self._model.model_json_schema(), optional=self._optional)

    def read(self, text: str) -> dict[str, Any]:
        """Return the typed values for the function, out of JSON text, with defaults filled in.

        No text is no arguments, and `null` for an optional argument is its absence. Raises ValueError that names
        everything that is wrong.
        """
        sent = read_object(text)
        values = {key: value for key, value in sent.items() if value is not None or key not in self._optional}
        try:
            checked = self._model.model_validate_json(json.dumps(values, ensure_ascii=False))
        except ValidationError as error:
            raise ValueError("; ".join(self._explain(error))) from None
        return {name: getattr(checked, f"argument_{index}") for index, name in enumerate(self._names)}

    def _explain(self, error: ValidationError) -> list[str]:
        sentences = []
        for fault in error.errors(include_url=False):
            kind, context = fault["type"], fault.get("ctx", {})
            path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in fault["loc"])[1:]
            if kind == "missing":
                sentences.append(f"argument {path!r} is missing")
            elif kind == "extra_forbidden":
                takes = f"; it takes: {', '.join(self._names) or 'no arguments'}"
                sentences.append(f"unknown argument {path!r}{takes if len(fault['loc']) == 1 else ''}")
            elif kind in ("value_error", "assertion_error"):  # the words of a validator
                sentences.append(f"argument {path!r}: {context['error']}")
            elif kind == "json_invalid":  # it was read once already: only its depth can be wrong
                sentences.append("arguments are nested too deeply; send one flat JSON object")
            else:
                wanted = WHAT[kind].format_map(context) if kind in WHAT else fault["msg"].removeprefix(PREFIX)
                sentences.append(f"argument {path!r} must be {wanted}, not {shown(fault['input'])}")
        return sentences


def parameters_of(func: Callable[..., Any], name: str) -> tuple[list[inspect.Parameter], bool]:
    """Return the parameters with their annotations resolved, and whether unknown arguments are ignored."""
    # Annotations are text where `from __future__ import annotations` is in force, and may name what is local where the
    # tool is built.
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals is not func.__globals__:
        frame = frame.f_back
    try:
        hints = get_type_hints(func, localns=frame and frame.f_locals, include_extras=True)
    except NameError as error:
        raise ValueError(f"tool {name!r}: {error}; use types that are defined at the top of its module") from error
    kept, ignores = [], False
    for parameter in inspect.signature(func).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD and parameter.name == IGNORED:
            ignores = True
        elif parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise ValueError(f"tool {name!r}: parameter {parameter.name!r} cannot be given by name")
        else:
            kept.append(parameter.replace(annotation=hints.get(parameter.name, Any)))
    return kept, ignores


def read_object(text: str) -> dict[str, Any]:
    """Return one object of sendable values."""
    try:
        values = json.loads(text, strict=False) if text.strip() else {}  # models write raw line ends inside strings
    except RecursionError:
        raise ValueError("arguments are nested too deeply; send one flat JSON object") from None
    except json.JSONDecodeError as error:
        where = f"{error.msg} at character {error.pos}"
        raise ValueError(f"arguments are not valid JSON ({where}); send one JSON object") from None
    except ValueError:
        raise ValueError("arguments hold a number with too many digits; send it as text") from None
    if not isinstance(values, dict):
        raise ValueError(f"arguments must be a JSON object, not {shown(values)}")
    for key, value in values.items():
        try:
            json.dumps({key: value}, ensure_ascii=False, allow_nan=False).encode()
        except UnicodeEncodeError:
            raise ValueError(f"argument {key!r} holds half a character (a lone surrogate)") from None
        except ValueError:
            raise ValueError(f"argument {key!r} holds NaN or infinity, which is no JSON number") from None
    return values


def shown(value: Any) -> str:
    if isinstance(value, dict | list) and value:
        return "an object" if isinstance(value, dict) else "a list"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}..."


def tidy_schema(schema: Mapping[str, Any], *, optional: Collection[str]) -> dict[str, Any]:
    """Return pydantic's schema of an object made small, plain and the same everywhere.

    No titles, references written out, no `null` for the `optional` properties, and keys sorted: it is part of the
    prefix a provider caches, and small models read it better. Raises RecursionError for a type that holds itself.
    """
    node = {"properties": {}, **schema}
    definitions: Mapping[str, Any] = node.pop("$defs", {})
    tidy: dict[str, Any] = tidied(node, definitions)
    for name in optional:
        tidy["properties"][name] = without_null(tidy["properties"][name])
    return tidy


def tidied(node: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(node, list):
        return [tidied(part, definitions) for part in node]
    if not isinstance(node, Mapping):
        return node
    if "$ref" in node:
        node = {**definitions[node["$ref"].rpartition("/")[2]], **node}
    tidy: dict[str, Any] = {}
    for key, value in node.items():
        if key == "const":
            tidy["enum"] = [value]  # some servers know `enum` only
        elif key == "properties":
            tidy[key] = {name: tidied(part, definitions) for name, part in value.items()}
        elif key not in ("title", "$ref") and not (key == "default" and value is None):
            tidy[key] = tidied(value, definitions)
    return dict(sorted(tidy.items()))


def without_null(node: dict[str, Any]) -> dict[str, Any]:
    choices = [part for part in node.get("anyOf", []) if part != {"type": "null"}]
    if len(choices) != 1:
        return {**node, "anyOf": choices} if choices else node
    beside = {key: value for key, value in node.items() if key != "anyOf"}
    return dict(sorted({**choices[0], **beside}.items()))
