"""`child_environment`: everything but keys."""

from __future__ import annotations

import pytest

from tools.environment import child_environment


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OPENAI_API_KEY", "sk-live-7731"),
        ("DEEPSEEK_API_KEY", "ds-7732"),
        ("GH_TOKEN", "gh-7733"),
        ("AWS_SECRET_ACCESS_KEY", "aws-7734"),
        ("db_password", "x"),
        ("PGPASSWORD", "x"),
        ("MYSQL_PWD", "x"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/home/me/key.json"),
        ("SENTRY_DSN", "x"),
        ("GITHUB_PAT", "x"),
        ("DATABASE_URL", "postgres://me:word@host/db"),
        ("PLAIN", "sk-proj-abcdefgh12345678"),
        ("PLAIN", "ghp_abcdefghijklmnop1234"),
        ("PLAIN", "AKIAABCDEFGHIJKLMNOP"),
        ("PLAIN", "-----BEGIN RSA PRIVATE KEY-----\n..."),
    ],
)
def test_what_looks_like_a_key_is_dropped(name: str, value: str) -> None:
    assert name not in child_environment({name: value})
    assert child_environment({name: value}, [name])[name] == value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PATH", "/usr/bin"),
        ("HOME", "/root"),
        ("PWD", "/srv/app"),
        ("OLDPWD", "/"),
        ("SSH_AUTH_SOCK", "/tmp/agent"),
        ("KEYBOARD_LAYOUT", "de"),
        ("TOKENIZERS_PARALLELISM", "false"),
        ("GIT_AUTHOR_NAME", "Li"),
        ("PATHEXT", ".EXE"),
        ("COMPASS", "north"),
        ("SERVICE_URL", "http://host:80/x@y"),
        ("VIRTUAL_ENV", "/srv/app/.venv"),
    ],
)
def test_other_variables_stay(name: str, value: str) -> None:
    assert child_environment({name: value})[name] == value


def test_nothing_pages_or_asks() -> None:
    assert child_environment({"PAGER": "less", "TERM": "xterm"})["PAGER"] == "cat"
