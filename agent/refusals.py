"""What went wrong at a provider, as the failure it is: a status, an error in a stream, a broken connection.

The words for "too long" and "out of credit" differ by provider; the tables here hold them all.
"""

from __future__ import annotations

import json
import re
import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from datetime import UTC
from http import HTTPStatus
from typing import Any

from agent.failures import ContextOverflow, KeyRefused, ModelFailure, ProviderFailed, RequestRefused

__all__ = ["failure_of_connection", "failure_of_event", "failure_of_status", "retry_after", "words_of"]

WORDS_LIMIT = 600  # characters of the server's own words in a message
LONGEST_HINT_S = 1e9  # 30 years: what asks to wait longer, or is nan, is no hint

_CONTEXT = r"context[ _-]?(?:length|window|size|limit|shift|overflow)|\bn_ctx\b|上下文[^。]{0,12}[长長超限]"
_INPUT = (
    r"(?:input|prompt(?!_cache)|(?<!output )(?<!completion )(?<!new )(?<!max )\btokens?\b|(?:sequence|message) length)"
)
_GAP = r"[^.。\"]{0,80}"
_TOO_LONG = (
    rf"{_CONTEXT}"
    # "Input length 5000 exceeds the maximum allowed 4096", "prompt tokens (9) exceeded the maximum of 8"
    rf"|{_INPUT}{_GAP}(?:exceed|(?:long|larg|great)er than|more than){_GAP}(?:max|limit|allow|\d{{3}})"
    r"|(?:input|prompt|(?<!output )\btoken)s?[ _]?(?:length|tokens|count|limit)?[ _]?(?:is |was )?exceed"
    rf"|request{_GAP}exceed{_GAP}\btoken|max tokens of \d+ exceeded|payload[^.\"]{{0,20}}(?:too large|exceed)"
    # "prompt is too long: 9 tokens > 8 maximum", "Please reduce the length of the messages"
    r"|(?:input|prompt|messages?|conversation)(?!_(?:schema|cache))[^.\"]{0,40}too[ _](?:long|large to process)"
    r"|too[ _]many[ _](?:input[ _]|prompt[ _])?tokens|\d tokens > \d|request[ _]too[ _]large|too large for model"
    r"|(?:reduce|shorten|decrease) (?:the |your )(?:length|prompt|input|messages|conversation|context)"
    # "max_total_tokens must be less than or equal to max_seq_len", "Range of input length should be [1, 9]"
    r"|max(?:imum)?[ _](?:allowed )?(?:number of )?(?:model|input|prompt|seq(?:uence)?|message)[ _](?:len|tokens|char)"
    r"|range of input length|inputs?`? tokens \+|must have (?:less|fewer) than \d+ tokens"
    r"|tokens to keep from the initial prompt"
    r"|(?:[输輸]入|提示词?|[请請]求(?:内容|长度)|消息|文本|字符数?|[对會会][话話]|prompt|(?<!max_)tokens?)[^。，图\"]{0,12}"
    r"(?:[過过超太][长長]|[過过]大|超[出过過限])"
    # A text of ten million characters has this code, but so has a long name of a tool
    r"|\A(?![\s\S]*(?:\b(?:tools|functions|metadata|prompt_cache_key)\b|\.(?:name|id)\b|'(?:user|stop)'))"
    r"[\s\S]*string_above_max_length"
)
_OTHER_LIMIT = (
    r"rate[ _-]?limit|\bper[ _-]?(?:min|sec|hour|day|month)|\b[TR]P[MD]\b|\bQPS\b|quota|\b(?:daily|monthly)\b"
    r"|\b(?:image|file|pdf|audio|video|attachment)s? (?:size|dimension|exceed|is |are |too )|\bpixels\b"
    r"|每[分秒天日]|频[率次]|并发|速率|限流|限额|配额|额度"
)
_OUT_OF_CREDIT = (
    r"insufficient[ _](?:quota|balance|funds|credits?)|exceeded your current quota|credit balance is too low"
    r"|billing[ _](?:hard[ _]limit|not[ _]active)|payment required"
    r"|account[^.]{0,20}(?:suspended|in arrears|deactivated)"
    r"|quota[^.]{0,30}(?:exhausted|used up)|余额不足|欠费|额度(?:不足|已用完)"
)
_BAD_KEY = (
    r"invalid[ _](?:api[ _-]?)?key|incorrect api key|api[ _-]?key[^.]{0,20}(?:invalid|not valid|expired|missing)"
    r"|authentication[ _](?:error|fail)|unauthori[sz]ed|permission[ _](?:denied|error)|invalid[ _]auth"
)
_BAD_REQUEST = r"invalid[ _]request|bad[ _]request|not[ _]found|unprocessable|invalid[ _](?:param|argument|value)"


def failure_of_status(
    status: int, headers: Mapping[str, str], body: str, *, model: str = "", base_url: str = ""
) -> ModelFailure:
    """Return the failure that an answer with a status of 300 or more stands for, with the server's own words."""
    words, name = words_of(body), _name(status)
    said = f": {words}" if words else ""
    if status == 413 or (status not in (401, 403, 429) and _is_too_long(body, sure=status not in (400, 422, 500))):
        return ContextOverflow(f"The request is too long for the model's context ({name}){said}", status=status)
    if status == 401:
        text = f"The API key was refused ({name}){said}{_stop(said)} Check the key for {base_url}"
        return KeyRefused(text, status=status)
    if status == 403:
        text = f"Access was refused ({name}){said}{_stop(said)} Check that the API key may use {model!r} at {base_url}"
        return KeyRefused(text, status=status)
    if status in (408, 409, 425, 429) or status >= 500:
        if _finds(_OUT_OF_CREDIT, body):
            return ProviderFailed(f"The account is out of credit or quota ({name}){said}", status=status)
        text = f"The provider answered {name}{said}"
        return ProviderFailed(text, status=status, retryable=True, retry_after_s=retry_after(headers))
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
    if _is_too_long(body):
        return ContextOverflow(f"The request is too long for the model's context: {words}")
    if _finds(_BAD_KEY, body):
        return KeyRefused(f"The API key was refused: {words}")
    if _finds(_OUT_OF_CREDIT, body):
        return ProviderFailed(f"The account is out of credit or quota: {words}")
    if _finds(_BAD_REQUEST, body):
        return RequestRefused(f"The provider refused the request: {words}")
    return ProviderFailed(f"The provider reported an error while it answered: {words}", retryable=True)


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


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the server asked to wait, given as such or as a date by the server's own clock.

    None where it gave no hint, or an odd one.
    """
    text = headers.get("retry-after", "").strip()
    try:
        seconds = float(text)
    except ValueError:
        end, start = _timestamp(text), _timestamp(headers.get("date", ""))
        if end is None:
            return None
        seconds = end - (time.time() if start is None else start)
    return max(0.0, seconds) if abs(seconds) < LONGEST_HINT_S else None


def _is_too_long(body: str, *, sure: bool = False) -> bool:
    """Whether the words are about the length of the request; `sure`: about the model's context, and no other limit."""
    return _finds(_CONTEXT if sure else _TOO_LONG, body) and not _finds(_OTHER_LIMIT, body)


def _finds(pattern: str, body: str) -> bool:
    """Whether it stands in the error: in its words, or in its codes and types, which may say more."""
    return re.search(pattern, f"{words_of(body)} {body[:20_000]}", re.IGNORECASE) is not None


def _status_in(error: Any) -> int | None:
    found = [str(error.get(name)).strip() for name in ("code", "status")] if isinstance(error, dict) else []
    return next((int(text) for text in found if re.fullmatch("[45][0-9][0-9]", text)), None)


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
        for name in ("error", "message", "msg", "detail", "metadata", "raw"):
            yield from _messages(value.get(name), depth + 1)


def _name(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:  # one of the gateways' own
        return str(status)


def _stop(said: str) -> str:
    return "" if said.endswith((".", "!", "?", "。")) else "."


def _timestamp(text: str) -> float | None:
    from email.utils import parsedate_to_datetime  # 10 ms to import, for the rare case

    try:
        found = parsedate_to_datetime(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError, TypeError, IndexError):  # it is a stranger's, and the parser checks little
        return None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error and what it was raised from."""
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for inner in error.exceptions:
                yield from _chain(inner)
        error = error.__cause__ or error.__context__
