"""The model of rules where the archive is all the memory there is."""

from __future__ import annotations

import asyncio
from pathlib import Path

from agent import Agent, OfflineModel
from memory.archive import Archive, ArchiveProvider, Principal, SqliteBackend


def ask(folder: Path, *texts: str) -> list[str]:
    """Ask a new agent over the archive in `folder`; return its answers."""

    async def talk() -> list[str]:
        provider = ArchiveProvider(Archive(SqliteBackend(folder / "archive.db")), Principal("main", "s1"))
        agent = Agent(model=OfflineModel(), cwd=folder, memory_dir=False, provider=provider)
        answers = [(await agent.run(text)).text for text in texts]
        await agent.close()
        return answers

    return asyncio.run(talk())


def test_what_one_process_keeps_another_finds_in_two_languages(tmp_path: Path) -> None:
    kept = ask(tmp_path, "Remember that the build host is kestrel", "记住部署在周二")
    assert "kestrel" in kept[0]
    assert "周二" in kept[1]
    assert "kestrel" in ask(tmp_path, "What do you know about the build host?")[0]
    assert "周二" in ask(tmp_path, "你知道什么时候部署吗？")[0]


def test_forgetting_takes_the_one_entry_that_is_meant(tmp_path: Path) -> None:
    ask(tmp_path, "Remember that the cat is Mochi", "Remember that the dog is Rex")
    assert "Mochi" in ask(tmp_path, "forget the cat is Mochi")[0]
    assert "Mochi" not in ask(tmp_path, "What do you know about the cat?")[0]
    assert "Rex" in ask(tmp_path, "What do you know about the dog?")[0]


def test_nothing_is_claimed_when_nothing_fits(tmp_path: Path) -> None:
    assert "forgotten" not in ask(tmp_path, "forget the moon")[0].lower()
