"""`child_environment`: what a command gets to see of our environment: all but keys."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

__all__ = ["child_environment"]

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

TELLING_CHARS = 8  # a secret shorter than this is looked for under its own name only

QUIET = {"PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0", "TERM": "dumb"}
# There is no terminal: nothing may page, ask or draw.


def child_environment(environment: Mapping[str, str], allowed: Collection[str] = ()) -> dict[str, str]:
    """Return the variables without those whose name or value looks like a key, or that repeat the value of one.

    allowed: names that are kept whatever they hold.
    """
    secret = {name for name, value in environment.items() if _is_secret(name, value)}
    values = {environment[name] for name in secret if _is_telling(environment[name])}
    return {
        **{
            name: value
            for name, value in environment.items()
            if name in allowed or (name not in secret and not any(hidden in value for hidden in values))
        },
        **QUIET,
    }


def _is_secret(name: str, value: str) -> bool:
    if HARMLESS_NAME.fullmatch(name):
        return False
    return bool(SECRET_NAME.search(name) or SECRET_VALUE.search(value))


def _is_telling(value: str) -> bool:
    """Long and mixed: a plain word or a path under a secret-sounding name must not take others with it."""
    mixed = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return len(value) >= TELLING_CHARS and mixed and "/" not in value
