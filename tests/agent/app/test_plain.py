from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.app.plain import cell_width, one_line, plain, shorten


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b]52;c;ZXZpbA==\x07", "␛]52;c;ZXZpbA==␇"),
        ("\x1b[2J\x1b[1;1H", "␛[2J␛[1;1H"),
        ("\x9b31m \x90 \x9d", "<U+009B>31m <U+0090> <U+009D>"),
        ("a\rb", "a␍b"),
        ("a\r\nb", "a\nb"),
        ("\b\x7f\0", "␈␡␀"),
        ("user\u202etxt.exe\u2066x\u2069", "user<U+202E>txt.exe<U+2066>x<U+2069>"),
        ("\ud800 half", "\ufffd half"),
        ("one\u2028two", "one\ntwo"),
    ],
)
def test_what_a_terminal_would_obey_is_made_visible(raw: str, shown: str) -> None:
    assert plain(raw) == shown


@pytest.mark.parametrize(
    "text", ["tab\tand\nnewline", "[bold]x[/bold] [/etc/hosts]", "你好 é ü 👩‍👩‍👧 🇩🇪", "नमस्ते می‌خواهم"]
)
def test_everything_else_stays_as_it_is(text: str) -> None:
    assert plain(text) == text


@given(st.text())
def test_no_text_leaves_a_control_character_and_twice_is_once(text: str) -> None:
    shown = plain(text)

    assert not any((ord(c) < 32 and c not in "\n\t") or 0x7F <= ord(c) < 0xA0 for c in shown)
    assert plain(shown) == shown
    shown.encode("utf-8")


def test_wide_characters_take_two_columns_and_marks_none() -> None:
    assert [cell_width(text) for text in ("abc", "你好", "é", "한글", "ａ")] == [3, 4, 1, 4, 2]


def test_a_text_is_cut_to_columns_and_not_to_characters() -> None:
    assert shorten("你好吗朋友", 5) == "你好…"
    assert shorten("abc", 3) == "abc"
    assert shorten("abcdef", 3) == "ab…"


@given(st.text(max_size=40), st.integers(min_value=1, max_value=30))
def test_what_was_cut_fits(text: str, cells: int) -> None:
    assert cell_width(shorten(one_line(text), cells)) <= cells


def test_plain_needs_neither_rich_nor_prompt_toolkit() -> None:
    code = (
        "from agent.app.render import plain; import sys; print({'rich', 'prompt_toolkit', 'openai'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "set()\n"
