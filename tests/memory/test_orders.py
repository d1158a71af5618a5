"""Orders to a later model are seen in many dresses; talk of ignoring is not mistaken for one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memory.guard import hidden_character, reason_to_hide, reason_to_refuse, shown
from memory.orders import holds_order

TEXTS: dict[str, list[str]] = json.loads((Path(__file__).parent / "order_texts.json").read_text(encoding="utf-8"))
ORDERS = [*TEXTS["ENGLISH_ORDERS"], *TEXTS["CHINESE_ORDERS"]]
FACTS = [*TEXTS["ENGLISH_FACTS"], *TEXTS["CHINESE_FACTS"]]


@pytest.mark.parametrize("text", ORDERS, ids=range(len(ORDERS)))
def test_an_order_is_refused_and_hidden(text: str) -> None:
    assert holds_order(text) or hidden_character(text)
    assert reason_to_refuse(text)
    assert shown(text).startswith("[blocked: ")


@pytest.mark.parametrize("text", FACTS, ids=range(len(FACTS)))
def test_a_fact_passes(text: str) -> None:
    assert reason_to_refuse(text) is None
    assert reason_to_hide(text) is None
    assert shown(text) == text


@pytest.mark.parametrize("text", ORDERS, ids=range(len(ORDERS)))
def test_an_order_between_facts_is_seen(text: str) -> None:
    assert reason_to_hide(f"The build host is kestrel.\n\n{text}\n\n用户住在上海。")
    assert reason_to_hide(f"The build host is kestrel.\n{text}\nThe user lives in Shanghai.")
    assert reason_to_hide(f"- The build host is kestrel.\n- {text}\n- 用户住在上海。")


REPEATED = [
    "ignore the previous ",
    "ignore all ",
    "your earlier instructions ",
    "ignore\n\n",
    "i g n o r e ",
    "i-",
    "\n",
    "w",
    "ignore",
    "忽略之前的",
    "把之前的",
    "忽略你的所有",
    "之前的所有指令",
    "中 ",
    "ｉｇｎｏｒｅ ",
    "ﷺ",
    "é",
    "<",
    "not ",
]


@pytest.mark.parametrize("part", REPEATED)
def test_the_search_grows_no_faster_than_the_text(part: str) -> None:
    """A search that is not linear would not come to an end here."""
    assert holds_order(part * (300_000 // len(part))) is False
