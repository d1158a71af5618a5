"""`file_edit`: one place exchanged, no other byte."""

from __future__ import annotations

import codecs
import threading
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tool_calls import Workspace

from tools.files.splice import matches, splice
from tools.files.text import text_form


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"one\ntwo\n", "two", "2", b"one\n2\n"),
        (b"one\r\ntwo\r\nthree\r\n", "two\nthree", "2\n3\n4", b"one\r\n2\r\n3\r\n4\r\n"),
        (codecs.BOM_UTF8 + b"one\r\ntwo", "one\ntwo", "1\n2", codecs.BOM_UTF8 + b"1\r\n2"),
        (b"a\r\nb\nc\rd\r\n", "b", "B", b"a\r\nB\nc\rd\r\n"),
        (b"a\r\nb\nc\r\nd\n", "b\nc", "b\nnew\nc", b"a\r\nb\nnew\nc\r\nd\n"),
        (b"a\r\nb\nc\n", "a\nb\nc", "a\nb2\nc", b"a\r\nb2\nc\n"),
        (b"a\r\nb\r\n", "b", "b\nc", b"a\r\nb\r\nc\r\n"),
        (b"a\r\nlast", "last", "last\nmore", b"a\r\nlast\r\nmore"),
        (b"a\nb\n", "a\r\nb", "x\r\ny", b"x\ny\n"),
        (b"no end", "end", "END", b"no END"),
        ("端口八零\r\n".encode("gb18030"), "八零", "九零", "端口九零\r\n".encode("gb18030")),
        ("端口\n".encode("utf-16"), "端", "窗", "窗口\n".encode("utf-16")),
        ("中".encode() * 5 + b"\xff tail\n", "tail", "end", "中".encode() * 5 + b"\xff end\n"),
        (b"caf\xe9 noir\n", "noir", "cr\u00e8me", b"caf\xe9 cr\xe8me\n"),
        (b"keep\n\n\ngone\n", "\n\ngone", "", b"keep\n\n"),
    ],
)
def test_only_the_passage_changes(ws: Workspace, before: bytes, old: str, new: str, after: bytes) -> None:
    place = ws.put("f", before)
    result = ws("file_edit", path="f", old_text=old, new_text=new)
    assert result.ok, result.error
    assert place.read_bytes() == after


@pytest.mark.parametrize(
    ("before", "old", "words"),
    [
        ("x = 1\ny = 2\nx = 1\n", "x = 1", ["2 places", "lines 1, 3"]),
        ("foo\nfoo\nfoo\n", "foo\nfoo\n", ["2 places", "lines 1, 2"]),
        ("aaaa", "aa", ["3 places"]),
        ("a\r\nb\r\na\nb\n", "a\nb", ["2 places"]),
        ("x", "", ["old_text is empty"]),
        ("x", "x", ["the same"]),
        ("def dev():\n    debug = True\n", "debug= True", ["not found", "2:     debug = True"]),
        ("a\n    b\nc\n", "a\nb\nc", ["not found", "2:     b"]),
        ("words\n", "nothing of the kind here", ["not found", "no line is like it"]),
        ("words\n", "  \n  ", ["not found", "only blanks"]),
        ("a" * 30_000, "aa", ["more than 10000 places"]),
    ],
)
def test_what_is_not_clear_is_refused_and_changes_nothing(
    ws: Workspace, before: str, old: str, words: list[str]
) -> None:
    place = ws.put("f", before)
    result = ws("file_edit", path="f", old_text=old, new_text="x")
    assert not result.ok
    assert all(word in result.serialize() for word in words), result.error
    assert place.read_bytes() == before.encode()


def test_replace_all_replaces_all(ws: Workspace) -> None:
    place = ws.put("f", "a b a\r\na")
    assert ws("file_edit", path="f", old_text="a", new_text="c", replace_all=True).data == "Edited f: 3 places"
    assert place.read_bytes() == b"c b c\r\nc"


def test_text_the_encoding_cannot_hold_is_refused(ws: Workspace) -> None:
    place = ws.put("f", b"caf\xe9 noir\n")
    result = ws("file_edit", path="f", old_text="noir", new_text="黑")
    assert "cannot hold '黑'" in str(result.error)
    assert place.read_bytes() == b"caf\xe9 noir\n"


def test_a_file_that_is_not_there_or_binary_is_told(ws: Workspace) -> None:
    ws.put("binary", b"\0\1\2")
    assert "file_write makes a new one" in str(ws("file_edit", path="no", old_text="a", new_text="b").error)
    assert not ws("file_edit", path="none/f", old_text="a", new_text="b").ok
    assert not (ws.root / "none").exists()
    assert "binary" in str(ws("file_edit", path="binary", old_text="a", new_text="b").error)


def test_edits_of_one_file_at_once_lose_nothing(ws: Workspace) -> None:
    place = ws.put("f", "".join(f"<{n}>\n" for n in range(16)))
    threads = [
        threading.Thread(
            target=ws, args=("file_edit",), kwargs={"path": "f", "old_text": f"<{n}>", "new_text": f"{n}!"}
        )
        for n in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert place.read_text() == "".join(f"{n}!\n" for n in range(16))


LETTERS = st.text(st.sampled_from("ab中é \t\r\n"), max_size=40).map(lambda text: text.replace("\r", "\r\n"))


@settings(max_examples=500, deadline=None)
@given(
    before=LETTERS,
    wanted=st.text(st.sampled_from("ab中é \n"), min_size=1, max_size=6),
    after=LETTERS,
    new=st.text(st.sampled_from("xy新\n"), max_size=8),
    crlf=st.booleans(),
    codec=st.sampled_from(["utf-8", "utf-8-sig", "gb18030", "utf-16"]),
)
def test_every_byte_outside_the_passage_stays(
    before: str, wanted: str, after: str, new: str, crlf: bool, codec: str
) -> None:
    passage = wanted.replace("\n", "\r\n") if crlf else wanted
    raw = (before + passage + after).encode(codec)
    form = text_form(raw, cut=False)
    assume(form is not None and form.codec in (codec, codec.removesuffix("-sig"), "utf-16-le"))
    assert form is not None
    text = form.decode(raw)
    spans = matches(text, wanted)
    assume((len(before), len(before) + len(passage)) in spans)

    spliced, _ = splice(text, [(len(before), len(before) + len(passage))], new)
    content = form.mark + form.encode(spliced)

    head = form.mark + form.encode(before)
    tail = form.encode(after)
    assert content.startswith(head)
    assert content.endswith(tail)
    middle = form.encode("").join([content[len(head) : len(content) - len(tail)]]).decode(form.codec)
    assert middle.replace("\r\n", "\n") == new


@settings(max_examples=500, deadline=None)
@given(
    text=st.text(st.sampled_from("ab\n"), max_size=30), wanted=st.text(st.sampled_from("ab\n"), min_size=1, max_size=4)
)
def test_matches_are_counted_with_their_overlaps_whatever_the_line_ends(text: str, wanted: str) -> None:
    expected = [at for at in range(len(text)) if text.startswith(wanted, at)]
    windows = text.replace("\n", "\r\n")
    assert [start for start, _ in matches(text, wanted)] == expected
    assert len(matches(windows, wanted)) == len(expected)
