"""The words of providers for a request that is longer than the model's context, and the figures among them."""

from __future__ import annotations

import re

__all__ = ["figures_in", "is_too_long"]

SMALLEST_WINDOW, LARGEST_WINDOW = 500, 20_000_000  # tokens: other figures are codes, counts or characters

_CONTEXT = r"context[ _-]?(?:length|window|size|limit|shift|overflow)|\bn_ctx\b|max context|上下文[^。]{0,12}[长長超限]"
_INPUT = (
    r"(?:input|prompt(?!_cache)|(?<!output )(?<!completion )(?<!new )(?<!max )\btokens?\b|(?:sequence|message) length)"
)
_GAP = r"[^.。\"]{0,80}"
_TOO_LONG = (
    rf"{_CONTEXT}"
    # "Input length 5000 exceeds the maximum allowed 4096", "prompt tokens (9) exceeded the maximum of 8"
    rf"|{_INPUT}{_GAP}(?:exceed|(?:long|larg|great)er than|more than|over the){_GAP}(?:max|limit|allow|\d{{3}})"
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
    r"|\bcall_id\b|\btool_call_id\b|\bbudget[ _]tokens|每[分秒天日]|频[率次]|并发|速率|限流|限额|配额|额度"
)
_WINDOW = r"max(?:imum)? context (?:length|window|size) (?:is|of) \d{3}"  # whatever else is said
_FIGURE = r"(?<![\w.,-])(\d[\d,]*)(?!\d|[\w-]|[.,]\d)"
_OTHER_UNIT = r"\bbytes?\b|\bchar(?:acter)?s?\b|\bstring\b|[KMG]i?B\b|字符|limit \(2013\)"  # the last is MiniMax's code
_OVER = rf"{_FIGURE}(?: tokens)?(?: \+ \d+)? > {_FIGURE}"
# "210000 tokens > 200000 maximum", "190000 + 20000 > 200000"
_LIMIT = (
    r"(?:\bmax(?:imum)?(?!_(?:\w+_)?tokens| (?:completion|output))|\blimit\b|\bn_ctx\b|context (?:size|length|window)"
    rf"|cannot exceed|(?:less|fewer) than|<=|上限|最大)[^\d.\n]{{0,60}}{_FIGURE}"
    rf"|\[\d+, ?{_FIGURE}\]|{_FIGURE}(?: tokens?)? max"
)
_SENT = (
    rf"{_FIGURE}(?: tokens?)? (?:in|from) (?:the |your )?(?:\w+ )?(?:messages|prompt|input)"
    rf"|{_FIGURE} (?:input|prompt) tokens"
)


def is_too_long(text: str, *, sure: bool = False) -> bool:
    """Whether an error is about the length of the request; `sure`: about the model's context, and no other limit."""
    found = _finds(_CONTEXT if sure else _TOO_LONG, text) and not _finds(_OTHER_LIMIT, text)
    return found or _finds(_WINDOW, text)


def figures_in(words: str) -> tuple[int | None, int | None]:
    """Return the tokens that the model takes and those that were sent, each as far as the server named it."""
    if _finds(_OTHER_UNIT, words):
        return None, None
    over = _figures(_OVER, words)
    limit = next(iter(over[-1:] or _figures(_LIMIT, words)), None)
    if limit is None:
        return None, None
    larger = [figure for figure in _figures(_FIGURE, words) if figure > limit]
    return limit, next(iter(_figures(_SENT, words) or over[:-1] or larger), None)


def _figures(pattern: str, words: str) -> list[int]:
    """The sane figures that a pattern finds, in their order."""
    texts = (text for match in re.finditer(pattern, words, re.IGNORECASE) for text in match.groups() if text)
    figures = (int(text.replace(",", "")) for text in texts if len(text) < 12)
    return [figure for figure in figures if SMALLEST_WINDOW <= figure <= LARGEST_WINDOW]


def _finds(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None
