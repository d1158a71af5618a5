"""The cases of store_cases.json, each through the store and through the tool.

A case: `initial` files, `calls`, and what to `expect`. A call is `[method, argument...]` of the store; words that begin
with @ set the stage (another writer, an edit by hand) or look (at the snapshot, the tool). Beside what a case expects,
each call keeps the rules of `Play.check_rules`.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memory
from memory import ENTRY_DELIMITER, MemoryStore, make_memory_tool, parse_entries
from tools import Tool

FILES = {"memory": "MEMORY.md", "user": "USER.md"}
VERBS = {"add": "Added to", "replace": "Replaced in", "remove": "Removed from"}
ARGUMENTS = {"add": ["content"], "replace": ["old_text", "new_content"], "remove": ["old_text"]}
OURS = re.compile(r"MEMORY\.md|USER\.md|\.gitkeep|\.lock|journal\.jsonl")


def written_out(value: Any) -> Any:
    """Write out `{"$repeat": [text, n]}` and `{"$cat": [texts]}`."""
    if isinstance(value, list):
        return [written_out(part) for part in value]
    if isinstance(value, dict):
        if set(value) == {"$repeat"}:
            return value["$repeat"][0] * value["$repeat"][1]
        if set(value) == {"$cat"}:
            return "".join(written_out(value["$cat"]))
        return {key: written_out(part) for key, part in value.items()}
    return value


CASES = json.loads((Path(__file__).parent / "store_cases.json").read_text(encoding="utf-8"))
PLAYS = [
    pytest.param(written_out(case), way, id=f"{case['name']}-{way}")
    for case in CASES
    for way in case.get("through", ["store", "tool"])
]


class Play:
    """One case in one folder."""

    def __init__(self, case: dict[str, Any], way: str, root: Path) -> None:
        self.case, self.way, self.root = case, way, root
        self.folder = root / "agent" / "memory"
        self.limits = {"memory": 2200, "user": 1375} | case.get("limits", {})
        self.answers: list[str] = []
        self.kinds: list[str] = []
        self.errors: list[Exception | None] = []
        self.before: dict[str, bytes | None] = {}
        self.kept: Any = None
        (root / "agent").mkdir()
        if case.get("folder", True):
            self.folder.mkdir(mode=0o700)
        for name, value in case.get("initial", {}).items():
            self.lay(name, {"text": value} if isinstance(value, str) else value)
        self.stores: list[MemoryStore] = []
        self.tools: dict[int, Tool] = {}
        self.runner = asyncio.Runner()
        self.store = self.new_store()
        self.other = self.new_store()

    def new_store(self) -> MemoryStore:
        """A loaded store. Its id stays its own: the play keeps every store."""
        store = MemoryStore(self.folder, self.limits["memory"], self.limits["user"])
        store.load_from_disk()
        self.stores.append(store)
        return store

    def lay(self, name: str, spec: dict[str, Any]) -> None:
        path = self.folder / name
        if spec.get("directory"):
            path.mkdir()
            return
        if "link" in spec:
            real = self.root / spec["link"]
            real.parent.mkdir(exist_ok=True)
            path.symlink_to(real)
        path.write_bytes(base64.b64decode(spec["b64"]) if "b64" in spec else spec["text"].encode())
        if "mode" in spec:
            path.chmod(int(spec["mode"], 8))

    def content(self, name: str) -> bytes | None:
        path = self.folder / name
        return path.read_bytes() if path.is_file() else None

    def contents(self) -> dict[str, bytes | None]:
        return {name: self.content(name) for name in FILES.values()}

    def play(self) -> None:
        for name, *arguments in self.case["calls"]:
            stage = getattr(self, "stage_" + name.removeprefix("@"), None)
            if stage is not None and name not in ("@call", "@raw"):
                stage(*arguments)
            elif name == "@other":
                self.call(self.other, arguments[0], arguments[1:])
            else:
                self.call(self.store, name, arguments)
        self.check_expected()

    # The stage

    def stage_load_from_disk(self) -> None:
        self.store.load_from_disk()

    def stage_fresh(self, limits: dict[str, int] | None = None) -> None:
        self.limits |= limits or {}
        self.store = self.new_store()

    def stage_write(self, name: str, text: str) -> None:
        (self.folder / name).write_bytes(text.encode())

    def stage_append(self, name: str, text: str) -> None:
        with (self.folder / name).open("ab") as file:
            file.write(text.encode())

    def stage_delete(self, name: str) -> None:
        (self.folder / name).unlink()

    def stage_rmdir(self) -> None:
        shutil.rmtree(self.folder)

    def stage_folder(self, there: bool) -> None:
        assert self.folder.exists() == there

    def stage_entries(self, target: Any, wanted: list[str]) -> None:
        assert self.store.entries(target) == wanted

    def stage_names(self) -> None:
        assert (memory.ENTRY_DELIMITER, memory.MEMORY_CHAR_LIMIT, memory.USER_CHAR_LIMIT) == ("\n§\n", 2200, 1375)
        for name in ("EntryNotFound", "AmbiguousMatch", "BudgetExceeded"):
            assert issubclass(getattr(memory, name), memory.MemoryRefusal)
        assert self.store.mem_dir == self.folder
        assert self.store.files == FILES

    def stage_tool(self, rule: str) -> None:
        tool = make_memory_tool(self.store)
        text = json.dumps(tool.schema())
        parameters = tool.schema()["function"]["parameters"]
        if rule == "flags":
            assert (tool.name, tool.inheritable, tool.parallel) == ("memory", False, False)
        elif rule == "schema":
            assert parameters["required"] == ["target", "action"]
            assert list(parameters["properties"]) == ["target", "action", "content", "old_text", "new_content"]
            assert not {"oneOf", "anyOf", "allOf", "enum", "not"} & parameters.keys()
        elif rule == "words":
            assert all(word in tool.description for word in ("WHEN", "TARGETS", "SKIP"))
        else:
            self.store.add("memory", "something new")
            assert text == json.dumps(make_memory_tool(self.new_store()).schema()) == json.dumps(tool.schema())

    def stage_snapshot(self, rule: str, *words: Any) -> None:
        text = self.store.format_all_for_system_prompt()
        format_one = self.store.format_for_system_prompt
        parts = {"memory": format_one("memory"), "user": format_one("user")}
        if rule == "keep":
            self.kept = (text, parts)
        elif rule in ("same", "changed"):
            assert ((text, parts) == self.kept) == (rule == "same")
        elif rule == "has":
            assert all(word in text for word in words)
        elif rule == "lacks":
            assert not [word for word in words if word.lower() in text.lower()]
        elif rule == "order":
            assert re.search(".*".join(map(re.escape, words)), text, re.DOTALL)
        elif rule == "count":
            assert text.count(words[0]) == words[1]
        elif rule == "part":
            assert all(word in parts[words[0]] for word in words[1:])
        else:
            assert rule == "closes_as"
            assert len(re.findall(r"<\s*/\s*MEMORY_CONTEXT\s*>", text, re.IGNORECASE)) == 1

    # One call

    def call(self, store: MemoryStore, name: str, arguments: list[Any]) -> None:
        self.before = self.contents()
        error: Exception | None = None
        if self.way == "store" and name in VERBS:
            try:
                kind, answer = "ok", getattr(store, name)(*arguments)
            except (ValueError, OSError) as raised:
                kind, answer, error = "error", str(raised), raised
        else:
            words = (
                arguments[0]
                if name in ("@call", "@raw")
                else {"action": name, "target": arguments[0], **dict(zip(ARGUMENTS[name], arguments[1:], strict=True))}
            )
            text = words if name == "@raw" else json.dumps(words)
            if id(store) not in self.tools:
                self.tools[id(store)] = make_memory_tool(store)
            result = self.runner.run(self.tools[id(store)].execute(text))
            kind, answer = ("ok", result.serialize()) if result.ok else ("error", str(result.error))
            if kind == "ok" and name == "@call":
                name, arguments = words["action"], [words["target"]]
        self.kinds.append(kind)
        self.answers.append(answer)
        self.errors.append(error)
        self.check_rules(store, name, arguments)

    def check_rules(self, store: MemoryStore, name: str, arguments: list[Any]) -> None:
        """An error keeps every byte. Success says the figures of the file, which is exactly the live entries."""
        after, answer = self.contents(), self.answers[-1]
        if self.kinds[-1] == "error":
            assert after == self.before
            assert len(answer) > 3
            return
        target = arguments[0]
        file = FILES[target]
        assert all(after[other] == self.before[other] for other in FILES.values() if other != file)
        if answer.startswith("Entry already exists"):
            assert (name, after) == ("add", self.before)
            return
        text = (after[file] or b"").decode()
        assert text == ENTRY_DELIMITER.join(store.entries(target))
        assert answer.startswith(f"{VERBS[name]} {target} ({len(text)}/{self.limits[target]} chars used).")
        gone = [e for e in parse_entries((self.before[file] or b"").decode()) if e not in store.entries(target)]
        assert name == "add" or not gone or "[blocked" in answer or any(e.split("\n")[0][:40] in answer for e in gone)
        assert self.strays() == []

    def strays(self) -> list[str]:
        laid = [Path(spec["link"]).name for spec in self.case.get("initial", {}).values() if "link" in spec]
        places = [self.folder, *([self.root / "elsewhere"] if laid else [])]
        names = [path.name for place in places if place.is_dir() for path in place.iterdir()]
        return [name for name in names if name not in laid and not OURS.fullmatch(name)]

    # What the case expects

    def check_expected(self) -> None:
        expect = self.case["expect"]
        last = [None] * (len(self.kinds) - 1) + [expect.get("kind", "ok")] if self.kinds else []
        for kind, wanted in zip(self.kinds, expect.get("kinds", last), strict=True):
            assert wanted in (None, "any", kind), self.answers
        for wanted, error in zip(expect.get("raises", []), self.errors, strict=False):
            if wanted is not None and self.way == "store":
                assert isinstance(error, getattr(memory, wanted))
        for wanted, answer in zip(expect.get("says", []), self.answers, strict=False):
            assert wanted is None or wanted in answer
        for choices in expect.get("contains", []):
            assert any(word.lower() in self.answers[-1].lower() for word in choices.split("|")), self.answers[-1]
        for word in expect.get("not_contains", []):
            assert word.lower() not in self.answers[-1].lower()
        for file in expect.get("unchanged", []):
            assert self.content(file) == self.before[file]
        choices = expect.get("entries_after_any", [expect.get("entries_after", {})])
        assert any(all(self.holds(file, entries) for file, entries in choice.items()) for choice in choices)
        for name, wanted in expect.get("files", {}).items():
            self.check_file(self.root / name if (self.root / name).exists() else self.folder / name, wanted)
        if "folder_mode" in expect:
            assert f"{stat.S_IMODE(self.folder.stat().st_mode):04o}" == expect["folder_mode"]
        content = b"".join(part or b"" for part in self.contents().values())
        if "no_cr" in expect.get("bytes_rules", []):
            assert b"\r" not in content
        if "no_bom" in expect.get("bytes_rules", []):
            assert b"\xef\xbb\xbf" not in content

    def holds(self, file: str, entries: list[str]) -> bool:
        return parse_entries((self.content(file) or b"").decode()) == entries

    @staticmethod
    def check_file(path: Path, wanted: dict[str, Any]) -> None:
        checks: dict[str, Callable[[Any], bool]] = {
            "mode": lambda mode: f"{stat.S_IMODE(path.stat().st_mode):04o}" == mode,
            "link": lambda link: path.is_symlink() == link,
            "text": lambda text: path.read_bytes() == text.encode(),
            "has": lambda text: text.encode() in path.read_bytes(),
        }
        for rule, value in wanted.items():
            assert checks[rule](value), f"{path.name}: {rule} {value!r}"


@pytest.mark.parametrize(("case", "way"), PLAYS)
def test_the_store_answers_as_the_case_says(case: dict[str, Any], way: str, tmp_path: Path) -> None:
    mask = os.umask(0o022)
    try:
        play = Play(case, way, tmp_path)
        with play.runner:
            play.play()
    finally:
        os.umask(mask)
