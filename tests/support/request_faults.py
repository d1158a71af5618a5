"""`request_faults`: what a strict server would refuse a request for."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

__all__ = ["request_faults"]


def request_faults(body: bytes) -> list[str]:
    """Return what a strict server would answer 400 to, in words; empty when the body is a valid request."""
    try:
        data = json.loads(body.decode())
    except ValueError as error:  # of the encoding, too
        return [f"the body is not JSON in UTF-8: {error}"]
    faults = []
    for part in _strings(data):
        if "\0" in part:
            faults.append(f"a NUL in {part[:40]!r}")
        if not part.isascii() and any("\ud800" <= letter <= "\udfff" for letter in part):
            faults.append(f"a lone surrogate in {part[:40]!r}")
    messages = data.get("messages") if isinstance(data, dict) else None
    if not isinstance(messages, list) or not messages:
        return [*faults, "no messages"]
    return faults + list(_pairing_faults(messages))


def _pairing_faults(messages: Sequence[dict[str, Any]]) -> Iterator[str]:
    waiting: list[str] = []
    ids: Counter[str] = Counter()
    for number, entry in enumerate(messages):
        role = entry.get("role")
        if role == "tool":
            call_id = entry.get("tool_call_id")
            if not waiting or waiting.pop(0) != call_id:
                yield f"messages.{number}: result {call_id!r} answers no open call, or not in order"
            continue
        if waiting:
            yield f"messages.{number}: calls {waiting} have no result"
            waiting = []
        if role == "assistant":
            calls = entry.get("tool_calls") or []
            if not calls and not (entry.get("content") or ""):
                yield f"messages.{number}: an assistant message with neither text nor calls"
            for one in calls:
                ids[one.get("id", "")] += 1
                waiting.append(one.get("id", ""))
                if not one.get("id") or ids[one["id"]] > 1:
                    yield f"messages.{number}: call id {one.get('id')!r} is missing or used twice"
                yield from _argument_faults(number, one.get("function") or {})
        elif role == "system" and number:
            yield f"messages.{number}: a system message that is not the first"
        elif role not in {"user", "system", "developer"}:
            yield f"messages.{number}: unknown role {role!r}"
    if waiting:
        yield f"calls {waiting} at the end have no result"


def _argument_faults(number: int, function: dict[str, Any]) -> Iterator[str]:
    if not function.get("name"):
        yield f"messages.{number}: a call without a name"
    try:
        arguments = json.loads(function.get("arguments", ""))
    except ValueError:
        arguments = None
    if not isinstance(arguments, dict):
        yield f"messages.{number}: arguments {str(function.get('arguments'))[:40]!r} are not a JSON object"


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _strings(key)
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
