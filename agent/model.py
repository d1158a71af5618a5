"""`OpenAIModel`: any server that speaks the OpenAI chat protocol."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from agent.answer_reader import read_answer
from agent.failures import KeyRefused, ModelFailure, ProviderFailed
from agent.messages import Completion, Message, ToolChoice
from agent.redact import hide_key
from agent.refusals import failure_of_connection, failure_of_status
from agent.request_body import RequestBody

if TYPE_CHECKING:
    import openai

__all__ = ["OpenAIModel"]

log = logging.getLogger(__name__)

OPENAI_URL = "https://api.openai.com/v1"
NO_KEY = "none"  # sent to a server of one's own, which asks for none
CONNECT_TIMEOUT_S = 20.0


class OpenAIModel:
    """A model behind an OpenAI-compatible address. One request a call, nothing is retried; but fields of the request
    that the server says it does not know are left out from then on, and the same request is made again."""

    def __init__(
        self,
        name: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout_s: float = 120.0,
        replay_reasoning: bool | None = None,
        extra_body: Mapping[str, Any] | None = None,
        cache_key: str = "",
    ) -> None:
        """Prepare a client of `name`; nothing is loaded or contacted before the first request.

        Without a `base_url` `OPENAI_BASE_URL` and `OPENAI_API_KEY` count; that key is never sent to a `base_url` given
        here. `timeout_s` bounds the silence of the server. `replay_reasoning`: whether earlier reasoning is sent back
        (None: to known providers that want it). Raises `ValueError` for a URL that is none.
        """
        self.name = name
        if base_url is None:
            base_url = os.environ.get("OPENAI_BASE_URL") or OPENAI_URL
            api_key = api_key or os.environ.get("OPENAI_API_KEY")
        self._url = _endpoint(base_url)
        self.base_url = _shown(base_url)
        self._key = (api_key or "").strip()
        self._timeout_s = timeout_s
        self._body = RequestBody(
            name, base_url=base_url, cache_key=cache_key, replay_reasoning=replay_reasoning, extra_body=extra_body
        )
        self._client: openai.AsyncOpenAI | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def warm_up(self) -> None:
        """Load the client package and build the client; takes about a second, so call it in a thread of its own."""
        if self._client is None:
            with contextlib.suppress(ModelFailure):  # the first request will raise it
                self._client = self._new_client()

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[dict[str, Any]], *, tool_choice: ToolChoice = "auto"
    ) -> AsyncIterator[str | Completion]:
        """Yield pieces of text as they come, then the whole `Completion`. Raises a `ModelFailure`."""
        try:
            response = await self._open(messages, tools, tool_choice)
            try:
                pieces = read_answer(
                    response.iter_bytes(), model=self.name, base_url=self.base_url, timeout_s=self._timeout_s
                )
                async for piece in pieces:
                    yield piece
            finally:
                await response.close()
        except ModelFailure as failure:
            failure.args = (hide_key(str(failure), self._key),)
            raise

    async def close(self) -> None:
        """Close the connections. The next request opens new ones."""
        client, self._client = self._client, None
        if client is not None and self._loop in (None, asyncio.get_running_loop()):
            await client.close()

    async def _open(self, messages: Sequence[Message], tools: Sequence[dict[str, Any]], tool_choice: ToolChoice) -> Any:
        """Make the request and return its response (`openai.AsyncAPIResponse`), status 200, with the body unread."""
        self._check_key()
        import openai  # 0.3 s of CPU, so only when a request is made

        client = self._client_of_this_loop()
        while True:
            request = self._body.encode(messages, tools, tool_choice)
            try:
                # The typed `create` walks the whole history for every request; `post` sends the bytes as they are
                return await client.post(
                    self._url,
                    cast_to=object,
                    content=request.data,
                    options={"headers": {"X-Stainless-Raw-Response": "stream"}},
                    stream=True,
                    stream_cls=openai.AsyncStream[object],
                )
            except openai.APIStatusError as error:
                status, headers = error.status_code, error.response.headers
                body = error.response.content.decode("utf-8", "replace")
                if status in (400, 422) and self._body.mend(request, body):
                    continue
                raise failure_of_status(status, headers, body, model=self.name, base_url=self.base_url) from None
            except Exception as error:  # the border to the provider
                log.debug("the request failed: %s", type(error).__name__)
                raise failure_of_connection(error, base_url=self.base_url, timeout_s=self._timeout_s) from None

    def _client_of_this_loop(self) -> openai.AsyncOpenAI:
        """Connections belong to the event loop that made them; another loop gets a client of its own."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop not in (None, loop):
            self._client = self._new_client()
        self._loop = loop
        return self._client

    def _new_client(self) -> openai.AsyncOpenAI:
        import openai  # 0.3 s of CPU, so only when a request is made

        timeout = openai.Timeout(self._timeout_s, connect=min(self._timeout_s, CONNECT_TIMEOUT_S))
        plain = self._url.startswith("http://") and not _https_proxy()
        # Loading the authorities costs 30 ms; a context without any is for plain http, and refuses every certificate
        verify = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True
        try:
            http_client = openai.DefaultAsyncHttpxClient(verify=verify, timeout=timeout)
        except (ImportError, OSError, ValueError) as error:  # it reads proxies and authorities from the environment
            raise ProviderFailed(f"No client for {self.base_url} with this environment: {error}") from None
        return openai.AsyncOpenAI(
            api_key=self._key or NO_KEY,
            base_url=self._url.removesuffix("/chat/completions"),
            timeout=timeout,
            max_retries=0,
            http_client=http_client,
        )

    def _check_key(self) -> None:
        if not self._key and self.base_url == OPENAI_URL:
            raise KeyRefused(
                "No API key: set OPENAI_API_KEY, or OPENAI_BASE_URL if the model runs on a server of your own."
            )
        if not (self._key.isascii() and self._key.isprintable()) or " " in self._key:
            raise KeyRefused(
                f"The API key is not one: among its {len(self._key)} characters are some that no key has. Set it again."
            )


def _endpoint(base_url: str) -> str:
    parts = urlsplit(base_url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"base URL {base_url!r} must look like https://host/v1 or http://localhost:11434")
    path = re.sub(r"/+(?:chat/completions/*)?$", "", parts.path) or "/v1"
    return urlunsplit(parts._replace(path=f"{path}/chat/completions", fragment=""))


def _shown(base_url: str) -> str:
    """The URL for messages: without a password or a query, which may hold a key."""
    parts = urlsplit(base_url.strip())
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))


def _https_proxy() -> bool:
    return any(
        os.environ.get(name, "").startswith("https:") for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy")
    )
