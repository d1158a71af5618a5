"""What the guard says about text that is no order, no secret and hides nothing."""

from __future__ import annotations

import pytest

from memory.guard import reason_to_refuse, shown


def test_nul_and_lone_surrogates_are_refused() -> None:
    assert "NUL" in (reason_to_refuse("a\x00b") or "")
    assert "surrogate" in (reason_to_refuse("a\ud83d") or "")


@pytest.mark.parametrize("text", ["", "plain", "多行\n文字", "tab\tand\ffeed", "{x} %s \\1 $HOME", "😀"])
def test_plain_text_passes(text: str) -> None:
    assert reason_to_refuse(text) is None
    assert shown(text) == text


@pytest.mark.parametrize("text", ["§", " § \t", "a\n§\nb", "a\n\u3000§", "§\n"])
def test_a_line_with_only_the_sign_divides(text: str) -> None:
    assert "a line with only §" in (reason_to_refuse(text) or "")


@pytest.mark.parametrize("text", ["§ 5", "see §", "a\n§§\nb", "a\r§\rb", "a\u2028§\u2028b", ""])
def test_a_sign_in_a_line_does_not_divide(text: str) -> None:
    assert reason_to_refuse(text) is None
