"""`Arguments`: what a function takes, as a JSON schema, and the check of what a model sent for it."""

from __future__ import annotations

import functools
import inspect
import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.fields import FieldInfo

from tools.schema import tidy_schema

__all__ = ["ArgumentError", "Arguments"]

IGNORED = "ignored"  # the name of the `**` parameter that swallows unknown arguments
DEEPEST = 64  # levels of nesting; the JSON reader of pydantic stops at about 200 with a message about itself
SHOWN_CHARS = 60

WHAT = {
    "string": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "list": "a list",
    "tuple": "a list",
    "set": "a list",
    "frozen": "a list",
    "dict": "an object",
    "model": "an object",
    "dataclass": "an object",
    "none": "null",
}
# The first word of a pydantic error type -> what the argument should have been.

KINDS = ("_type", "_parsing", "_from_float", "_required", "_size")  # how the types end that WHAT translates

BOUNDS = {
    "greater_than": "more than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
    "literal_error": "one of {expected}",
    "enum": "one of {expected}",
    "string_too_short": "at least {min_length} characters long",
    "string_too_long": "at most {max_length} characters long",
    "too_short": "at least {min_length} long",
    "too_long": "at most {max_length} long",
}


class ArgumentError(ValueError):
    """The model sent arguments that do not fit; the text says which and what would."""


class Arguments:
    """The arguments of one function."""

    def __init__(self, func: Callable[..., Any], name: str) -> None:
        parameters, self._ignores_unknown = parameters_of(func, name)
        self._names = [parameter.name for parameter in parameters]
        self._optional = {p.name for p in parameters if p.default is not p.empty}
        # Fields get neutral names and the real ones as aliases: an argument may be called "schema" or "model_x".
        fields: dict[str, Any] = {
            f"argument_{index}": (
                Any if parameter.annotation is parameter.empty else parameter.annotation,
                Field(alias=parameter.name)
                if parameter.default is parameter.empty
                else Field(alias=parameter.name, default=parameter.default),
            )
            for index, parameter in enumerate(parameters)
        }
        config = ConfigDict(extra="ignore" if self._ignores_unknown else "forbid", strict=True)
        self._model: type[BaseModel] = create_model(name, __config__=config, **fields)
        self.schema = tidy_schema(self._model.model_json_schema(), optional=self._optional)

    def parse(self, text: str) -> dict[str, Any]:
        """Read JSON text: no text is no arguments, and `null` for an optional argument is its absence.

        Raises `ArgumentError` for everything that is not one object of sendable values.
        """
        values = read_object(text)
        for path, fault in faults(values):
            raise ArgumentError(f"argument {path!r} {fault}")
        return {key: value for key, value in values.items() if value is not None or key not in self._optional}

    def check(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the typed values for the function, defaults filled in.

        Raises `ArgumentError` that names everything that is wrong.
        """
        try:
            checked = self._model.model_validate_json(json.dumps(values, ensure_ascii=False))
        except ValidationError as error:
            raise ArgumentError(self._explain(error, values)) from None
        return {name: getattr(checked, f"argument_{index}") for index, name in enumerate(self._names)}

    def _explain(self, error: ValidationError, values: Mapping[str, Any]) -> str:
        wanted: dict[str, list[str]] = {}  # argument -> what it may be: the branches of a union are one sentence
        sent: dict[str, str] = {}
        sentences = []
        for fault in error.errors(include_url=False):
            path, kind = path_in(values, fault["loc"]), fault["type"]
            if kind == "missing":
                sentences.append(f"argument {path!r} is missing")
            elif kind in ("extra_forbidden", "unexpected_keyword_argument"):
                takes = ", ".join(self._names) or "no arguments"
                sentences.append(f"unknown argument {path!r}" + (f"; it takes: {takes}" if path in values else ""))
            elif kind in ("value_error", "assertion_error"):  # the words of a validator
                sentences.append(f"argument {path!r}: {fault['ctx']['error']}" if path else str(fault["ctx"]["error"]))
            else:
                wanted.setdefault(path, []).append(expectation(kind, fault["msg"], fault.get("ctx", {})))
                sent[path] = shown(fault["input"])
        for path, whats in wanted.items():
            choices = " or ".join(dict.fromkeys(whats))
            sentences.append(f"argument {path!r} must be {choices}, not {sent[path]}")
        return "; ".join(sentences)


def parameters_of(func: Callable[..., Any], name: str) -> tuple[list[inspect.Parameter], bool]:
    """Return the parameters with their annotations resolved, and whether unknown arguments are ignored."""
    named: Any = func.func if isinstance(func, functools.partial) else func
    target = inspect.unwrap(named if inspect.isroutine(named) else named.__call__)
    # Annotations are text where `from __future__ import annotations` is in force; those of a function inside another
    # may name what it closes over, or what is local where the tool is built.
    closed_over = inspect.getclosurevars(target).nonlocals if inspect.isfunction(target) else {}
    try:
        hints = get_type_hints(target, localns={**locals_round(target), **closed_over}, include_extras=True)
    except NameError as error:
        raise ValueError(f"tool {name!r}: {error}; use types that are defined at the top of its module") from error
    kept, ignores = [], False
    for parameter in inspect.signature(func).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD and parameter.name == IGNORED:
            ignores = True
        elif parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise ValueError(f"tool {name!r}: parameter {parameter.name!r} cannot be given by name")
        elif isinstance(parameter.default, FieldInfo):
            raise ValueError(f"tool {name!r}: describe {parameter.name!r} with Annotated[..., Field(...)]")
        else:
            kept.append(parameter.replace(annotation=hints.get(parameter.name, parameter.annotation)))
    return kept, ignores


def locals_round(func: Any) -> dict[str, Any]:
    """Return the local names of the running function that builds a tool of `func`, if both are of one module."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals is not getattr(func, "__globals__", None):
        frame = frame.f_back
    return {} if frame is None else dict(frame.f_locals)


def read_object(text: str) -> dict[str, Any]:
    if not isinstance(text, str):
        raise ArgumentError(f"arguments must be JSON text, not {type(text).__name__}")
    if not text.strip():
        return {}
    try:
        values = json.loads(text, strict=False)  # strict=False: models write raw line ends inside strings
    except RecursionError:
        raise ArgumentError("arguments are nested too deeply; send one flat JSON object") from None
    except json.JSONDecodeError as error:
        where = f"{error.msg} at character {error.pos}"
        raise ArgumentError(f"arguments are not valid JSON ({where}); send one JSON object") from None
    except ValueError:
        raise ArgumentError("arguments hold a number with too many digits; send it as text") from None
    if not isinstance(values, dict):
        raise ArgumentError(f"arguments must be a JSON object, not {shown(values)}")
    return values


def faults(values: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what no argument may hold: numbers JSON has not, half characters, bottomless nesting."""
    rest: list[tuple[str, Any, int]] = [(key, value, 1) for key, value in values.items()]
    while rest:
        path, value, depth = rest.pop()
        if has_half(path) or (isinstance(value, str) and has_half(value)):
            yield path, "holds half a character (a lone surrogate); send whole characters"
        elif isinstance(value, float) and not math.isfinite(value):
            yield path, f"is {value}, which is no JSON number"
        elif isinstance(value, dict | list) and depth >= DEEPEST:
            yield path.split("[")[0].split(".")[0], f"is nested more than {DEEPEST} levels deep"
        elif isinstance(value, dict):
            rest += [(f"{path}.{key}", part, depth + 1) for key, part in value.items()]
        elif isinstance(value, list):
            rest += [(f"{path}[{index}]", part, depth + 1) for index, part in enumerate(value)]


def has_half(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)


def path_in(values: Mapping[str, Any], location: tuple[int | str, ...]) -> str:
    """Return the argument a fault is about, such as `edits[2].old`; names of union branches are no part of it."""
    path = ""
    at: Any = values
    for index, part in enumerate(location):
        if isinstance(at, list) and isinstance(part, int) and part < len(at):
            path, at = f"{path}[{part}]", at[part]
        elif isinstance(at, Mapping) and (part in at or index == len(location) - 1):
            path, at = (f"{path}.{part}" if path else str(part)), at.get(part)
    return path


def expectation(kind: str, message: str, context: Mapping[str, Any]) -> str:
    if kind in BOUNDS:
        return BOUNDS[kind].format_map({key: plain_number(value) for key, value in context.items()})
    if (word := kind.split("_")[0]) in WHAT and kind.endswith(KINDS):
        return WHAT[word]
    opening = "Input should be "
    return message.removeprefix(opening) if message.startswith(opening) else f"valid ({message})"


def plain_number(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def shown(value: Any) -> str:
    if isinstance(value, dict | list) and value:
        return "an object" if isinstance(value, dict) else "a list"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}..."
