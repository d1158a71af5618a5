"""`OllamaEmbedder`: vectors from an Ollama server, over `/api/embed`."""

from __future__ import annotations

import http.client
import json
import os
from typing import Any

from memory.archive.embed_address import address_of
from memory.archive.embedder import BlockingEmbedder, EmbeddingUnavailable

__all__ = ["OLLAMA_URL", "OllamaEmbedder"]

OLLAMA_URL = "http://127.0.0.1:11434"
MAX_CHARS = 6_000  # more than any passage; Ollama itself cuts to the model's window
MAX_ANSWER_BYTES = 64 * 2**20
# What the models' own documentation puts before a query and before a stored text; Ollama adds nothing itself.
PREFIXES = {
    "nomic-embed-text": ("search_query: ", "search_document: "),
    "mxbai-embed-large": ("Represent this sentence for searching relevant passages: ", ""),
}


class OllamaEmbedder(BlockingEmbedder):
    def __init__(
        self,
        model: str = "nomic-embed-text",
        dimensions: int = 768,
        *,
        base_url: str = OLLAMA_URL,
        api_key_env: str = "",
        timeout_s: float = 10.0,
    ) -> None:
        self._address = address_of(base_url)
        where = f"Ollama at {self._address.url}"
        super().__init__("ollama", model, dimensions, where=where, max_chars=MAX_CHARS, timeout_s=timeout_s)
        self._api_key_env, self._socket_timeout_s = api_key_env, timeout_s

    def _ask(self, batch: list[str], query: bool) -> list[Any]:
        prefix = PREFIXES.get(self.model.partition(":")[0], ("", ""))[0 if query else 1]
        body = json.dumps({"model": self.model, "input": [prefix + text for text in batch]}).encode()
        try:
            status, answer = self._post(body)
        except TimeoutError:
            raise
        except (OSError, http.client.HTTPException) as error:
            raise EmbeddingUnavailable(f"{self._where} cannot be reached: start `ollama serve`") from error
        return self._vectors_in(status, answer)

    def _post(self, body: bytes) -> tuple[int, bytes]:
        """Send one request; redirects are not followed and no proxy is asked, so that the text goes nowhere else."""
        kind = http.client.HTTPSConnection if self._address.scheme == "https" else http.client.HTTPConnection
        connection = kind(self._address.host, self._address.port, timeout=self._socket_timeout_s)
        headers = {"Content-Type": "application/json"}
        if key := os.environ.get(self._api_key_env, "").strip() if self._api_key_env else "":
            headers["Authorization"] = f"Bearer {key}"
        try:
            connection.request("POST", f"{self._address.path}/api/embed", body, headers)
            response = connection.getresponse()
            answer = response.read(MAX_ANSWER_BYTES + 1)
        finally:
            connection.close()
        if len(answer) > MAX_ANSWER_BYTES:
            raise EmbeddingUnavailable(f"{self._where} answered more than {MAX_ANSWER_BYTES // 2**20} MiB")
        return response.status, answer

    def _vectors_in(self, status: int, answer: bytes) -> list[Any]:
        try:
            data = json.loads(answer)
        except ValueError:
            data = None
        data = data if isinstance(data, dict) else {}
        if status == 404 and "not found" in str(data.get("error", "")):
            raise EmbeddingUnavailable(f"{self._where} has no model {self.model!r}: run `ollama pull {self.model}`")
        if status in (401, 403):
            raise EmbeddingUnavailable(f"{self._where} refused the key ({status}): check api_key_env")
        if status != 200:
            reason = f": {' '.join(str(data['error']).split())[:200]}" if data.get("error") else ""
            raise EmbeddingUnavailable(f"{self._where} answered status {status}{reason}")
        vectors = data.get("embeddings")
        if not isinstance(vectors, list):
            raise EmbeddingUnavailable(f"{self._where} answered no embeddings: is that address an Ollama server?")
        return vectors
