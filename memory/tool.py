"""`make_memory_tool`: the curated memory as one tool for the model."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from memory.content import checked_target
from memory.entries import listing
from memory.refusal import MemoryRefusal
from memory.store import MemoryStore
from prompts import render
from tools import Tool

__all__ = ["make_memory_tool"]

ACTIONS = ("add", "replace", "remove")
TARGETS = ("memory", "user")
FORGETTING = "memory_forget"  # its policy governs `remove`, too
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
    calls = MemoryCalls(store)
    tool = Tool(
        calls.memory,
        name="memory",
        description=render("memory_tool"),
        inheritable=False,
        parallel=False,
        rule=governing_rule,
        preview=calls.preview,
    )
    tool.schema()["function"]["parameters"]["required"] = ["target", "action"]  # which their types cannot say
    return tool


class MemoryCalls:
    """The calls of one model, and which of them failed since the last that went well."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._failures: Counter[str] = Counter()

    def memory(
        self,
        target: Where = None,
        action: Action = None,
        content: Content = None,
        old_text: OldText = None,
        new_content: NewContent = None,
        **ignored: Any,
    ) -> str:
        call = [target, action, content, old_text, new_content]
        digest = hashlib.sha256(repr(call).encode("utf-8", "surrogatepass")).hexdigest()
        try:
            answer = self._run(target, action, content, old_text, new_content)
        except (MemoryRefusal, OSError) as error:
            self._failures[digest] += 1
            raise MemoryRefusal(self._told(error, self._failures[digest])) from error
        self._failures.clear()
        return answer

    def preview(self, arguments: Mapping[str, Any]) -> str:
        """Return the entry that a `replace` or `remove` would take away; "" for other calls."""
        if plain_word(arguments.get("action")) not in ("replace", "remove"):
            return ""
        target, old_text = checked_target(plain_target(arguments.get("target"))), arguments.get("old_text")
        return self._store.find(target, old_text) if isinstance(old_text, str) else ""

    def _run(
        self,
        target: str | None,
        action: str | None,
        content: str | None,
        old_text: str | None,
        new_content: str | None,
    ) -> str:
        verb, where = plain_word(action), plain_target(target)
        if verb not in ACTIONS:
            said = "action is missing" if action is None else f"unknown action {action!r}"
            raise MemoryRefusal(f"{said}; use one of {', '.join(ACTIONS)}")
        if where not in TARGETS:
            said = "target is missing" if target is None else f"unknown target {target!r}"
            raise MemoryRefusal(f"{said}; use one of {', '.join(TARGETS)}")
        known = checked_target(where)
        if verb == "add":
            text = content if content is not None else new_content
            return self._store.add(known, needed(text, "content", "the text of the entry"))
        if old_text is None:
            entries = self._store.reread(known)
            there = f"The entries of {known}:\n{listing(entries)}" if entries else f"There is no entry in {known}."
            raise MemoryRefusal(f"old_text is missing: give a part of the entry to {verb}. {there}")
        if verb == "remove":
            return self._store.remove(known, old_text)
        text = new_content if new_content is not None else content
        return self._store.replace(known, old_text, needed(text, "new_content", "the whole new entry"))

    @staticmethod
    def _told(error: MemoryRefusal | OSError, times: int) -> str:
        words = str(error) if isinstance(error, MemoryRefusal) or not error.strerror else error.strerror
        if times == 1:
            return words
        if times > 2:
            return STOP
        return (
            f"The same call as before, and refused for the same reason: {words.splitlines()[0][:300]} "
            "(What it listed stands in the answer before.) Change the call, or answer the user."
        )


def governing_rule(arguments: Mapping[str, Any]) -> str:
    """Return the name of the tool whose policy governs a call with these arguments."""
    return FORGETTING if plain_word(arguments.get("action")) == "remove" else "memory"


def plain_word(word: object) -> str:
    return word.strip().lower() if isinstance(word, str) else ""


def plain_target(word: object) -> str:
    """Return a target as models write it, such as `MEMORY.md`, as it is called."""
    return plain_word(word).removesuffix(".md")


def needed(text: str | None, name: str, what: str) -> str:
    if text is None:
        raise MemoryRefusal(f"{name} is missing: give {what}")
    return text
