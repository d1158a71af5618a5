"""`HANDLERS`: what the offline model does about each kind of request, one function a kind.

A handler gets the request and the calls made for it so far, and returns what comes next: calls, or the answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from agent.offline_knowledge import Done, relevant
from agent.offline_memory import forget, recall, remember, replace
from agent.offline_rules import Request
from agent.offline_turn import Step, Turn, bare, listed
from agent.offline_words import NOTES, examples

__all__ = ["HANDLERS"]

SHOWN_CHARS = 6_000  # of a file or an output in an answer


def _delegate(turn: Turn, request: Request, done: list[Done]) -> Step:
    jobs = [job.strip() for job in re.split(r"[;；\n]", request.pieces["job"]) if job.strip()]
    if not done:
        if not jobs or re.fullmatch(r"it|this|that|它|这个", jobs[0], re.IGNORECASE):
            return turn.say("no_job")
        return _with_tool(turn, "task", [{"prompt": job} for job in jobs])
    lines = []
    for number, one in enumerate(done, 1):
        result = one.result
        for note in NOTES:
            result = result.replace(note, "")
        key = "sub_agent_failed" if one.failed else "sub_agent" if len(done) == 1 else "sub_agents"
        lines.append(turn.say(key, number=number, result=_clip(turn, result.strip()), error=result))
    return "\n".join(lines)


def _run(turn: Turn, request: Request, done: list[Done]) -> Step:
    command = request.pieces["command"].strip().strip("`").strip()
    if done:
        return _report(turn, done[-1])
    if not command or re.match(r"(?:the|my|our|all|your|it|tests?$)\b|[^\x00-\x7f]", command, re.IGNORECASE):
        known = relevant(turn.entries, command) if turn.entries else []
        return "\n".join([turn.say("no_command"), *([turn.say("known", entries=listed(known))] if known else [])])
    return _with_tool(turn, "shell", [{"command": command}])


def _read(turn: Turn, request: Request, done: list[Done]) -> Step:
    path = request.pieces["path"]
    if not done:
        return _with_tool(turn, "file_read", [{"path": path}])
    if done[-1].failed:
        return _report(turn, done[-1])
    return turn.say("read", path=path, result=_clip(turn, done[-1].result))


def _list(turn: Turn, request: Request, done: list[Done]) -> Step:
    path = request.pieces.get("path", ".")
    return _report(turn, done[-1]) if done else _with_tool(turn, "file_list", [{"path": path}])


def _search(turn: Turn, request: Request, done: list[Done]) -> Step:
    arguments = {"pattern": re.escape(bare(request.pieces["what"]))}
    if "path" in request.pieces:
        arguments["path"] = request.pieces["path"]
    return _report(turn, done[-1]) if done else _with_tool(turn, "file_search", [arguments])


def _write(turn: Turn, request: Request, done: list[Done]) -> Step:
    arguments = {"path": request.pieces["path"], "content": bare(request.pieces["content"]) + "\n"}
    return _report(turn, done[-1]) if done else _with_tool(turn, "file_write", [arguments])


def _edit(turn: Turn, request: Request, done: list[Done]) -> Step:
    old, new = bare(request.pieces["old"]), bare(request.pieces["new"])
    arguments = {"path": request.pieces["path"], "old_text": old, "new_text": new}
    return _report(turn, done[-1]) if done else _with_tool(turn, "file_edit", [arguments])


HANDLERS: dict[str, Callable[[Turn, Request, list[Done]], Step]] = {
    "help": lambda turn, request, done: turn.say("help", examples=examples(chinese=turn.chinese)),
    "greet": lambda turn, request, done: turn.say("greet"),
    "unknown": lambda turn, request, done: turn.say("unknown"),
    "remember": remember,
    "forget": forget,
    "replace": replace,
    "recall": recall,
    "question": recall,
    "delegate": _delegate,
    "run": _run,
    "read": _read,
    "list": _list,
    "search": _search,
    "write": _write,
    "edit": _edit,
}


def _with_tool(turn: Turn, name: str, batch: list[dict[str, Any]]) -> Step:
    return [(name, arguments) for arguments in batch] if name in turn.offered else turn.say("no_tool", tool=name)


def _report(turn: Turn, done: Done) -> str:
    if done.failed:
        return turn.say("failed", error=done.result)
    return turn.say("result", result=_clip(turn, done.result)) if done.result.strip() else turn.say("no_output")


def _clip(turn: Turn, text: str) -> str:
    more = len(text) - SHOWN_CHARS
    return text if more <= 0 else text[:SHOWN_CHARS] + turn.say("clipped", count=more)
