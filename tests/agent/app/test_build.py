"""The parts as they are wired together."""

from __future__ import annotations

import asyncio

import pytest
from command_line import Place

from agent import OfflineModel, Session
from agent.app.build import build_agent
from agent.app.config import load_config
from agent.app.options import Options
from tools import ToolCall, refuse


def test_a_talk_that_is_not_saved_is_a_session_of_its_own(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(place.home / ".cache"))
    place.user_config('[memory]\nbackend = "markdown"\n')
    options = Options(cwd=str(place.cwd))
    config = load_config(options, place.environment())

    async def play(name: str, arguments: str) -> bool:
        agent = build_agent(config, options, model=OfflineModel(), approve=refuse, session=None)
        result = await agent.registry.dispatch(ToolCall("1", name, arguments))
        await agent.close()
        return result.ok

    assert asyncio.run(play("memory_store", '{"key": "k", "content": "v", "category": "conversation"}'))
    assert not asyncio.run(play("memory_get", '{"key": "k"}'))


def test_a_new_talk_is_a_new_session_to_the_archive_too(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(place.home / ".cache"))
    place.user_config('[memory]\nbackend = "markdown"\n')
    options = Options(cwd=str(place.cwd))
    config = load_config(options, place.environment())
    session = Session.create(place.home / "sessions", cwd=place.cwd, model="m")
    agent = build_agent(config, options, model=OfflineModel(), approve=refuse, session=session)

    async def play() -> list[bool]:
        store = ToolCall("1", "memory_store", '{"key": "k", "content": "v", "category": "conversation"}')
        get = ToolCall("2", "memory_get", '{"key": "k"}')
        found = [(await agent.registry.dispatch(call)).ok for call in (store, get)]
        agent.reset()
        found.append((await agent.registry.dispatch(get)).ok)
        await agent.close()
        return found

    assert asyncio.run(play()) == [True, True, False]


def test_a_sub_agent_reads_no_archive_also_where_this_run_has_none(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(place.home / ".cache"))
    place.user_config('[memory]\nbackend = "markdown"\npath = "kept"\n')
    (place.cwd / "kept").mkdir()
    (place.cwd / "kept" / "core.md").write_text("a secret")
    options = Options(cwd=str(place.cwd), no_memory=True)
    config = load_config(options, place.environment())
    agent = build_agent(config, options, model=OfflineModel(), approve=refuse, session=None)

    async def play() -> tuple[bool, bool]:
        read = ToolCall("1", "file_read", '{"path": "kept/core.md"}')
        found = (await agent.registry.dispatch(read)).ok, (await agent.spawn().registry.dispatch(read)).ok
        await agent.close()
        return found

    assert asyncio.run(play()) == (True, False)
