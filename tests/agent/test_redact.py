"""Keys stay out of what a person or a file gets to see."""

from __future__ import annotations

import pytest

from agent.redact import MARK, hide_key

KEY = "test-key-9f31"


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        (f"Incorrect API key provided: {KEY}.", f"Incorrect API key provided: {MARK}"),
        ("key starts with test-key-9f", f"key starts with {MARK}"),
        ("key test-k***9f31 is odd", f"key {MARK} is odd"),
        ("key ****9f31", f"key {MARK}"),
        ("sk-proj-abcdefghijklmnopqrstuvwxyz012345", MARK),
        (r'"one\nsk-proj-abcdefghijklmnopqrstuvwxyz012345\n"', rf'"one\n{MARK}\n'),
        (r'"\u662fsk-proj-abcdefghijklmnopqrstuvwxyz012345"', rf'"\u662f{MARK}'),
        ("glpat-Zx8sQ2vN7tLw4bKd9fGh", MARK),
        ("*** nothing to hide ***", "*** nothing to hide ***"),
        ("the test-key of the door", "the test-key of the door"),
    ],
)
def test_a_key_is_hidden_in_every_form_it_is_echoed(text: str, hidden: str) -> None:
    shown = hide_key(text, KEY)

    assert shown.rstrip('".') == hidden.rstrip('".')
    assert KEY not in shown


def test_a_short_key_is_hidden_as_a_word_of_its_own() -> None:
    assert hide_key("key abc, not abcd", "abc") == f"key {MARK}, not abcd"


def test_without_a_key_a_text_stays() -> None:
    assert hide_key("model 'm' not found", "") == "model 'm' not found"
