from __future__ import annotations

import re
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

import postgres
import pytest

from memory.archive.access import View
from memory.archive.postgres import PostgresBackend

PAGE = Path(__file__).parents[3] / "docs" / "postgres.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_configuration_shown_builds_the_backend() -> None:
    (text,) = blocks("toml")
    settings = tomllib.loads(text)["memory"]["postgres"]
    backend = PostgresBackend(settings.pop("url"), **settings)
    assert backend.place == "db.example/agents"


def test_the_rights_shown_are_enough_to_write_and_to_read(capsys: pytest.CaptureFixture[str]) -> None:
    prepare, allow = blocks("sql")
    (program,) = blocks("python")
    (shown,) = re.findall(r'"(postgresql://[^"]*)"', program)
    with postgres.temporary_server("docs", {"fsync": "off"}) as server:
        server.execute(prepare)
        server.execute("REVOKE CREATE ON DATABASE postgres FROM agent")
        url = server.tcp_url(user=urlsplit(shown).username or "", password="change me")
        exec(compile(program.replace(shown, url), str(PAGE), "exec"), {"__name__": "example"})
        server.execute(allow)
        reader = PostgresBackend(server.tcp_url(user="reader", password="change me too"))
        with reader.reading() as reading:
            assert reading.counts(View()) == {("main", "core"): 1}
        reader.close()
    assert capsys.readouterr().out == "Releases go out on Fridays\n"
