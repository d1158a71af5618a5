from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.archive.entry import (
    ArchiveRefusal,
    Entry,
    clean_category,
    clean_content,
    clean_key,
    clean_metadata,
    clean_tags,
    moment,
    ticks,
)


def test_a_key_is_trimmed_composed_and_keeps_its_case() -> None:
    assert clean_key("  Cafe\u0301/Plan.v1 🚀 ") == "Café/Plan.v1 🚀"


@pytest.mark.parametrize("key", ["", " \n ", "a\nb", "a\x00b", "a\x7fb", "a\u2028b", "k" * 257, "a\ud800"])
def test_a_key_that_cannot_be_is_refused_by_name(key: str) -> None:
    with pytest.raises(ArchiveRefusal, match="key"):
        clean_key(key)


def test_a_key_of_256_characters_is_taken() -> None:
    assert clean_key("键" * 256) == "键" * 256


def test_content_loses_blank_lines_round_it_and_nothing_inside() -> None:
    assert clean_content("\n  \n    indented\r\n\r\n\ttab\rlast  \n\n") == "    indented\n\n\ttab\nlast"


@pytest.mark.parametrize("content", ["", " \n\t ", "a\x00b", "half \udc00"])
def test_content_that_cannot_be_is_refused_by_name(content: str) -> None:
    with pytest.raises(ArchiveRefusal, match="content"):
        clean_content(content)


def test_categories_fold_to_one_spelling() -> None:
    assert [clean_category(name) for name in ("Core", " 项目甲 ", "Ärzte", "A\u0308rzte")] == [
        "core",
        "项目甲",
        "ärzte",
        "ärzte",
    ]


@pytest.mark.parametrize(
    "name",
    [
        *[
            "",
            "..",
            "../x",
            "a/b",
            "a\\b",
            ".embeddings",
            "core.md",
            "C:x",
            "x" * 65,
            "-x",
            "a b",
            "con",
            "NUL",
            "com1",
        ],
        "\U00020000" * 51,
    ],
)
def test_a_category_that_is_no_safe_file_name_is_refused(name: str) -> None:
    with pytest.raises(ArchiveRefusal, match="category"):
        clean_category(name)


def test_tags_are_trimmed_and_each_stands_once() -> None:
    assert clean_tags(["a", " b ", "a"]) == ("a", "b")


def test_metadata_is_copied_as_plain_json() -> None:
    given = {"来源": "wiki", "nested": {"a": [1, 2.5, None, True]}}
    kept = clean_metadata(given)
    given["nested"] = {}
    assert kept == {"来源": "wiki", "nested": {"a": [1, 2.5, None, True]}}


@pytest.mark.parametrize(
    "metadata",
    [
        {"x": float("nan")},
        {"x": object()},
        {"x": "a\x00"},
        {"x": ["\\\x00"]},
        {"\x00": 1},
        {"x": "\ud800"},
        {"x": "y" * 100_001},
    ],
)
def test_metadata_that_cannot_be_kept_is_refused(metadata: dict[str, object]) -> None:
    with pytest.raises(ArchiveRefusal, match="metadata"):
        clean_metadata(metadata)


def test_times_survive_as_ticks_to_the_microsecond() -> None:
    when = datetime(2026, 3, 10, 9, 0, 0, 123457, UTC)
    assert moment(ticks(when)) == when


def test_the_model_sees_an_entry_without_its_session() -> None:
    when = datetime(2026, 3, 10, 9, tzinfo=UTC)
    entry = Entry("k", "v", "core", ("t",), {"m": 1}, "main", "s1", when, when)
    assert entry.as_json() == {
        "key": "k",
        "content": "v",
        "category": "core",
        "tags": ["t"],
        "metadata": {"m": 1},
        "owner": "main",
        "created": "2026-03-10T09:00:00Z",
        "updated": "2026-03-10T09:00:00Z",
    }
