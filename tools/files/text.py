"""`TextForm`: how the bytes of a file are text: its encoding, found out from the bytes and told in words."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

__all__ = ["SAMPLE_BYTES", "TextForm", "text_form"]

SAMPLE_BYTES = 64 * 1024

BOMS = (
    (codecs.BOM_UTF8, "utf-8", "UTF-8 with a byte order mark"),
    (codecs.BOM_UTF32_LE, "utf-32-le", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32-be", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16"),
)
# UTF-32 before UTF-16: the mark of the one begins with the mark of the other.

CONTROL = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f]")  # text holds few of them; ESC is in coloured logs
HANZI = re.compile(rb"[\xa1-\xf7][\xa1-\xfe]")  # the common signs of GB2312
HIGH = re.compile(rb"[\x80-\xff]")


@dataclass(frozen=True, slots=True)
class TextForm:
    """An encoding with the mark before it."""

    codec: str
    name: str
    # In words, for the model; "" is plain UTF-8.
    mark: bytes = b""

    def decode(self, raw: bytes) -> str:
        """Decode a whole file, without its mark. Stray bytes survive `encode` (surrogateescape)."""
        return raw[len(self.mark) :].decode(self.codec, "surrogateescape")

    def encode(self, text: str) -> bytes:
        return text.encode(self.codec, "surrogateescape")


def text_form(raw: bytes, *, cut: bool) -> TextForm | None:
    """Find out how `raw`, the first bytes of a file, is text; None: it is binary.

    cut: more bytes follow, so the last character may be torn.
    """
    for mark, codec, name in BOMS:
        if raw.startswith(mark):
            fits = codec == "utf-8" or _decodes(raw[len(mark) :], codec, cut=cut)
            return TextForm(codec, name, mark) if fits else None
    if b"\0" in raw or len(CONTROL.findall(raw)) * 10 > len(raw):  # compressed or compiled
        return None
    if _decodes(raw, "utf-8", cut=cut):
        return TextForm("utf-8", "")
    broken = sum(0xDC80 <= ord(c) <= 0xDCFF for c in raw.decode("utf-8", "surrogateescape"))
    whole = sum(ord(c) > 0x7F for c in raw.decode("utf-8", "ignore"))
    if whole > broken:
        return TextForm("utf-8", "UTF-8 with invalid bytes")
    if _decodes(raw, "gb18030", cut=cut) and 2 * len(HANZI.findall(raw)) >= 0.7 * len(HIGH.findall(raw)):
        return TextForm("gb18030", "GB18030")
    return TextForm("latin-1", "unknown, read as Latin-1")


def _decodes(raw: bytes, codec: str, *, cut: bool) -> bool:
    try:
        codecs.getincrementaldecoder(codec)().decode(raw, final=not cut)
    except UnicodeDecodeError:
        return False
    return True
