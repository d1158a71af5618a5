from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.archive.entry import ArchiveRefusal, Entry, clean_content, clean_key
from memory.archive.sections import dated, parse, read_entry, render, section_of

WHEN = datetime(2026, 3, 10, 9, tzinfo=UTC)


def entries(text: str) -> dict[str, str]:
    found = (read_entry(section, "core", WHEN).entry for section in parse(text) if section.heading)
    return {entry.key: entry.content for entry in found if entry}


def test_sections_written_by_hand_are_entries() -> None:
    assert entries("# core\n\nwords before\n\n## one\nfirst\n\nsecond\n\n## two  \n\n\nthird\n") == {
        "one": "first\n\nsecond",
        "two": "third",
    }


def test_a_section_that_is_no_entry_stays_as_it_is() -> None:
    text = "## empty\n\n## fine\nwords\n"
    assert entries(text) == {"fine": "words"}
    assert render(parse(text)) == text


def test_a_fenced_heading_written_by_hand_is_text() -> None:
    assert entries("## build\n```md\n## Install\n```\nafter\n\n## next\nwords\n") == {
        "build": "```md\n## Install\n```\nafter",
        "next": "words",
    }


def test_a_fence_that_is_never_closed_swallows_nothing() -> None:
    assert entries("## a\n```\ncode\n\n## b\nwords\n") == {"a": "```\ncode", "b": "words"}


def test_a_fence_by_hand_does_not_reach_into_a_section_of_ours() -> None:
    ours = section_of(Entry("ours", "```\ncode\n```"))
    assert entries("## a\n```\nopen\n\n" + render([ours])) == {"a": "```\nopen", "ours": "```\ncode\n```"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# core\n\n```\n## example\ntext\n```\n\n## real\nyes", ["real"]),
        ("~~~~md\n~~~\n## x\n~~~~~  \n\n## b\ny", ["b"]),
        ("## a\n{ours}\n\nx\n```sh\n## install\nfoo\n```\n\n## b\ny", ["a", "b"]),
        ("## a\n```\n## one\n```\n```\n## two\n```\n\n## b\ny", ["a", "b"]),
        ("## a\n````md\n## x\n```sh\n## y\n```\n## z\n```sh\n```\n````\n\n## b\ny", ["a", "b"]),
        ("## a\n    ```\n## b\n    ```\n## c\ny", ["a", "b", "c"]),
        ("## a\n```x`\n## b\n```\n", ["a", "b"]),
        # one that is not closed takes nothing with it
        ("```\nopen\n\n## a\nx\n\n## b\ny", ["a", "b"]),
        ("## a\n```\nopen\n\n## b\n```\ncode\n```\n\n## c\ny", ["a", "b", "c"]),
        ("## a\n{ours}\n\n```\nopen\n\n## b\n```sh\ncode\n```\n\n## c\ny", ["a", "b", "c"]),
        ("## a\n```\n## inner\n```\n\n## b\nx\n\n## z\n```\nopen", ["a", "b", "z"]),
        ("## a\n```\nopen\n\n## b\n\n{ours}\n\n```\ncode", ["a", "b"]),
    ],
)
def test_headings_in_fences_are_text(text: str, found: list[str]) -> None:
    assert list(entries(text.replace("{ours}", "<!-- memory {} -->"))) == found


def test_many_fences_are_read_in_no_time() -> None:
    text = "\n".join("`" * (3 + number % 999) + "x" * (number % 2) for number in range(2_000)) + "\n```x" * 150_000
    assert len(parse(f"## a\n{text}")) == 2


def test_a_strangers_comment_is_text() -> None:
    assert entries("## a\n<!-- memory of a day -->\nwords\n") == {"a": "<!-- memory of a day -->\nwords"}


@pytest.mark.parametrize("spelling", ["<!-- Memory {", "<!-- memory: {", "<!--MEMORY:{", "<!-- memory : {"])
def test_a_comment_is_ours_however_its_name_is_spelt(spelling: str) -> None:
    reading = read_entry(parse(f'## a\n{spelling}"owner": "bob", "tags": ["t"]}} -->\nwords\n')[1], "core", WHEN)
    assert reading.entry == Entry("a", "words", tags=("t",), owner="bob", created=WHEN, updated=WHEN)


TIMES = '"created": "2026-03-10T09:00:00Z", "updated": "2026-03-10T09:00:00Z"'


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        ("##  c ##\n\n  words", f"##  c ##\n<!-- memory {{{TIMES}}} -->\n\n  words"),
        ("## a\n\n<!-- Memory: { } -->\nwords", f"## a\n\n<!-- Memory: {{{TIMES}}} -->\nwords"),
        (
            '## a\n<!--memory {"x":  "\\ud800", "updated": null }-->\nwords',
            f'## a\n<!--memory {{"x":  "\\ud800", "updated": null, {TIMES}}}-->\nwords',
        ),
    ],
)
def test_a_section_without_times_gets_those_that_were_read_and_stays_as_it_was_written(
    section: str, expected: str
) -> None:
    (read,) = parse(section)[1:]
    entry, _, complete = read_entry(read, "core", WHEN)
    assert entry
    assert not complete
    found = dated(read, entry)
    assert found.text == expected
    assert read_entry(found, "core", datetime.now(UTC)) == (entry, "", True)


def test_wrong_fields_in_a_comment_are_passed_over() -> None:
    section = parse(
        '## a\n<!-- memory {"tags": 3, "metadata": [], "created": "yesterday", "owner": "x"} -->\n\nwords\n'
    )[1]
    entry, trouble, _ = read_entry(section, "core", WHEN)
    assert entry == Entry("a", "words", owner="x", created=WHEN, updated=WHEN)
    assert all(name in trouble for name in ("'a'", "tags", "metadata", "created"))


def test_times_without_a_zone_are_utc() -> None:
    section = parse('## a\n<!-- memory {"created": "2026-01-02", "updated": "2026-01-03T10:00:00+08:00"} -->\nwords\n')[
        1
    ]
    entry = read_entry(section, "core", WHEN).entry
    assert entry
    assert (entry.created, entry.updated) == (datetime(2026, 1, 2, tzinfo=UTC), datetime(2026, 1, 3, 2, tzinfo=UTC))


@pytest.mark.parametrize(
    "content",
    [
        "## heading",
        "\\## escaped",
        "text\n## other_key\n\\\\## twice",
        "<!-- memory {} -->",
        "```\n## x",
        "# one\n### three",
        "##\n## ",
    ],
)
def test_content_that_looks_like_a_file_of_ours_comes_back(content: str) -> None:
    text = render([section_of(Entry("k", content)), section_of(Entry("last", "words"))])
    assert entries(text) == {"k": clean_content(content), "last": "words"}


def made(key: str, content: str, tag: str, field: str) -> Entry | None:
    try:
        key, content = clean_key(key), clean_content(content)
    except ArchiveRefusal:
        return None
    tags = (tag.strip(),) if tag.strip() else ()
    return Entry(key, content, tags=tags, metadata={"field": field}, owner="o", session="s", created=WHEN, updated=WHEN)


characters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
text = st.text(characters, max_size=60)
lines = st.lists(
    st.sampled_from(["## a", "\\## b", "```", "~~~md", "words", "", "  ", "<!-- memory {} -->", "#", "\t## x"])
)


@given(
    st.lists(st.builds(made, text, text | lines.map("\n".join), st.from_regex(r"[a-z>-]{0,8}", fullmatch=True), text))
)
def test_whatever_is_written_is_read_again(some: list[Entry | None]) -> None:
    kept = [entry for entry in some if entry]
    sections = [section_of(entry) for entry in kept]
    parsed = parse(render(sections))
    assert [read_entry(section, "core", WHEN) for section in parsed if section.heading] == [
        (each, "", True) for each in kept
    ]
    assert parsed[1:] == sections


@given(lines.map("\n".join))
def test_a_file_by_hand_is_the_same_entries_once_they_have_comments(text: str) -> None:
    before = parse(f"## a\n{text}\n## z\nwords")
    after = [dated(each, entry) if (entry := read_entry(each, "core", WHEN).entry) else each for each in before[1:]]
    assert parse(render(after))[1:] == after
