from __future__ import annotations

import random
import re
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent.app.markdown import MarkdownStream
from agent.app.plain import cell_width

SAMPLE = """\
# Title with `code`

A **bold statement** with *italics*, `code`, __init__, 2*3*4 and \\*stars\\*; long enough to be wrapped somewhere.

这是一个很长的中文段落，包含**重点内容**和`代码`，需要在终端里正确换行（标点不放在行首），还有English words混排。

- first item that is rather long and needs to be wrapped
  - nested item
- [ ] todo [link](http://x.y) and app/[id].tsx
1. one
2. two **unclosed

> quoted text that goes on until it wraps, which it must

| Name | 值 | Right |
|:-----|:-:|------:|
| `a|b` | 你好 | 1 |

```python
def f(x):
    return x * 2  # `not` **styled**
```

---

    indented code __x__ *y*
last line"""

Cell = tuple[str, str]


def cells(text: str) -> list[Cell]:
    """The characters on the screen, each with its style; blanks have none that could be seen."""
    found: list[Cell] = []
    style = ""
    for match in re.finditer(r"\x1b\[([\d;]*)m|(.|\n)", text):
        if match[2] is None:
            style = "" if match[1] == "0" else match[1]
        else:
            found.append((match[2], "" if match[2] == " " else style))
    return found


def text_of(shown: str) -> str:
    return "".join(char for char, _ in cells(shown))


def render(source: str, *, width: int = 40, pieces: random.Random | None = None) -> str:
    stream = MarkdownStream(lambda: width)
    written, place = "", 0
    while place < len(source):
        size = len(source) if pieces is None else pieces.randint(1, 9)
        written += stream.feed(source[place : place + size])
        place += size
    return written + stream.finish()


@pytest.mark.parametrize("seed", range(20))
def test_the_screen_is_the_same_however_the_answer_was_cut(seed: int) -> None:
    assert cells(render(SAMPLE, pieces=random.Random(seed))) == cells(render(SAMPLE))


@example("111\\\\1", 1)
@settings(max_examples=200)
@given(st.text(alphabet="ab *`#|-\n>1.~\\你，_", max_size=60), st.integers(0, 5))
def test_no_source_is_lost_by_being_cut(source: str, seed: int) -> None:
    assert cells(render(source, pieces=random.Random(seed))) == cells(render(source))


@settings(max_examples=200)
@given(st.text(alphabet="ab c`*你好，x\n#>-", max_size=80))
def test_letters_are_never_lost(source: str) -> None:
    kept = [char for char in text_of(render(source)) if char.isalpha()]

    assert kept == [char for char in source if char.isalpha()]


def test_marks_become_styles() -> None:
    assert (
        render("**b** *i* `c` ***bi***")
        == "\x1b[1mb\x1b[0m \x1b[3mi\x1b[0m \x1b[36mc\x1b[0m \x1b[1;3mbi\x1b[0m\n"[:-1] + "\n"
    )


@pytest.mark.parametrize(
    "source",
    ["2*3*4", "a * b * c", "**open", "`open", "__init__", "snake_case_name", "[/etc/hosts] app/[id].tsx", "5 ** 2"],
)
def test_what_is_no_accent_stays_as_it_was_written(source: str) -> None:
    assert render(source) == source + "\n"


def test_chinese_accents_need_no_blanks() -> None:
    assert ("重", "1") in cells(render("这是**重点**内容"))


def test_headings_lose_their_marks() -> None:
    assert text_of(render("# Top\n\n### Lower ###\n#no heading")) == "Top\n\nLower\n#no heading\n"


def test_prose_is_broken_between_words_and_hangs_below_its_bullet() -> None:
    assert text_of(render("- alpha beta gamma delta", width=14)) == " • alpha beta\n   gamma delta\n"


def test_chinese_breaks_anywhere_but_before_a_closing_mark() -> None:
    shown = text_of(render("一二三四五六七八，九十", width=16)).split("\n")

    assert shown == ["一二三四五六七", "八，九十", ""]
    assert all(cell_width(line) <= 16 for line in shown)


def test_code_is_neither_wrapped_nor_read_as_markdown() -> None:
    line = "x = '*not* **styled** `here`' + " + "'long ' * 30"

    assert line in text_of(render(f"```py\n{line}\n```", width=20)).split("\n")


def test_a_longer_fence_may_hold_a_shorter_one() -> None:
    assert text_of(render("````\n```\n**x**\n````\n**y**")) == "````\n```\n**x**\n````\ny\n"


def test_an_open_code_block_ends_with_the_answer() -> None:
    stream = MarkdownStream(lambda: 40)
    stream.feed("```\ncode")
    stream.finish()

    assert stream.feed("**b**\n\n") == "\x1b[1mb\x1b[0m\n\n"


def test_a_table_lines_up_with_wide_characters() -> None:
    shown = text_of(render("| a | b |\n|---|---|\n| 你好 | x |\n| y | z |\n\nafter")).split("\n")

    ends = [cell_width(line[: line.index(mark)]) for line, mark in zip([shown[0], *shown[2:4]], "bxz", strict=True)]
    assert len(set(ends)) == 1
    assert shown[-2] == "after"


def test_rows_without_a_rule_are_no_table() -> None:
    assert text_of(render("| not | a table |\nnext")) == "| not | a table |\nnext\n"


def test_a_bar_in_code_or_escaped_divides_no_cells() -> None:
    shown = text_of(render("| a |\n|---|\n| `x|y` |\n| p\\|q |\n"))

    assert "x|y" in shown
    assert "p|q" in shown


def test_a_block_appears_when_it_is_finished_and_code_line_by_line() -> None:
    stream = MarkdownStream(lambda: 80)

    assert [stream.feed("Hello **big"), stream.holding] == ["", True]
    assert text_of(stream.feed("** world\n\n```\nx =")) == "Hello big world\n\n```\n"
    assert text_of(stream.feed(" 1\n- ")) == "x = 1\n"


def test_text_below_an_item_stays_below_it() -> None:
    assert text_of(render("1. one\n\n   more\n   - sub\n2. two")) == " 1 one\n\n   more\n    • sub\n 2 two\n"


def test_the_colon_in_a_chinese_accent_does_not_break_it() -> None:
    assert text_of(render("**注意：**请看")) == "注意：请看\n"


@pytest.mark.parametrize("source", ["Vec<String> <path>", "&amp;", "[a]: b", "![x] y"])
def test_what_only_a_browser_would_read_stays_as_it_was_written(source: str) -> None:
    assert render(source) == source + "\n"


def test_the_words_of_a_narrow_table_are_folded_and_not_cut() -> None:
    shown = text_of(render("| a | b |\n|---|---|\n| /one/long/path | /other/long/path |", width=16))

    assert "…" not in shown
    assert sum(map(str.isalpha, shown)) == len("aboneotherlonglongpathpath")


def test_a_line_without_end_costs_no_more_than_its_length() -> None:
    source = "*a **c " * 20_000

    assert text_of(render(source, width=100)).replace("\n", " ").split() == source.split()


@pytest.mark.parametrize("columns", [2, 5, 8, 20, 30])
@pytest.mark.parametrize("width", [20, 40, 80])
def test_no_column_of_a_wide_table_is_lost(columns: int, width: int) -> None:
    rows = ["|".join(f"{kind}{number:02d}" for number in range(columns)) for kind in ("head", "cell")]
    text = f"|{rows[0]}|\n|{'|'.join(['---'] * columns)}|\n|{rows[1]}|\n"
    stream = MarkdownStream(lambda: width)
    drawn = re.sub(r"\x1b\[[\d;]*m", "", stream.feed(text) + stream.finish())

    assert sorted(re.sub(r"\W", "", drawn)) == sorted(re.sub(r"\W", "", text))


def test_a_line_that_is_nearly_the_rule_of_a_table_takes_no_time() -> None:
    stream = MarkdownStream(lambda: 80)
    began = time.process_time()
    stream.feed("a | b\n" + " " * 3_000 + "-" * 3_000 + "x\n\n" + "|" * 9_000 + "\n" + "-" * 9_000 + "x\n\n")

    assert time.process_time() - began < 2
