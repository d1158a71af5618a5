"""What the offline model knows of memory: the entries that the talk shows, and which of them a text is about."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from agent.messages import Message, text_of

__all__ = ["Done", "Entry", "done_calls", "entries_in", "meant", "plain_request", "relevant"]

_HEADING = re.compile(r"^## (MEMORY|USER)\.md\b.*$", re.MULTILINE)
_BLOCK = re.compile(r"<([A-Za-z_]+)(?: [^>\n]*)?>\n(.*?)\n?</\1>\s*", re.DOTALL)
_NO_ENTRY = ("[blocked:", "(empty)", "(cannot be read)")
_STOP = """
a about all am an and any are as at be can could did do does everything for from had has have how i if in is it know
let me my no not of on or our please recall remember she should so tell that the them there these they this to us use
uses was we were what when where which who why will with would you your
"""
_NO_TERMS = frozenset(_STOP.split())
_NO_CHINESE_TERMS = re.compile(
    r"什么|怎么样?|如何|哪[个些里儿]?|多少|为什么|是否|知道|记得|关于|這個|这个|那个|我们|[你我他她它的了吗呢是在用有和都会]"
)

_SAME = """
测试=test 构建=build 编译=build 部署=deploy 发布=releas 版本=version 项目=project 代码=code 分支=branch 提交=commit
端口=port 主机=host 数据=data 名字=name 语言=languag 喜欢=like 偏好=prefer 喝茶=tea 咖啡=coffee
"""
_IN_ENGLISH = dict(pair.split("=") for pair in _SAME.split())
# Enough to ask in one language for what was kept in the other; a real model needs no table


@dataclass(frozen=True, slots=True)
class Entry:
    text: str
    target: str = ""
    # memory | user; empty where it was recalled


@dataclass(frozen=True, slots=True)
class Done:
    """A call and what came of it."""

    name: str
    arguments: dict[str, Any]
    result: str

    @property
    def failed(self) -> bool:
        return self.result.startswith("Error")


def done_calls(messages: Sequence[Message]) -> list[Done]:
    """Return the calls in `messages` that have a result, in order."""
    calls = {call["id"]: call["function"] for message in messages for call in message.get("tool_calls") or ()}
    return [
        Done(function["name"], json.loads(function["arguments"]), text_of(message))
        for message in messages
        if message.get("role") == "tool" and (function := calls.get(message["tool_call_id"]))
    ]


def plain_request(text: str) -> str:
    """Return what the user wrote, without the blocks that were put beside it."""
    return _BLOCK.sub("", text).strip() or text.strip()


def entries_in(messages: Sequence[Message]) -> list[Entry]:
    """Return every entry that the talk shows: in the system prompt, recalled beside a message, and written since."""
    entries: list[Entry] = []
    for message in messages:
        if message.get("role") == "system":
            entries += _snapshot(text_of(message))
        elif message.get("role") == "user":
            entries += _recalled(text_of(message))
    for done in done_calls(messages):
        if done.name == "memory" and not done.failed:
            _follow(entries, done.arguments)
    return list({entry.text: entry for entry in entries if not entry.text.startswith(_NO_ENTRY)}.values())


def meant(entries: Sequence[Entry], wanted: str) -> list[Entry]:
    """Return the entries that `wanted` points at: the equal one, else those that hold it, else all of its words."""
    needle, words = wanted.casefold(), _terms(wanted)
    equal = [entry for entry in entries if entry.text.casefold() == needle]
    holding = [entry for entry in entries if needle in entry.text.casefold()]
    return equal or holding or [entry for entry in entries if words and words <= _terms(entry.text)]


def relevant(entries: Sequence[Entry], topic: str) -> list[Entry]:
    """Return the entries about `topic`, best first; all of them, or those about the user, where it names nothing."""
    wanted = _terms(topic)
    if not wanted:
        users = [entry for entry in entries if entry.target == "user"]
        about_user = re.search(r"\b(?:i|me|my)\b|我", topic, re.IGNORECASE) is not None
        return users if about_user and users else list(entries)
    scores = [(len(wanted & _terms(entry.text)), entry) for entry in entries]
    best = max((score for score, _ in scores), default=0)
    return [entry for score, entry in sorted(scores, key=lambda pair: -pair[0]) if score and 2 * score > best]


def _snapshot(prompt: str) -> Iterator[Entry]:
    block = prompt.rpartition("<MEMORY_CONTEXT>\n")[2].partition("</MEMORY_CONTEXT>")[0]
    pieces = _HEADING.split(block) if "<MEMORY_CONTEXT>\n" in prompt else []
    for name, text in zip(pieces[1::2], pieces[2::2], strict=True):
        for part in re.split(r"^\s*§\s*$", text, flags=re.MULTILINE):
            if part.strip():
                yield Entry(part.strip(), name.lower())


def _recalled(text: str) -> Iterator[Entry]:
    for name, block in _BLOCK.findall(text):
        if name == "RECALLED":
            for line in block.partition("\n\n")[2].split("\n"):  # what it is comes first, then the entries
                if line.strip():
                    yield Entry(line.strip().removeprefix("- "))


def _follow(entries: list[Entry], arguments: dict[str, Any]) -> None:
    """Change the entries as a call of `memory` has changed the files."""
    old = Entry(str(arguments.get("old_text")), arguments.get("target", ""))
    if old in entries:
        entries.remove(old)
    new = arguments.get("new_content") or arguments.get("content")
    if new:
        entries.append(Entry(new, old.target))


def _terms(text: str) -> frozenset[str]:
    """The English words that carry meaning, without their endings, and the pairs of Chinese letters."""
    words = re.findall(r"[a-z0-9][a-z0-9+#.-]*[a-z0-9+#]|[a-z0-9]", text.casefold())
    terms = {re.sub(r"(?<=[a-z]{3})(?:ing|es|s|ed)$", "", word) for word in words if word not in _NO_TERMS}
    for run in re.findall(r"[\u3400-\u9fff]+", _NO_CHINESE_TERMS.sub(" ", text)):
        terms |= {run[at : at + 2] for at in range(max(1, len(run) - 1))}
    return frozenset(_IN_ENGLISH.get(term, term) for term in terms)
