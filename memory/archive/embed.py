"""`make_embedder`: the embedder that the configuration names; `OpenAIEmbedder`, for all that speak `/v1/embeddings`."""

from __future__ import annotations

import base64
import binascii
import json
import os
import struct
import threading
from typing import Any

from memory.archive.embed_address import address_of
from memory.archive.embed_local import LOCAL_DIMENSIONS, LOCAL_MODEL, LocalEmbedder
from memory.archive.embed_ollama import OLLAMA_URL, OllamaEmbedder
from memory.archive.embed_rest import RestingEmbedder
from memory.archive.embedder import BlockingEmbedder, Embedder, EmbeddingUnavailable, check_vectors

__all__ = [
    "PROVIDERS",
    "Embedder",
    "EmbeddingUnavailable",
    "LocalEmbedder",
    "OllamaEmbedder",
    "OpenAIEmbedder",
    "RestingEmbedder",
    "check_vectors",
    "make_embedder",
]

PROVIDERS = ("ollama", "openai", "local")
OPENAI_URL = "https://api.openai.com/v1"
OPENAI_KEY = "OPENAI_API_KEY"
MAX_CHARS = 6_000  # 8,191 tokens a text at most; a Chinese character is up to 1.3


class OpenAIEmbedder(BlockingEmbedder):
    """Asks OpenAI, or the server at `base_url`; the key is read from `api_key_env` at the first request."""

    def __init__(
        self,
        model: str = "text-embedding-3-small",
        dimensions: int = 1536,
        *,
        base_url: str | None = None,
        api_key_env: str = OPENAI_KEY,
        timeout_s: float = 10.0,
    ) -> None:
        # The same key goes where the chat model's requests go: never to another host because of a default.
        chosen = base_url or (os.environ.get("OPENAI_BASE_URL") if api_key_env == OPENAI_KEY else None) or OPENAI_URL
        self._address = address_of(chosen)
        where = f"the embeddings server {self._address.url}"
        super().__init__("openai", model, dimensions, where=where, max_chars=MAX_CHARS, timeout_s=timeout_s)
        self._request_timeout_s, self._api_key_env = timeout_s, api_key_env
        self._client: Any = None
        self._client_lock = threading.Lock()
        self._optional: dict[str, Any] = {"dimensions": dimensions, "encoding_format": "base64"}
        # Not every server knows them: one that is refused is left out from then on.

    def _ask(self, batch: list[str], query: bool) -> list[Any]:
        optional = dict(self._optional)
        while True:
            try:
                answer = self._post(batch, optional, query)
            except _Refused as refusal:
                named = [name for name in optional if name in str(refusal).lower()] or list(optional)
                if not named:
                    raise EmbeddingUnavailable(f"{self._where} refused the request: {refusal}") from refusal
                del optional[named[0]]
            else:
                self._optional = optional
                return self._vectors_in(answer)

    def _post(self, batch: list[str], optional: dict[str, Any], query: bool) -> str:
        # A person waits for a query, and text search answers it as well.
        client = self._open().with_options(max_retries=0 if query else 2)
        import openai  # 340 ms of CPU, and only where this provider is chosen

        try:
            # Not `embeddings.create`, which puts an encoding_format of its own in where none is given.
            body: dict[str, Any] = {"model": self.model, "input": batch, **optional}
            answer: str = client.post("/embeddings", cast_to=str, body=body)
        except openai.APITimeoutError as error:
            raise TimeoutError from error
        except openai.APIConnectionError as error:
            raise EmbeddingUnavailable(f"{self._where} cannot be reached") from error
        except openai.APIStatusError as error:
            raise self._refusal(error.status_code, str(error.message)) from error
        except openai.OpenAIError as error:
            raise EmbeddingUnavailable(f"{self._where} failed: {self._without_key(str(error))}") from error
        return answer

    def _refusal(self, status: int, message: str) -> Exception:
        message = self._without_key(message)
        if status in (401, 403):
            return EmbeddingUnavailable(f"{self._where} refused the key in {self._api_key_env} ({status})")
        if status == 404:
            return EmbeddingUnavailable(f"{self._where} has no model {self.model!r}, or no /embeddings ({message})")
        if status == 429:
            return EmbeddingUnavailable(f"{self._where} takes no more requests for the moment (429): {message}")
        if status in (400, 422):
            return _Refused(message)
        return EmbeddingUnavailable(f"{self._where} answered status {status}: {message}")

    def _without_key(self, message: str) -> str:
        key = self._key()
        return " ".join((message.replace(key, "***") if key else message).split())[:200]

    def _key(self) -> str:
        return os.environ.get(self._api_key_env, "").strip()

    def _open(self) -> Any:
        with self._client_lock:
            if self._client is None:
                import openai  # see `_post`

                key = self._key()
                # A server of one's own often wants no key; the package insists on some text.
                if not key and (self._api_key_env != OPENAI_KEY or self._address.url == address_of(OPENAI_URL).url):
                    sentence = f"{self._where} needs a key: set the environment variable {self._api_key_env}"
                    raise EmbeddingUnavailable(sentence)
                # No redirects, and no proxy for this machine: the text goes to this host and to no other.
                transport = openai.DefaultHttpxClient(follow_redirects=False, trust_env=not self._address.loopback)
                self._client = openai.OpenAI(
                    api_key=key or "none",
                    base_url=self._address.url,
                    timeout=self._request_timeout_s,
                    http_client=transport,
                )
            return self._client

    def _vectors_in(self, answer: str) -> list[Any]:
        try:
            rows = sorted(json.loads(answer)["data"], key=lambda row: int(row.get("index", 0)))
            return [_decoded(row["embedding"]) for row in rows]
        except (ValueError, KeyError, TypeError, AttributeError, binascii.Error, struct.error) as error:
            sentence = f"{self._where} answered no embeddings: is that address an OpenAI-compatible server (.../v1)?"
            raise EmbeddingUnavailable(sentence) from error


class _Refused(Exception):
    """The server took the request apart and did not like something in it."""


def _decoded(embedding: Any) -> Any:
    """Return the numbers; base64 holds little-endian 32-bit floats."""
    if not isinstance(embedding, str):
        return embedding
    data = base64.b64decode(embedding, validate=True)
    return list(struct.unpack(f"<{len(data) // 4}f", data))


def make_embedder(
    provider: str,
    model: str | None = None,
    dimensions: int | None = None,
    base_url: str | None = None,
    api_key_env: str | None = None,
    timeout_s: float = 10.0,
) -> Embedder:
    """Build the embedder of `[memory.embeddings]`; nothing is asked or loaded yet.

    Raises ValueError, which names the key and its choices, for a value that cannot work.
    """
    if provider not in PROVIDERS:
        raise ValueError(f"provider = {provider!r} is unknown: choose one of {', '.join(PROVIDERS)}")
    if dimensions is not None and not 1 <= dimensions <= 16_000:
        raise ValueError(f"dimensions = {dimensions} cannot be: write the size of the model's vectors, 1 to 16000")
    if not timeout_s > 0:
        raise ValueError(f"timeout_s = {timeout_s:g} cannot be: write seconds above 0")
    if provider == "local":
        return _local(model, dimensions)
    if provider == "ollama":
        return RestingEmbedder(
            OllamaEmbedder(
                model or "nomic-embed-text",
                dimensions or 768,
                base_url=base_url or OLLAMA_URL,
                api_key_env=api_key_env or "",
                timeout_s=timeout_s,
            )
        )
    return RestingEmbedder(
        OpenAIEmbedder(
            model or "text-embedding-3-small",
            dimensions or 1536,
            base_url=base_url,
            api_key_env=api_key_env or OPENAI_KEY,
            timeout_s=timeout_s,
        )
    )


def _local(model: str | None, dimensions: int | None) -> Embedder:
    if model not in (None, "", LOCAL_MODEL):
        raise ValueError(f"model = {model!r} is not in the local provider: it has {LOCAL_MODEL!r}")
    if dimensions not in (None, LOCAL_DIMENSIONS):
        raise ValueError(f"dimensions = {dimensions} is not what the local model gives: write {LOCAL_DIMENSIONS}")
    return LocalEmbedder()
