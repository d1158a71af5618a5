"""What went wrong at a provider, as the failure it is: a status, an error in a stream, a broken connection.

The words for "out of credit" differ by provider; the tables here hold them all.
"""

from __future__ import annotations

import json
import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from agent.failures import ContextOverflow, KeyRefused, ModelFailure, ProviderFailed, RequestRefused
from agent.overflow import figures_in, is_too_long
from agent.waiting import retry_after

__all__ = ["failure_of_connection", "failure_of_event", "failure_of_status", "words_of"]

WORDS_LIMIT = 600  # characters of the server's own words in a message

_NO_CREDIT = (
    r"insufficient[ _](?:balance|funds|credits?)|balance is insufficient|credit balance is too low|\barrearage\b"
    r"|billing[ _](?:hard[ _]limit|not[ _]active)|payment required|(?:used all|have any) (?:available )?credits"
    r"|credits are depleted|in arrears|account[^.]{0,90}suspended[^.]{0,40}(?:balance|billing)|余额不足|欠费"
    r"|quota exceeded for metric[^*]{0,200} limit: 0\b"  # Gemini: not in this plan at all
)
_NO_QUOTA = (
    r"insufficient[ _]quota|exceeded your current quota|quota[^.]{0,30}(?:exhausted|used up)|额度(?:不足|已用完)"
)
_COMES_BACK = r"RESOURCE_EXHAUSTED|quota exceeded for metric|allocated quota exceeded|(?:retry|try again) in \d"
# The same words about a quota for each minute, of Gemini and of DashScope
_BAD_KEY = (
    r"(?:invalid|incorrect)[ _-]api[ _-]?key"
    r"|api[ _-]?key[^.]{0,20}(?:invalid|not valid|not found|expired|missing)|account[^.]{0,20}deactivated"
)
_NO_ACCESS = (
    rf"{_BAD_KEY}|invalid[ _]key|authentication[ _](?:error|fail)|unauthori[sz]ed|permission[ _](?:denied|error)"
    r"|invalid[ _]auth"
)
_BAD_REQUEST = r"invalid[ _]request|bad[ _]request|not[ _]found|unprocessable|invalid[ _](?:param|argument|value)"

_MINIMAX = {"1002": 429, "1004": 401, "1008": 402, "1026": 400, "1039": 413, "2013": 400, "2049": 401}
# The status that a `status_code` of its `base_resp` stands for; it comes with status 200


def failure_of_status(
    status: int, headers: Mapping[str, str], body: str, *, model: str = "", base_url: str = ""
) -> ModelFailure:
    """Return the failure that an answer with a status of 300 or more stands for, with the server's own words."""
    words, name = words_of(body), _name(status)
    said = f": {words}" if words else ""
    if status == 413 or (
        status not in (401, 402, 403, 429) and is_too_long(_said(body), sure=status not in (400, 422, 500))
    ):
        return _overflow(f"The request is too long for the model's context ({name}){said}", words, status)
    if status == 402 or (status >= 400 and _is_out_of_credit(body)):
        return ProviderFailed(f"The account is out of credit or quota ({name}){said}", status=status)
    if status == 401 or (status == 400 and _finds(_BAD_KEY, body)):
        text = f"The API key was refused ({name}){said}{_stop(said)} Check the key for {base_url}"
        return KeyRefused(text, status=status)
    if status == 403:
        text = f"Access was refused ({name}){said}{_stop(said)} Check that the API key may use {model!r} at {base_url}"
        return KeyRefused(text, status=status)
    if status in (408, 409, 425, 429) or status >= 500:
        text = f"The provider answered {name}{said}"
        return ProviderFailed(text, status=status, retryable=True, retry_after_s=retry_after(headers, body))
    if status < 400:
        target = headers.get("location", "somewhere else")
        text = f"The server redirects {base_url} to {target} ({name}); make that the base URL"
        return RequestRefused(text, status=status)
    hint = f"{_stop(said)} Check the model name {model!r} and the base URL {base_url}" if status in (404, 405) else ""
    return RequestRefused(f"The provider refused the request ({name}){said}{hint}", status=status)


def failure_of_event(error: Any, *, model: str = "", base_url: str = "") -> ModelFailure:
    """Return the failure that an error object inside a stream, or with status 200, stands for."""
    body = json.dumps({"error": error}, ensure_ascii=False)
    status = _status_in(error)
    if status is not None:
        return failure_of_status(status, {}, body, model=model, base_url=base_url)
    words = words_of(body)
    if is_too_long(_said(body)):
        return _overflow(f"The request is too long for the model's context: {words}", words)
    if _is_out_of_credit(body):
        return ProviderFailed(f"The account is out of credit or quota: {words}")
    if _finds(_NO_ACCESS, body):
        return KeyRefused(f"The API key was refused: {words}")
    if _finds(_BAD_REQUEST, body):
        return RequestRefused(f"The provider refused the request: {words}")
    text = f"The provider reported an error while it answered: {words}"
    return ProviderFailed(text, retryable=True, retry_after_s=retry_after({}, body))


def failure_of_connection(error: BaseException, *, base_url: str, timeout_s: float) -> ModelFailure:
    """Return the `ProviderFailed` that `error` stands for; asking again may help unless the address is wrong."""
    chain = list(_chain(error))
    for link in chain:
        if isinstance(link, socket.gaierror):
            text = f"The host of {base_url} was not found (DNS: {link.strerror}). Check the base URL and the network"
            return ProviderFailed(text, retryable=link.errno == socket.EAI_AGAIN)
        if isinstance(link, ssl.SSLCertVerificationError):
            text = f"The certificate of {base_url} was refused (TLS: {link.verify_message}); check the address"
            return ProviderFailed(text)
        if isinstance(link, ssl.SSLError) and link.reason is not None:
            return ProviderFailed(f"No TLS connection to {base_url} ({link.reason}); check whether it speaks https")
        if isinstance(link, ConnectionRefusedError):
            text = f"Nothing answers at {base_url} (connection refused). Check that the server runs"
            return ProviderFailed(text, retryable=True)
    # The HTTP package is known by names: which package that is changes between versions of the client
    names = {kind.__name__ for link in chain for kind in type(link).__mro__}
    if "ConnectTimeout" in names:
        return ProviderFailed(f"No connection to {base_url} came about in time", retryable=True)
    if "TimeoutException" in names or "TimeoutError" in names:
        return ProviderFailed(f"The provider said nothing for {timeout_s:g} s (timeout)", retryable=True)
    why = f"{type(chain[-1]).__name__}: {str(chain[-1]) or 'no more is known'}"
    return ProviderFailed(f"The connection to {base_url} broke ({why})", retryable=True)


def words_of(body: str) -> str:
    """Return what an error page says to a person: the messages in its JSON, the title of its HTML, or its text."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        title = re.search(r"<(title|h1)[^>]*>(.*?)</\1>", body[:20_000], re.IGNORECASE | re.DOTALL)
        text = title[2] if title else re.sub(r"<[^>]*>", " ", body[:20_000])
    else:
        text = "; ".join(dict.fromkeys(_messages(value))) or (body if value else "")
    text = " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f]", " ", text[: 4 * WORDS_LIMIT]).split())
    return text if len(text) <= WORDS_LIMIT else f"{text[:WORDS_LIMIT]} ..."


def _is_out_of_credit(body: str) -> bool:
    return _finds(_NO_CREDIT, body) or (_finds(_NO_QUOTA, body) and not _finds(_COMES_BACK, body))


def _overflow(text: str, words: str, status: int | None = None) -> ContextOverflow:
    limit, sent = figures_in(words)
    return ContextOverflow(text, status=status, limit_tokens=limit, sent_tokens=sent)


def _finds(pattern: str, body: str) -> bool:
    return re.search(pattern, _said(body), re.IGNORECASE) is not None


def _said(body: str) -> str:
    """The error as tables are looked up in it: its words, and its codes and types, which may say more."""
    return f"{words_of(body)} {body[:20_000]}"


def _status_in(error: Any) -> int | None:
    if not isinstance(error, dict):
        return None
    found = [str(error.get(name)).strip() for name in ("code", "status", "status_code")]
    known = _MINIMAX.get(found[-1])
    return known or next((int(text) for text in found if re.fullmatch("[45][0-9][0-9]", text)), None)


def _messages(value: Any, depth: int = 0) -> Iterator[str]:
    """The texts meant for people in the error bodies of OpenAI, vLLM, FastAPI, Anthropic, Gemini, Ollama and others."""
    if isinstance(value, str) and value.strip():
        yield value.strip()
    elif isinstance(value, list) and depth < 4:
        for inner in value[:5]:
            yield from _messages(inner, depth + 1)
    elif isinstance(value, dict) and depth < 4:
        if "msg" in value and "loc" in value:
            loc = value["loc"] if isinstance(value["loc"], list) else [value["loc"]]
            yield f"{'.'.join(map(str, loc))}: {value['msg']}"
            return
        for name in ("error", "message", "msg", "status_msg", "detail", "metadata", "raw"):
            yield from _messages(value.get(name), depth + 1)


def _name(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:  # one of the gateways' own
        return str(status)


def _stop(said: str) -> str:
    return "" if said.endswith((".", "!", "?", "。")) else "."


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error and what it was raised from."""
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for inner in error.exceptions:
                yield from _chain(inner)
        error = error.__cause__ or error.__context__
