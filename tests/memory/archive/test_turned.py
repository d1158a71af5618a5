from __future__ import annotations

from pathlib import Path

from memory.archive import Entry, SqliteBackend
from memory.archive.backend import Writer
from memory.archive.text import analyse
from memory.archive.turned import Turned


def kept(writer: Writer, content: str) -> int:
    entry = Entry("k", content, owner=content)
    return writer.insert(entry, analyse(entry))


def test_terms_are_known_by_beginning_and_stem_as_long_as_an_entry_has_them(tmp_path: Path) -> None:
    turned = Turned()
    with SqliteBackend(tmp_path / "a.db").writing() as writer:
        first, second = kept(writer, "run runner running ru 跑步"), kept(writer, "running runs")
        turned.follow(writer, [first, second])
        assert turned.with_prefix("run", 3) == ["run", "runs", "runner"]
        assert sorted(turned.with_stem("runs", "run")) == ["run", "running", "runs"]
        turned.follow(writer, [first])
        assert turned.with_prefix("run", 9) == ["run", "runner", "running"]
        third = kept(writer, "runway")
        turned.follow(writer, [second, third])
        assert turned.with_prefix("runw", 9) == ["runway"]
        assert sorted(turned.with_stem("runs", "run")) == ["running", "runs"]
        assert turned.count("running") == 1
        assert turned.count("跑步") == 0
