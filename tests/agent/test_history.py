from __future__ import annotations

from agent.history import typed_part
from prompts import render


def test_what_recall_put_before_a_message_is_not_what_was_typed() -> None:
    recalled = render("recalled", provider="archive", text="- a fact\n\nof two lines")

    assert typed_part({"role": "user", "content": f"{recalled}\n\nMy question?"}) == "My question?"


def test_a_message_without_recall_is_all_typed() -> None:
    assert typed_part({"role": "user", "content": "What is <RECALLED>?"}) == "What is <RECALLED>?"
