"""`make_memory_tool`: the curated memory as one tool for the model."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from memory.entries import checked_target, what_is_there
from memory.refusal import MemoryRefusal
from memory.store import MemoryStore
from prompts import render
from tools import Tool

__all__ = ["make_memory_tool"]

ACTIONS = ("add", "replace", "remove")
TARGETS = ("memory", "user")
STOP = "Stop: this very call was refused three times. Do not send it again; answer the user with what you have."

# `| None` with a default keeps the check of a missing one here, where the answer can name the choices.
Action = Annotated[str | None, Field(description="What to do.", json_schema_extra={"enum": list(ACTIONS)})]
Where = Annotated[str | None, Field(description="Which file.", json_schema_extra={"enum": list(TARGETS)})]
Content = Annotated[str | None, Field(description="add: the entry.")]
OldText = Annotated[str | None, Field(description="replace, remove: a part of one entry that no other entry has.")]
NewContent = Annotated[str | None, Field(description="replace: the whole new entry.")]


def make_memory_tool(store: MemoryStore) -> Tool:
    """Return the tool `memory` over a store; no sub-agent inherits it.

    It forgives what models get wrong, and answers a repeated failing call ever more briefly. The policy of
    `memory_forget` governs `remove`; the preview of a `remove` or `replace` is the entry that would be lost.
    """
    failures: Counter[str] = Counter()
    # How often each call failed since the last that went well

    def memory(
        target: Where = None,
        action: Action = None,
        content: Content = None,
        old_text: OldText = None,
        new_content: NewContent = None,
        **ignored: Any,
    ) -> str:
        call = repr([target, action, content, old_text, new_content])
        digest = hashlib.sha256(call.encode("utf-8", "surrogatepass")).hexdigest()
        try:
            answer = run(store, plain(target), plain(action), content, old_text, new_content)
        except (MemoryRefusal, OSError) as error:
            failures[digest] += 1
            raise MemoryRefusal(told(error, failures[digest])) from error
        failures.clear()
        return answer

    def preview(arguments: Mapping[str, Any]) -> str:
        target, old_text = plain(arguments.get("target")), arguments.get("old_text")
        if plain(arguments.get("action")) not in ("replace", "remove") or not isinstance(old_text, str):
            return ""
        return store.find(checked_target(target), old_text)

    def rule(arguments: Mapping[str, Any]) -> str:
        return "memory_forget" if plain(arguments.get("action")) == "remove" else "memory"

    tool = Tool(memory, description=render("memory_tool"), inheritable=False, rule=rule, preview=preview)
    tool.schema()["function"]["parameters"]["required"] = ["target", "action"]  # which their types cannot say
    return tool


def run(
    store: MemoryStore, where: str, verb: str, content: str | None, old_text: str | None, new_content: str | None
) -> str:
    for name, word, choices in (("action", verb, ACTIONS), ("target", where, TARGETS)):
        if word not in choices:
            said = f"unknown {name} {word!r}" if word else f"{name} is missing"
            raise MemoryRefusal(f"{said}; use one of {', '.join(choices)}")
    target = checked_target(where)
    if verb == "add":
        return store.add(target, needed(content, new_content, "content is missing: give the text of the entry"))
    if old_text is None:
        there = what_is_there(store.reread(target), target)
        raise MemoryRefusal(f"old_text is missing: give a part of the entry to {verb}. {there}")
    if verb == "remove":
        return store.remove(target, old_text)
    new = needed(new_content, content, "new_content is missing: give the whole new entry")
    return store.replace(target, old_text, new)


def told(error: MemoryRefusal | OSError, times: int) -> str:
    words = str(error) if isinstance(error, MemoryRefusal) or not error.strerror else error.strerror
    if times == 1:
        return words
    if times > 2:
        return STOP
    return (
        f"The same call as before, and refused for the same reason: {words.split(chr(10))[0][:300]} "
        "(What it listed stands in the answer before.) Change the call, or answer the user."
    )


def plain(word: object) -> str:
    """Return an action or target as models write it, such as ` Remove` or `MEMORY.md`, as it is called."""
    return word.strip().lower().removesuffix(".md") if isinstance(word, str) else ""


def needed(text: str | None, other: str | None, sentence: str) -> str:
    found = other if text is None else text
    if found is None:
        raise MemoryRefusal(sentence)
    return found
