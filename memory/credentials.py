"""Private keys and API keys in a text: known shapes, and random values that the text itself calls a key."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache

__all__ = ["KEY_NAME", "SHORTEST_KEY", "credential_kind", "hide_credentials", "known_keys"]

KEY_NAME = re.compile(r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(?:$|_)", re.IGNORECASE)
SHORTEST_KEY = 8  # a shorter value would be found in ordinary words
NO_KEY = re.compile(
    r"lm-studio|(?:sk-)?no-key-required|not-needed|postgres|password|changeme|[~/.](?:[\w.-]{0,24}/)+[\w.-]{1,40}"
)
# What stands in place of a key where none is needed, the usual passwords of tests, and paths
WORDS = re.compile(r"[a-z]{1,12}(?:[-_ ][a-z]{1,12})*")

SHAPES = {
    "an Anthropic API key": r"sk-ant-[a-z]{3,6}\d\d-[\w-]{16,}",
    "an API key": r"sk-[\w-]{20,}",
    "a GitHub token": r"gh[opsur]_\w{30,}|github_pat_\w{22,}",
    "a GitLab token": r"gl(?:pat|dt|rt|soat|cbt|ptt|ft)-[\w-]{20,}",
    "a Slack token": r"xox[a-z](?:\.xox[a-z])?-[\w-]{16,}|xapp-\d-[\w-]{16,}",
    "an AWS key id": r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    "a Google key": r"AIza[\w-]{30,}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,}",
    "a Stripe key": r"[sr]k_(?:live|test)_\w{16,}|whsec_[\w+/]{20,}",
    "a Hugging Face token": r"hf_[A-Za-z0-9]{30,}",
    "a package registry token": r"npm_[A-Za-z0-9]{30,}|pypi-[\w-]{40,}|dckr_pat_[\w-]{20,}",
    "a SendGrid key": r"SG\.[\w-]{16,64}\.[\w-]{16,}",
    "a Twilio key": r"SK[0-9a-f]{32}(?![0-9A-Za-z])",
    "a bot token": r"\d{8,10}:AA[\w-]{32,}|[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}",
    "a cloud key": (
        r"LTAI[A-Za-z0-9]{12,30}(?![A-Za-z0-9])|AK(?:ID|LT)[A-Za-z0-9]{20,}|dapi[0-9a-f]{32}|do[opr]_v1_[0-9a-f]{40,}|"
        r"hv[sb]\.[\w-]{24,}|bce-v3/[\w/-]{24,}|nvapi-[\w-]{24,}|sbp_[0-9a-f]{24,}|shp(?:at|ss|ca|pa)_[0-9a-fA-F]{24,}"
    ),
    "a service key": (
        r"(?:gsk|r8|lin_api|ntn|secret|figd|jina|lsv2_pt|e2b|phc|phx|sntrys)_\w{24,}|(?:xai|pplx|csk|tvly)-[\w-]{24,}|"
        r"[0-9a-f]{32}\.[A-Za-z0-9]{16}(?![A-Za-z0-9])"
    ),
    "a signed token": r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}",
}
KINDS = list(SHAPES)
NAMED_SHAPES = "|".join(f"(?P<k{at}>{shape})" for at, shape in enumerate(SHAPES.values()))
KNOWN = f"(?<![A-Za-z0-9])(?:{NAMED_SHAPES})"  # desk-... is no sk-...
IN_JSON = rf"(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt])|(?<=\\u[0-9a-f]{{4}}))(?:{NAMED_SHAPES})"  # behind an escape, too
LONG_RUN = r"[A-Za-z0-9_+/=.~-]{16}"  # no key is shorter, and most texts hold none
LOOSE_SHAPES = {"an API key", "a service key", "a bot token"}  # names of things look like these, too

HEADER = r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
PRIVATE_KEY = (
    rf"{HEADER}(?:\s|\\[nr]|>|[A-Za-z-]{{1,20}}: [^\n]{{0,80}}\n){{0,20}}[A-Za-z0-9+/=]{{8}}"
    rf"|(?:^|\n)[ \t>]*{HEADER}[ \t]*(?:\n|$)"
    r"|PuTTY-User-Key-File-\d:|AGE-SECRET-KEY-1[A-Z0-9]{20}"
)
NAMED = (
    r"(?:api|access|auth|secret|private|refresh|session)[ _-]?(?:access[ _-]?|api[ _-]?)?(?:key|token)"
    r"|client[ _-]?secret|bearer|[A-Z0-9]_(?:KEY|TOKEN|SECRET)\b|(?:密|秘|金)[钥鑰匙]|令牌"
)
GIVEN = (
    r"(?:[\"'`]?[ \t]*(?:is|was|=|:|：|是|为|為|，|就是)[ \t]*(?:bearer )?|(?<=[Bb]earer)[ \t]+)[\"'`“「<]*"
    r"([A-Za-z0-9_+/=.~-]{16,512})"
)


def known_keys(environment: Mapping[str, str]) -> list[str]:
    """Return the values of the variables that are named like keys, save those that are short, or none after all."""
    values = [environment[name] for name in environment if _names_a_key(name)]
    return [value for value in values if len(value) >= SHORTEST_KEY and not NO_KEY.fullmatch(value)]


def credential_kind(text: str, known: Collection[str] = ()) -> str | None:
    """Return what the text holds, as "a GitHub token"; None where it holds no private key and no API key.

    `known` are keys whatever their shape, save plain words. Digests, commit and trace ids, names of environment
    variables, public keys, placeholders and talk of keys pass.
    """
    if any(key in text and not WORDS.fullmatch(key) for key in known):
        return "a key of the environment"
    if ("KEY" in text or "-Key-" in text) and re.search(PRIVATE_KEY, text):
        return "a private key"
    if not re.search(LONG_RUN, text):
        return None
    for found in re.finditer(KNOWN, text, re.ASCII):
        if _is_key(found):
            return _kind(found)
    seen = 0
    for name in re.finditer(NAMED, text, re.IGNORECASE):
        value = re.compile(GIVEN).match(text, name.end()) if name.start() >= seen else None
        if value and _looks_random(value[1], strictly=True):
            return "a secret value"
        seen = value.end() if value else seen
    return None


def hide_credentials(text: str, mark: str) -> str:
    """Put `mark` in place of every API key of a known shape; the text may be JSON."""
    if not re.search(LONG_RUN, text):
        return text
    loose = LOOSE_SHAPES - {"an API key"}  # rather one name hidden than one key shown
    return re.sub(IN_JSON, lambda found: mark if _is_key(found, loose) else found[0], text, flags=re.ASCII)


@lru_cache(maxsize=1_000)
def _names_a_key(name: str) -> bool:
    return bool(KEY_NAME.search(name))


def _kind(found: re.Match[str]) -> str:
    return KINDS[int((found.lastgroup or "k1")[1:])]


def _is_key(found: re.Match[str], loose: Collection[str] = LOOSE_SHAPES) -> bool:
    return _looks_random(found[0], strictly=_kind(found) in loose)


def _looks_random(value: str, *, strictly: bool) -> bool:
    """Tell a key from a placeholder; `strictly`: and from words that are joined by hyphens."""
    value = value[:512]
    if len(set(value)) < 8 or not strictly:
        return len(set(value)) >= 8
    if sum(map(str.isalpha, value)) < 4 or not any(map(str.isdigit, value)):
        return False
    turns = 0
    for part in re.split(r"[^A-Za-z0-9]+", value):
        kinds = re.sub("[a-z]+", "a", re.sub("[A-Z]+", "A", re.sub("[0-9]+", "0", part)))
        turns += max(0, len(kinds) - 1)
        if len(part) >= 16 and "0" in kinds and len(kinds) > 1:
            return True
    return turns >= 5
