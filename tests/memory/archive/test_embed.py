from __future__ import annotations

import asyncio
import math
import os
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from embedding_server import EmbeddingServer

from memory.archive.embed import LocalEmbedder, OllamaEmbedder, OpenAIEmbedder, RestingEmbedder, make_embedder
from memory.archive.embedder import Embedder, EmbeddingUnavailable, check_vectors

SECRET = "sk-test-0123456789abcdef"


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as running:
        yield running


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def ollama(server: EmbeddingServer, model: str = "plain", timeout_s: float = 10.0) -> OllamaEmbedder:
    return OllamaEmbedder(model, 4, base_url=server.url, timeout_s=timeout_s)


def openai(server: EmbeddingServer, timeout_s: float = 10.0, **named: Any) -> OpenAIEmbedder:
    return OpenAIEmbedder("m", 4, base_url=f"{server.url}/v1", timeout_s=timeout_s, **named)


def embed(embedder: Embedder, *texts: str, query: bool = False) -> list[list[float]]:
    return asyncio.run(embedder.embed(texts, query=query))


def failure(embedder: Embedder, *texts: str, query: bool = True) -> str:
    with pytest.raises(EmbeddingUnavailable) as caught:
        embed(embedder, *(texts or ("text",)), query=query)
    return str(caught.value)


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize("make", [ollama, openai])
def test_texts_come_back_as_vectors_in_their_order(server: EmbeddingServer, make: Any) -> None:
    server.reverse = True
    assert embed(make(server), "a", "部署数据库", "abc") == [[1, 1, 0, 0], [5, 1, 0, 0], [3, 1, 0, 0]]


@pytest.mark.parametrize("make", [ollama, openai])
def test_a_hundred_texts_go_into_one_request(server: EmbeddingServer, make: Any) -> None:
    vectors = embed(make(server), *["x" * (n % 7 + 1) for n in range(250)])
    assert [vector[0] for vector in vectors] == [n % 7 + 1 for n in range(250)]
    assert [len(body["input"]) for _, _, body in server.requests] == [100, 100, 50]


@pytest.mark.parametrize("make", [ollama, openai])
def test_no_text_needs_no_request(server: EmbeddingServer, make: Any) -> None:
    assert embed(make(server)) == []
    assert server.requests == []


@pytest.mark.parametrize("make", [ollama, openai])
def test_nul_and_lone_surrogates_leave_text_that_can_be_sent(server: EmbeddingServer, make: Any) -> None:
    assert len(embed(make(server), "a\0b\ud800c", "")) == 2
    assert server.requests[0][2]["input"] == ["a b?c", ""]


@pytest.mark.parametrize("make", [ollama, openai])
def test_a_long_text_is_cut_before_it_is_sent(server: EmbeddingServer, make: Any) -> None:
    embed(make(server), "长" * 50_000)
    assert len(server.requests[0][2]["input"][0]) == 6_000


@pytest.mark.parametrize("make", [ollama, openai])
def test_an_absent_server_is_named_with_its_address(server: EmbeddingServer, make: Any) -> None:
    server.url = f"http://127.0.0.1:{closed_port()}"
    assert f"{server.url}" in (sentence := failure(make(server)))
    assert "cannot be reached" in sentence


@pytest.mark.parametrize("make", [ollama, openai])
def test_a_hanging_server_costs_its_timeout(server: EmbeddingServer, make: Any) -> None:
    server.hang.clear()
    assert "did not answer within 0.2 s" in failure(make(server, timeout_s=0.2))


@pytest.mark.parametrize("make", [ollama, openai])
def test_a_page_instead_of_json_is_refused(server: EmbeddingServer, make: Any) -> None:
    server.answer = 200, b"<html>It works!</html>"
    assert "answered no embeddings" in failure(make(server))


@pytest.mark.parametrize("make", [ollama, openai])
def test_a_server_error_is_told_with_its_status(server: EmbeddingServer, make: Any) -> None:
    server.answer = 500, {"error": "out of memory"}
    assert "answered status 500" in failure(make(server))


@pytest.mark.parametrize("make", [ollama, openai])
def test_another_size_is_refused_and_both_sizes_are_named(server: EmbeddingServer, make: Any) -> None:
    server.dimensions = 6
    assert "6 numbers, not 4" in failure(make(server))


@pytest.mark.parametrize("make", [ollama, openai])
def test_a_redirect_is_not_followed(server: EmbeddingServer, make: Any) -> None:
    with EmbeddingServer() as other:
        server.answer = 307, {}
        server.headers["Location"] = f"{other.url}/v1/embeddings"
        assert "307" in failure(make(server))
        assert other.requests == []


@pytest.mark.parametrize("make", [ollama, openai])
def test_a_proxy_is_not_asked_for_an_address_of_this_machine(
    server: EmbeddingServer, make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with EmbeddingServer() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("http_proxy", proxy.url)
        assert len(embed(make(server), "text")) == 1
        assert proxy.requests == []


def test_an_absent_ollama_model_comes_with_the_command_that_fetches_it(server: EmbeddingServer) -> None:
    server.answer = 404, {"error": 'model "plain" not found, try pulling it first'}
    assert "ollama pull plain" in failure(ollama(server))


def test_models_that_want_a_prefix_get_theirs(server: EmbeddingServer) -> None:
    embed(ollama(server, "nomic-embed-text:latest"), "when?", query=True)
    embed(ollama(server, "nomic-embed-text"), "at noon")
    assert [body["input"] for _, _, body in server.requests] == [["search_query: when?"], ["search_document: at noon"]]


def test_ollama_gets_the_key_only_when_a_variable_is_named(
    server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_OLLAMA_KEY", SECRET)
    embed(OllamaEmbedder("m", 4, base_url=server.url, api_key_env="TEST_OLLAMA_KEY"), "a")
    embed(ollama(server), "a")
    assert [headers.get("authorization") for _, headers, _ in server.requests] == [f"Bearer {SECRET}", None]


@pytest.mark.parametrize("floats", [False, True])
def test_openai_answers_may_be_base64_or_numbers(server: EmbeddingServer, floats: bool) -> None:
    server.floats = floats
    assert embed(openai(server), "abc") == [[3, 1, 0, 0]]


def test_a_parameter_that_is_refused_is_left_out_from_then_on(server: EmbeddingServer) -> None:
    server.refused = {"dimensions", "encoding_format"}
    embedder = openai(server)
    assert embed(embedder, "a") == embed(embedder, "b")
    assert [sorted({"dimensions", "encoding_format"} & body.keys()) for _, _, body in server.requests] == [
        ["dimensions", "encoding_format"],
        ["dimensions"] if "encoding_format" not in server.requests[1][2] else ["encoding_format"],
        [],
        [],
    ]


def test_a_request_refused_for_another_reason_says_it_and_keeps_the_parameters(server: EmbeddingServer) -> None:
    embedder = openai(server)
    server.answer = 400, {"error": {"message": "this text is too long"}}
    assert "this text is too long" in failure(embedder)
    server.answer = None
    embed(embedder, "a")
    assert server.requests[-1][2]["dimensions"] == 4


def test_the_key_comes_from_the_named_variable_and_is_in_no_message(
    server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_EMBED_KEY", SECRET)
    embedder = openai(server, api_key_env="TEST_EMBED_KEY")
    server.answer = 401, {"error": {"message": f"Incorrect API key provided: {SECRET}"}}
    refused = failure(embedder)
    server.answer = 418, {"error": {"message": f"strange key {SECRET}"}}
    assert server.requests[0][1]["authorization"] == f"Bearer {SECRET}"
    assert "TEST_EMBED_KEY" in refused
    assert SECRET not in refused + failure(embedder)


def test_a_key_that_is_not_set_is_asked_for_by_name() -> None:
    sentence = failure(OpenAIEmbedder())
    assert sentence == (
        "the embeddings server https://api.openai.com/v1 needs a key: set the environment variable OPENAI_API_KEY"
    )


def test_the_key_for_another_server_is_not_sent_to_openai(
    server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    assert embed(OpenAIEmbedder("m", 4), "ab") == [[2, 1, 0, 0]]
    assert server.requests[0][1]["authorization"] == f"Bearer {SECRET}"


def test_a_cancelled_call_returns_at_once_though_the_server_hangs(server: EmbeddingServer) -> None:
    server.hang.clear()

    async def give_up() -> None:
        task = asyncio.create_task(ollama(server).embed(["text"], query=True))
        while not server.requests:
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(asyncio.wait_for(give_up(), 10))


class Broken:
    identity, dimensions = "test/broken/4", 4

    def __init__(self) -> None:
        self.calls, self.down = 0, True

    async def embed(self, texts: Any, *, query: bool) -> list[list[float]]:
        self.calls += 1
        if self.down:
            raise EmbeddingUnavailable("the server is away")
        return [[1.0, 0.0, 0.0, 0.0] for _ in texts]


def test_a_provider_that_failed_is_asked_again_only_after_a_rest() -> None:
    now = 100.0
    broken = Broken()
    embedder = RestingEmbedder(broken, rest_s=30, monotonic=lambda: now)
    assert failure(embedder) == failure(embedder) == "the server is away"
    assert broken.calls == 1
    now, broken.down = 131.0, False
    assert len(embed(embedder, "a")) == len(embed(embedder, "b")) == 1
    assert broken.calls == 3


def test_a_call_given_up_after_a_long_wait_begins_a_rest(server: EmbeddingServer) -> None:
    server.hang.clear()
    now = 0.0
    embedder = RestingEmbedder(ollama(server), monotonic=lambda: now)

    async def give_up(after_s: float) -> None:
        nonlocal now
        task = asyncio.create_task(embedder.embed(["text"], query=True))
        asked = len(server.requests)
        while len(server.requests) == asked:
            await asyncio.sleep(0.005)
        now += after_s
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(give_up(0.1))
    asyncio.run(give_up(2.0))
    assert "did not answer in time" in failure(embedder)
    assert len(server.requests) == 2


def test_local_vectors_tell_meanings_apart_in_two_languages() -> None:
    embedder = LocalEmbedder()
    threads = os.environ.get("OMP_NUM_THREADS")
    for query, *stored in [
        ("which pet does the user have?", "用户养了一只猫", "新版本周五发布", "早餐八点吃面包"),
        ("新版本什么时候发布", "The new version is released on Friday", "Breakfast is at eight", "The user has a cat"),
    ]:
        (asked,) = embed(embedder, query, query=True)
        scores = [dot(asked, vector) for vector in embed(embedder, *stored)]
        assert scores[0] == max(scores)
        assert len(asked) == embedder.dimensions == 384
    assert os.environ.get("OMP_NUM_THREADS") == threads


def dot(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_local_vectors_of_odd_texts_are_vectors() -> None:
    vectors = embed(LocalEmbedder(), "", "a\0b", "\ud800", "x" * 100_000)
    assert [len(vector) for vector in vectors] == [384] * 4


def test_text_after_nul_counts_in_local_vectors() -> None:
    whole, cut = embed(LocalEmbedder(), "a\0部署在周五", "a")
    assert whole != cut


def test_the_provider_of_the_configuration_is_built_without_asking_it() -> None:
    made = [make_embedder("ollama"), make_embedder("openai"), make_embedder("local"), make_embedder("ollama", "m", 5)]
    assert [embedder.identity for embedder in made] == [
        "ollama/nomic-embed-text/768",
        "openai/text-embedding-3-small/1536",
        "local/multilingual-e5-small/384",
        "ollama/m/5",
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"provider": "olama"}, ["olama", "ollama, openai, local"]),
        ({"provider": "local", "dimensions": 768}, ["dimensions", "768", "384"]),
        ({"provider": "local", "model": "nomic-embed-text"}, ["nomic-embed-text", "multilingual-e5-small"]),
        ({"provider": "ollama", "dimensions": 0}, ["dimensions", "0"]),
        ({"provider": "ollama", "timeout_s": 0}, ["timeout_s", "0"]),
        ({"provider": "ollama", "base_url": "localhost:11434"}, ["base_url", "localhost:11434"]),
        ({"provider": "openai", "base_url": "http://host:port/v1"}, ["base_url", "host:port"]),
        ({"provider": "openai", "base_url": "http://host/v1?key=1"}, ["base_url", "?"]),
    ],
)
def test_a_value_that_cannot_work_is_named(arguments: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        make_embedder(**arguments)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_a_password_in_a_base_url_is_refused_and_not_shown() -> None:
    with pytest.raises(ValueError, match="api_key_env") as caught:
        make_embedder("ollama", base_url=f"http://me:{SECRET}@host:1")
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "vectors",
    [
        None,
        "text",
        [[1.0, 2.0]],
        [[1.0], [2.0]],
        [[1.0, math.nan]] * 2,
        [[1.0, math.inf]] * 2,
        [[1.0, "x"]] * 2,
        [[1, 10**400]] * 2,
    ],
)
def test_what_is_no_set_of_vectors_is_refused_with_the_source_named(vectors: Any) -> None:
    with pytest.raises(EmbeddingUnavailable, match="the test"):
        check_vectors(vectors, 2, 2, "the test")
