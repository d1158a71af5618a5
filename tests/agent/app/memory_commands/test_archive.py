"""The archive on the command line, on the two backends that need no server."""

from __future__ import annotations

import json

import pytest
from command_line import Place


@pytest.fixture(params=["markdown", "sqlite"])
def home(request: pytest.FixtureRequest, place: Place) -> Place:
    place.user_config(f'[memory]\nbackend = "{request.param}"\n')
    return place


def test_an_entry_is_stored_shown_found_and_forgotten(home: Place) -> None:
    words = ["memory", "store", "deploy", "项目部署在 kite 集群", "--category", "project_alpha", "--tag", "ops"]
    assert home.run(*words).out == "created deploy (project_alpha)\n"
    assert home.run(*words).out.startswith("updated")
    assert home.run("memory", "get", "deploy").out == "项目部署在 kite 集群\n"
    assert home.run("memory", "get", "deploy", "--json").json["tags"] == ["ops"]
    hits = home.run("memory", "search", "部署", "--json").json
    assert [hit["key"] for hit in hits["archive"]] == ["deploy"]
    assert "curated" not in hits
    assert "deploy (project_alpha" in home.run("memory", "search", "部署").out
    gone = home.run("memory", "forget", "deploy", "--json").json
    assert gone["forgotten"]["content"] == "项目部署在 kite 集群"
    assert home.run("memory", "get", "deploy").code == 2
    assert home.run("memory", "forget", "deploy").code == 2


def test_list_can_be_narrowed_to_a_category(home: Place) -> None:
    home.run("memory", "store", "a", "one")
    home.run("memory", "store", "b", "two", "--category", "research")
    rows = home.run("memory", "list", "--category", "research", "--json").json["entries"]
    assert [row["key"] for row in rows] == ["b"]
    text = home.run("memory", "list", "--layer", "archive").out
    assert "a (core" in text
    assert "    two" in text


def test_both_layers_are_searched_and_counted(home: Place) -> None:
    home.with_memory(MEMORY="kite flies")
    home.run("memory", "store", "k", "kite again")
    found = home.run("memory", "search", "kite", "--json").json
    assert (len(found["curated"]), len(found["archive"])) == (1, 1)
    assert list(home.run("memory", "search", "kite", "--layer", "curated", "--json").json) == ["curated"]
    figures = home.run("memory", "stats", "--json").json
    assert figures["memory"]["entries"] == figures["archive"]["entries"] == 1


def test_export_and_import_carry_everything_to_another_backend(home: Place) -> None:
    home.with_memory(MEMORY="curated one")
    home.run("memory", "store", "k", "v", "--category", "daily", "--tag", "t", "--metadata", '{"n": [1]}')
    home.run("memory", "export", "all.jsonl")
    rows = [json.loads(line) for line in (home.cwd / "all.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["layer"] for row in rows] == ["curated", "archive"]
    assert (rows[1]["metadata"], rows[1]["tags"], rows[1]["owner"]) == ({"n": [1]}, ["t"], "main")
    other = (
        "sqlite" if 'backend = "markdown"' in (home.home / ".config/my-agent/config.toml").read_text() else "markdown"
    )
    home.env["MY_AGENT_MEMORY_BACKEND"] = other
    home.env["MY_AGENT_MEMORY_PATH"] = "elsewhere"
    told = home.run("memory", "import", "all.jsonl", "--layer", "archive", "--json").json
    assert told == {"archive": {"created": 1, "updated": 0}}
    again = [json.loads(line) for line in home.run("memory", "export", "--layer", "archive").out.splitlines()]
    assert again == rows[1:]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["store", "", "x"], "key is blank"),
        (["store", "k", " "], "content is blank"),
        (["store", "k", "x", "--category", "../x"], "category"),
        (["store", "k", "x", "--metadata", "[1]"], "must be a JSON object"),
        (["store", "k", "x", "--metadata", "{"], "is not JSON"),
        (["search", " "], "empty"),
        (["search", "x", "-n", "0"], "at least 1"),
    ],
)
def test_bad_input_is_a_sentence_and_exit_2(home: Place, words: list[str], said: str) -> None:
    done = home.run("memory", *words)
    assert done.code == 2
    assert said in done.err


def test_content_can_be_piped_in(home: Place) -> None:
    assert home.process("memory", "store", "k", "-", stdin="long\ntext\n").code == 0
    assert home.run("memory", "get", "k").out == "long\ntext\n"


def test_each_agent_sees_its_own_under_access_control(home: Place) -> None:
    home.env["MY_AGENT_MEMORY_ACL_ENABLED"] = "1"
    home.run("memory", "store", "k", "mine", "--agent", "one")
    assert home.run("memory", "get", "k", "--agent", "two").code == 2
    assert home.run("memory", "export", "--layer", "archive", "--agent", "two").out == ""
    stolen = home.run("memory", "export", "--layer", "archive", "--agent", "one").out
    (home.cwd / "stolen.jsonl").write_text(stolen, encoding="utf-8")
    done = home.run("memory", "import", "stolen.jsonl", "--agent", "two")
    assert done.code == 2
    assert "belongs to 'one'" in done.err
    assert home.run("memory", "import", "stolen.jsonl", "--agent", "one").code == 0


def test_reindex_without_embeddings_renews_the_words(home: Place) -> None:
    home.run("memory", "store", "k", "kite")
    assert home.run("memory", "reindex", "--json").json == {"embedded": 0}
    assert len(home.run("memory", "search", "kite", "--json").json["archive"]) == 1


def test_an_embedder_that_is_not_there_is_a_notice_and_words_go_on(home: Place) -> None:
    home.env |= {"MY_AGENT_MEMORY_EMBEDDINGS_PROVIDER": "ollama"}
    home.env |= {"MY_AGENT_MEMORY_EMBEDDINGS_BASE_URL": "http://127.0.0.1:9"}
    done = home.run("memory", "store", "k", "kite")
    assert done.code == 0
    assert "127.0.0.1:9" in done.err
    assert len(home.run("memory", "search", "kite", "--json").json["archive"]) == 1
    assert home.run("memory", "reindex").code == 4


def test_without_a_backend_the_archive_says_so(place: Place) -> None:
    done = place.run("memory", "store", "k", "v")
    assert done.code == 2
    assert "memory.backend" in done.err
    assert place.run("memory", "list", "--layer", "archive").code == 2


def test_a_file_that_is_no_database_is_told_and_left_alone(place: Place) -> None:
    place.user_config('[memory]\nbackend = "sqlite"\npath = "arc"\n')
    (place.cwd / "arc").mkdir()
    (place.cwd / "arc" / "archive.db").write_text("no database")
    done = place.run("memory", "store", "k", "v")
    assert done.code == 8
    assert "archive.db" in done.err
    assert (place.cwd / "arc" / "archive.db").read_text() == "no database"


def test_an_unknown_provider_is_a_configuration_error(place: Place) -> None:
    place.user_config('[memory]\nprovider = "nowhere"\n')
    done = place.run("run", "--offline", "hi")
    assert done.code == 2
    assert "memory.provider = 'nowhere'" in done.err
