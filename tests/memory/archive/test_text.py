from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.archive.entry import Entry, Filter
from memory.archive.text import Terms, analyse, filter_terms, fold, pack, query_words, stem, unpack


def words(query: str, *, sure: bool = True) -> list[str]:
    return [word.text for word in query_words(query) if word.sure == sure]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("ＡＰＩ", "api"),
        ("Müller", "muller"),
        ("Straße", "strasse"),
        ("Hà Nội", "ha noi"),
        ("ﬁle naïve", "file naive"),
        ("ｶﾅ", "カナ"),
        ("ＩＳＴＡＮＢＵＬ İ", "istanbul i"),
        ("Đà Nẵng Łódź smørrebrød Æsir", "da nang lodz smorrebrod aesir"),
    ],
)
def test_letters_fold_to_one_form(text: str, plain: str) -> None:
    assert fold(text) == plain


def test_kana_keep_their_voicing() -> None:
    assert fold("がっこう ﾊﾞ") == "がっこう バ"


def test_an_entry_is_found_by_its_key_content_and_tags() -> None:
    counts = analyse(Entry("user_time-zone.v2", "UTC plus", tags=("travel",))).counts
    assert {"user", "time", "zone", "v2", "utc", "plus", "travel"} <= counts.keys()


def test_chinese_gives_singles_and_pairs_and_lets_words_beside_it_live() -> None:
    counts = analyse(Entry("k", "用TypeScript编写")).counts
    assert {"用", "typescript", "编", "写", "编写"} <= counts.keys()


def test_a_key_with_humps_is_found_by_its_parts_and_content_is_not() -> None:
    counts = analyse(Entry("userTimeZone", "TypeScript")).counts
    assert {"usertimezone", "user", "time", "zone", "typescript"} <= counts.keys()
    assert "script" not in counts


@pytest.mark.parametrize(
    ("key", "parts"),
    [
        ("HTTPServer", {"http", "server"}),
        ("IPv6Address", {"ipv6", "address"}),
        ("s3BucketName", {"s3", "bucket", "name"}),
        ("parseJSONFile", {"parse", "json", "file"}),
        ("userIDs", {"user", "ids"}),
        ("IDs", set()),
        ("USER", set()),
    ],
)
def test_a_key_with_capitals_in_a_row_is_found_by_its_parts(key: str, parts: set[str]) -> None:
    assert analyse(Entry(key, "")).counts.keys() == {key.lower(), "#c:core"} | parts


@pytest.mark.parametrize("text", ["ภาษาไทยง่าย", "ພາສາລາວ", "မြန်မာစာ", "ភាសាខ្មែរ"])
def test_scripts_without_blanks_are_found_by_any_part(text: str) -> None:
    counts = analyse(Entry("k", text)).counts
    assert all(word.text in counts for word in query_words(text[2:]))


def test_filter_terms_are_exact_and_do_not_count_as_length() -> None:
    terms = analyse(Entry("k", "one two", "Notes", ("Big Tag*",)))
    assert [term for term in terms.counts if term.startswith("#")] == ["#c:Notes", "#t:Big%20Tag%2A"]
    assert terms.length == 1 + 2 + 2
    assert filter_terms(Filter("Notes", ("Big Tag*",))) == ["#c:Notes", "#t:Big%20Tag%2A"]


def test_function_words_are_dropped_when_others_remain() -> None:
    assert words("what is the user's timezone") == ["user", "timezone"]
    assert words("what is this") == ["what", "is", "this"]
    assert words("猫的名字是什么") == ["猫", "名字"]


@pytest.mark.parametrize(
    ("query", "sure", "unsure"),
    [
        ("我的生日是什么时候", ["生日", "时候"], ["的生", "日是", "么时"]),
        ("旅行的目的", ["旅行", "目"], ["行的", "的目", "目的"]),
        ("附近酒吧", ["附近", "近酒"], ["酒吧"]),
        ("了解情况", ["解情", "情况"], ["了解"]),
        ("你好", ["好"], ["你好"]),
        ("是的", ["是的"], []),
    ],
)
def test_a_pair_with_a_function_character_is_asked_for_and_counts_less(
    query: str, sure: list[str], unsure: list[str]
) -> None:
    assert (words(query), words(query, sure=False)) == (sure, unsure)


@pytest.mark.parametrize(
    ("query", "sure", "unsure"),
    [
        ("US address", ["address"], ["us"]),
        ("the IT department", ["department"], ["it"]),
        ("US 地址", ["地址"], ["us"]),
        ("Will birthday", ["birthday"], ["will"]),
        ("Will's number", ["number"], ["will"]),
        ("when did Ann and Will marry", ["ann", "marry"], ["will"]),
        ("Will you come? What time", ["come", "time"], []),
        ("WHERE IS MY KEY", ["key"], []),
        ("WHO", ["who"], []),
    ],
)
def test_a_function_word_that_is_written_as_a_name_is_asked_for_and_counts_less(
    query: str, sure: list[str], unsure: list[str]
) -> None:
    assert (words(query), words(query, sure=False)) == (sure, unsure)


def test_a_single_character_of_a_longer_run_is_not_asked_for() -> None:
    assert words("数据库") == ["数据", "据库"]
    assert words("猫") == ["猫"]


@pytest.mark.parametrize("query", ["", "   ", "???", "🚀🚀", "*", "%", "_", "\u0301\u200d"])
def test_a_query_without_words_asks_for_nothing(query: str) -> None:
    assert words(query) == []


def test_of_a_long_query_the_first_and_last_words_are_asked_for() -> None:
    found = words(" ".join(f"w{number}" for number in range(5_000)))
    assert (len(found), found[0], found[-1]) == (256, "w0", "w4999")


def test_english_words_have_stems_and_others_are_their_own() -> None:
    assert stem("deployments") == stem("deployed") == "deploy"
    assert stem("部署") == "部署"
    assert stem("#t:running") == "#t:running"


@given(st.text(max_size=200), st.lists(st.text(max_size=20), max_size=4))
def test_whatever_is_analysed_survives_packing(content: str, tags: list[str]) -> None:
    terms = analyse(Entry("k", content, tags=tuple(tags)))
    assert unpack(pack(terms)) == terms
    assert "\n" not in pack(terms)


@given(st.text(max_size=200))
def test_a_text_has_the_words_that_it_is_asked_for_by(text: str) -> None:
    counts = analyse(Entry("k", text)).counts
    assert all(word.text in counts for word in query_words(text))


@given(st.text(max_size=100))
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_counts_stay_within_what_a_block_can_hold() -> None:
    terms = analyse(Entry("k", "word " * 70_000))
    assert terms == Terms({"k": 1, "word": 255, "#c:core": 1}, 65_535)
