"""`text_form`: what kind of text some bytes are."""

from __future__ import annotations

import codecs
import gzip

import pytest

from tools.files.text import SAMPLE_BYTES, text_form

CHINESE = "项目说明：\r\n端口八零，数据库在本机。"


@pytest.mark.parametrize(
    ("raw", "codec"),
    [
        (b"", "utf-8"),
        (b"plain\n", "utf-8"),
        (CHINESE.encode(), "utf-8"),
        (codecs.BOM_UTF8 + CHINESE.encode(), "utf-8"),
        (CHINESE.encode("gb18030"), "gb18030"),
        ("mostly english with 一个词 in it\n".encode("gb18030"), "gb18030"),
        (codecs.BOM_UTF16_LE + CHINESE.encode("utf-16-le"), "utf-16-le"),
        (codecs.BOM_UTF16_BE + CHINESE.encode("utf-16-be"), "utf-16-be"),
        (codecs.BOM_UTF32_LE + CHINESE.encode("utf-32-le"), "utf-32-le"),
        ("une élève à l'école, où ça coûte\n".encode("latin-1"), "latin-1"),
        (b"\x1b[31mred\x1b[0m log\n", "utf-8"),
    ],
)
def test_the_encoding_is_found_out(raw: bytes, codec: str) -> None:
    form = text_form(raw, cut=False)
    assert form is not None
    assert form.codec == codec
    assert form.mark + form.encode(form.decode(raw)) == raw


@pytest.mark.parametrize(
    "raw",
    [
        b"\0" * 100,
        b"\x7fELF\x02\x01\x01\0\0",
        gzip.compress(b"text" * 1000, mtime=0),
        bytes(range(256)),
        b"\xff\xfe\x00\xd8\x41",
    ],
)
def test_binary_is_no_text(raw: bytes) -> None:
    assert text_form(raw, cut=False) is None


def test_one_broken_byte_does_not_make_another_encoding_of_it() -> None:
    raw = CHINESE.encode() + b"\xff" + CHINESE.encode()
    form = text_form(raw, cut=False)
    assert form is not None
    assert form.codec == "utf-8"
    assert form.encode(form.decode(raw)) == raw


def test_a_character_torn_at_the_end_of_the_sample_is_no_fault() -> None:
    raw = ("a" + "中" * SAMPLE_BYTES).encode()[:SAMPLE_BYTES]
    form = text_form(raw, cut=True)
    assert form is not None
    assert form.name == ""
