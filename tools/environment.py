"""`child_environment`: what a command gets to see of our environment: all but keys."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

__all__ = ["child_environment", "keys_in"]

SECRET_NAME = re.compile(
    r"KEY(?!BOARD|MAP)|TOKEN(?!IZ)|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASSCODE|CREDENTIAL|COOKIE|PRIVATE|(^|_)(PASS|PWD|PAT|AUTH|JWT|DSN)(_|$)",
    re.IGNORECASE,
)
HARMLESS_NAME = re.compile(r"PWD|OLDPWD|SSH_AUTH_SOCK")  # the working folder; a socket git needs, which gives no key

SECRET_VALUE = re.compile(
    r"\b(sk|pk|rk)-[\w-]{8,}|\bgh[pousr]_\w{16,}|\bgithub_pat_\w+|\bglpat-[\w-]{16,}|\bxox[a-z]-[\w-]{8,}|\bAKIA[0-9A-Z]{12,}"
    r"|\bAIza[\w-]{30,}|\bhf_\w{16,}|\beyJ[\w-]{16,}\.[\w-]{8,}|-----BEGIN [A-Z ]*PRIVATE|://[^/\s:@]*:[^/\s@]+@"
)
# How the keys of well-known services begin, and a password inside a URL.

SHORTEST_KEY = 8

QUIET = {"PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0", "TERM": "dumb"}
# There is no terminal: nothing may page, ask or draw.


def child_environment(environment: Mapping[str, str], allowed: Collection[str] = ()) -> dict[str, str]:
    """Return the variables without those whose name or value looks like a key, save the names that are `allowed`."""
    kept = {name: value for name, value in environment.items() if name in allowed or not _is_secret(name, value)}
    return kept | QUIET


def keys_in(environment: Mapping[str, str]) -> list[str]:
    """Return the values that `child_environment` leaves out and that are long enough to be told from ordinary words."""
    return [value for name, value in environment.items() if len(value) >= SHORTEST_KEY and _is_secret(name, value)]


def _is_secret(name: str, value: str) -> bool:
    if HARMLESS_NAME.fullmatch(name):
        return False
    return bool(SECRET_NAME.search(name) or SECRET_VALUE.search(value))
