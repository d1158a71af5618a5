"""Random work on a `MemoryStore`, with writers beside it, against a plain list."""

from __future__ import annotations

import tempfile
from pathlib import Path

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from memory import ENTRY_DELIMITER, AmbiguousMatch, BudgetExceeded, EntryNotFound, MemoryStore

LIMIT = 60
ENTRIES = (
    st.text(alphabet="ab猫§ \n", min_size=1, max_size=12)
    .map(str.strip)
    .filter(lambda text: text and not any(line.strip() == "§" for line in text.split("\n")))
)
PARTS = st.text(alphabet="ab猫", min_size=1, max_size=2)


def joined(entries: list[str]) -> str:
    return ENTRY_DELIMITER.join(entries)


class StoreAgainstList(RuleBasedStateMachine):
    """Two stores on one folder and a person with an editor; the list says what the file must hold."""

    @initialize()
    def open_stores(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "MEMORY.md"
        self.stores = [MemoryStore(self.folder.name, memory_char_limit=LIMIT) for _ in range(2)]
        for store in self.stores:
            store.load_from_disk()
        self.wanted: list[str] = []
        self.frozen = [store.format_all_for_system_prompt() for store in self.stores]

    def fits(self, new: list[str]) -> bool:
        return len(joined(new)) <= LIMIT or len(joined(new)) < len(joined(self.wanted))

    def hits(self, part: str) -> list[int]:
        whole = [index for index, entry in enumerate(self.wanted) if entry == part]
        return whole or [index for index, entry in enumerate(self.wanted) if part in entry]

    @rule(who=st.integers(0, 1), entry=ENTRIES)
    def add(self, who: int, entry: str) -> None:
        new = self.wanted if entry in self.wanted else [*self.wanted, entry]
        try:
            answer = self.stores[who].add("memory", entry)
        except BudgetExceeded:
            assert not self.fits(new)
            return
        assert answer.startswith("Entry already exists" if new == self.wanted else "Added")
        self.wanted = new

    @rule(who=st.integers(0, 1), part=PARTS, entry=ENTRIES)
    def replace(self, who: int, part: str, entry: str) -> None:
        hits = self.hits(part)
        new = list(self.wanted)
        if len(hits) == 1:
            new[hits[0]] = entry
            new = list(dict.fromkeys(new))
        self.change(who, hits, new, lambda store: store.replace("memory", part, entry))

    @rule(who=st.integers(0, 1), part=PARTS)
    def remove(self, who: int, part: str) -> None:
        hits = self.hits(part)
        new = [entry for index, entry in enumerate(self.wanted) if [index] != hits]
        self.change(who, hits, new, lambda store: store.remove("memory", part))

    def change(self, who, hits, new, call):  # type: ignore[no-untyped-def]
        try:
            call(self.stores[who])
        except EntryNotFound:
            assert hits == []
        except AmbiguousMatch:
            assert len(hits) > 1
        except BudgetExceeded:
            assert not self.fits(new)
        else:
            assert len(hits) == 1
            self.wanted = new

    @rule(entries=st.lists(ENTRIES, max_size=4))
    def edit_by_hand(self, entries: list[str]) -> None:
        self.path.write_text("\n\n§ \n".join(entries) + "\n", encoding="utf-8")
        self.wanted = list(dict.fromkeys(entries))

    @rule(who=st.integers(0, 1))
    def load_again(self, who: int) -> None:
        self.stores[who].load_from_disk()
        assert self.stores[who].entries("memory") == self.wanted
        assert self.stores[who].format_for_system_prompt("memory") == joined(self.wanted)
        self.frozen[who] = self.stores[who].format_all_for_system_prompt()

    @invariant()
    def the_file_holds_the_list(self) -> None:
        fresh = MemoryStore(self.folder.name)
        fresh.load_from_disk()
        assert fresh.entries("memory") == self.wanted
        assert [store.format_all_for_system_prompt() for store in self.stores] == self.frozen
        strays = {path.name for path in Path(self.folder.name).iterdir()} - {"MEMORY.md", ".lock", "journal.jsonl"}
        assert strays == set()

    def teardown(self) -> None:
        self.folder.cleanup()


StoreAgainstList.TestCase.settings = settings(
    max_examples=40, stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck)
)
TestStoreAgainstList = StoreAgainstList.TestCase
