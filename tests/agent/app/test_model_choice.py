"""Which model answers: nobody's silent choice, and a key only for the provider it belongs to."""

from __future__ import annotations

import pytest
from command_line import Place

from agent.app.config import Config, load_config
from agent.app.exits import ConfigProblem
from agent.app.model_choice import choose_model
from agent.app.options import Options
from agent.failures import KeyRefused

NO_FLAGS = Options()


@pytest.fixture(autouse=True)
def _inside(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place.cwd)
    monkeypatch.setenv("XDG_DATA_HOME", str(place.home / "data"))


def config(place: Place, options: Options = NO_FLAGS, **env: str) -> Config:
    return load_config(options, place.environment() | env)


def test_on_a_fresh_machine_the_embedded_rules_answer(place: Place) -> None:
    assert choose_model(config(place), env={}).offline


def test_a_key_alone_is_enough(place: Place) -> None:
    choice = choose_model(config(place), env={"OPENAI_API_KEY": "k"})
    assert (choice.offline, choice.base_url, choice.key) == (False, "", "k")
    assert choice.name


def test_an_empty_key_is_none(place: Place) -> None:
    assert choose_model(config(place), env={"OPENAI_API_KEY": ""}).offline


def test_the_flag_for_the_rules_goes_before_everything(place: Place) -> None:
    assert choose_model(config(place, Options(model="m")), offline=True, env={"OPENAI_API_KEY": "k"}).offline


def test_a_model_without_a_key_is_an_error_and_no_fall_back(place: Place) -> None:
    chosen = config(place, Options(model="m"))
    choice = choose_model(chosen, env={})
    assert not choice.offline
    with pytest.raises(KeyRefused, match="OPENAI_API_KEY is not set"):
        choice.build(chosen)


def test_a_server_of_ones_own_needs_no_key_and_a_model(place: Place) -> None:
    here = config(place, Options(base_url="http://127.0.0.1:8080/v1", model="m"))
    choice = choose_model(here, env={})
    assert (choice.key, choice.key_env) == ("", "")
    choice.build(here)
    with pytest.raises(ConfigProblem, match=r"provider\.model is missing"):
        choose_model(config(place, Options(base_url="http://127.0.0.1:8080/v1")), env={})


def test_a_named_variable_is_the_only_one(place: Place) -> None:
    place.user_config('[provider]\nmodel = "m"\napi_key_env = "MINE"\n')
    here = config(place)
    assert choose_model(here, env={"MINE": "k", "OPENAI_API_KEY": "o"}).key == "k"
    with pytest.raises(KeyRefused, match="MINE is not set"):
        choose_model(here, env={"OPENAI_API_KEY": "o"}).build(here)


def test_a_kind_knows_its_address_and_takes_no_other_key(place: Place) -> None:
    place.user_config('[provider]\nkind = "deepseek"\n')
    choice = choose_model(config(place), env={"OPENAI_API_KEY": "o"})
    assert (choice.base_url, choice.key, choice.key_env) == ("https://api.deepseek.com", "", "DEEPSEEK_API_KEY")
    assert choose_model(config(place), env={"DEEPSEEK_API_KEY": "d"}).key == "d"


def test_a_kind_behind_an_address_that_somebody_named_takes_the_usual_key_too(place: Place) -> None:
    place.user_config('[provider]\nkind = "deepseek"\n')
    here = config(place, OPENAI_BASE_URL="http://127.0.0.1:1/v1", OPENAI_MODEL="m")
    choice = choose_model(here, env={"OPENAI_API_KEY": "o"})
    assert (choice.base_url, choice.key) == ("http://127.0.0.1:1/v1", "o")


def test_a_project_names_a_dialect_and_not_where_the_talk_goes(place: Place) -> None:
    place.project_config('[provider]\nkind = "deepseek"\n')
    assert choose_model(config(place), env={"OPENAI_API_KEY": "o"}).base_url == ""
    assert place.run("config", "trust").code == 0


def test_another_model_stays_on_the_same_server(place: Place) -> None:
    choice = choose_model(config(place, Options(base_url="http://127.0.0.1:1", model="a")), env={}).named("b")
    assert (choice.name, choice.base_url) == ("b", "http://127.0.0.1:1")


def test_leaving_the_embedded_rules_wants_a_key(place: Place) -> None:
    here = config(place)
    with pytest.raises(KeyRefused):
        choose_model(here, env={}).named("gpt").build(here)
