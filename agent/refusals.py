"""`failure_of_status`, `failure_of_event`: what a provider said in refusal, as the failure it is.

The words for "too long" and "out of credit" differ by provider; the tables here hold them all. They are searched for
after a failure only, so they are compiled then.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Iterator, Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

from agent.failures import ContextOverflow, KeyRefused, ModelFailure, ProviderFailed, RequestRefused

__all__ = ["failure_of_event", "failure_of_status", "retry_after", "words_of"]

WORDS_LIMIT = 600  # characters of the server's own words in a message

_TOO_LONG = (
    r"context[ _-]?(?:length|window|size|limit)|(?:prompt|input)[^.]{0,40}too[ _]long|too many (?:input )?tokens"
    r"|maximum (?:context|prompt|input) length|max(?:imum)?[ _](?:model|input|prompt|context)[ _](?:len|tokens|length)"
    r"|exceed[a-z]*[^.]{0,60}(?:maximum (?:number of|allowed)[^.]{0,20}tokens|token limit|tokens? allowed"
    r"|input token|max[ _]tokens? limit)"
    r"|token (?:count|limit)[^.]{0,40}exceed|range of input length|reduce the length|reduce your prompt"
    r"|larger than the context|tokens to keep from the initial prompt|inputs?`? tokens \+"
    r"|must (?:have|be) less than (?:max_seq_len|\d+ tokens)"
    r"|request too large|string_above_max_length|payload too large|too large for model"
    r"|上下文[^。]{0,12}(?:长|超|限)|(?:输入|提示|prompt|tokens?)[^。]{0,12}(?:过长|超长|超出|超过)"
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
_UNIT = r"(\d+(?:\.\d+)?) ?(milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|h)(?![a-z])"
_WAIT = rf"(?:try again|retry|wait)[^.\d]{{0,20}}((?:{_UNIT} ?)+)|retryDelay\W+(\d+(?:\.\d+)?s)"
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def failure_of_status(
    status: int, headers: Mapping[str, str], body: str, *, model: str = "", base_url: str = ""
) -> ModelFailure:
    """Return the failure that an answer with a status of 300 or more stands for, with the server's own words."""
    words, name = words_of(body), _name(status)
    said = f": {words}" if words else ""
    signs = f"{words} {_kinds(body)}"
    if _is_too_long(status, signs):
        return ContextOverflow(f"The request is too long for the model's context ({name}){said}", status=status)
    if status == 401:
        text = f"The API key was refused ({name}){said}{_stop(said)} Check the key for {base_url}"
        return KeyRefused(text, status=status)
    if status == 403:
        text = f"Access was refused ({name}){said}{_stop(said)} Check that the API key may use {model!r} at {base_url}"
        return KeyRefused(text, status=status)
    if status in (408, 409, 425, 429) or status >= 500:
        if re.search(_OUT_OF_CREDIT, signs, re.IGNORECASE):
            return ProviderFailed(f"The account is out of credit or quota ({name}){said}", status=status)
        wait_s = retry_after(headers, body)
        return ProviderFailed(
            f"The provider answered {name}{said}", status=status, retryable=True, retry_after_s=wait_s
        )
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
    words, kinds = words_of(body), _kinds(body)
    signs = f"{words} {kinds}"
    if re.search(_TOO_LONG, signs, re.IGNORECASE):
        return ContextOverflow(f"The request is too long for the model's context: {words}")
    if re.search(_BAD_KEY, signs, re.IGNORECASE):
        return KeyRefused(f"The API key was refused: {words}")
    if re.search(_OUT_OF_CREDIT, signs, re.IGNORECASE):
        return ProviderFailed(f"The account is out of credit or quota: {words}")
    if re.search(_BAD_REQUEST, kinds, re.IGNORECASE):
        return RequestRefused(f"The provider refused the request: {words}")
    text = f"The provider reported an error while it answered: {words}"
    return ProviderFailed(text, retryable=True, retry_after_s=retry_after({}, body))


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


def retry_after(headers: Mapping[str, str], body: str = "") -> float | None:
    """Return the seconds that the server asked to wait: by its headers, else by what its error says."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after", "").strip()
    if text:
        seconds = _number(text)
        return seconds if seconds is not None else _until(text, headers.get("date", ""))
    return _asked_wait(body)


def _kinds(body: str) -> str:
    """The codes and types of an error, which may say more than its words."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    holders = (value, value.get("error")) if isinstance(value, dict) else ()
    names = ("code", "type", "status", "reason")
    return " ".join(
        str(holder[name]) for holder in holders if isinstance(holder, dict) for name in names if name in holder
    )


def _is_too_long(status: int, signs: str) -> bool:
    if status in (401, 402, 403, 408, 409, 429) or status > 500:
        return False
    return status == 413 or (status >= 400 and bool(re.search(_TOO_LONG, signs, re.IGNORECASE)))


def _status_in(error: Any) -> int | None:
    if not isinstance(error, dict):
        return None
    for name in ("code", "status", "status_code", "http_status"):
        found = error.get(name)
        if isinstance(found, str) and found.isdecimal():
            found = int(found)
        if isinstance(found, int) and 400 <= found <= 599:
            return found
    return None


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
        for name in ("error", "errors", "message", "msg", "detail", "error_message", "error_msg"):
            yield from _messages(value.get(name), depth + 1)
        raw = value.get("metadata")
        if isinstance(raw, dict):
            yield from _messages(raw.get("raw"), depth + 1)


def _name(status: int) -> str:
    known = {529: "Overloaded", 520: "Unknown Error", 522: "Connection Timed Out", 524: "A Timeout Occurred"}
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"{status} {known[status]}" if status in known else str(status)


def _stop(said: str) -> str:
    return "" if said.endswith((".", "!", "?", "。")) else "."


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None


def _until(text: str, now: str) -> float | None:
    """Seconds until an HTTP date, by the server's own clock where it tells it."""
    end, start = _timestamp(text), _timestamp(now)
    return None if end is None else max(0.0, end - (time.time() if start is None else start))


def _timestamp(text: str) -> float | None:
    try:
        found = parsedate_to_datetime(text)
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def _asked_wait(body: str) -> float | None:
    match = re.search(_WAIT, body, re.IGNORECASE)
    if match is None:
        return None
    total = 0.0
    for number, unit in re.findall(_UNIT, match[1] or match[4], re.IGNORECASE):
        word = unit.lower()
        total += float(number) * (0.001 if word.startswith(("ms", "mil")) else _SECONDS[word[0]])
    return total
