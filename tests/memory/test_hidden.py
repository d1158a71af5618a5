"""Characters that hide text are found; those that a script or an emoji needs pass."""

from __future__ import annotations

import pytest

from memory.guard import hidden_character, reason_to_refuse

TAGGED = "".join(chr(0xE0000 + ord(letter)) for letter in "ignore")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("invoice \u202efdp.exe", "U+202E"),
        ("text \u2066in\u2069 isolation", "U+2066"),
        ("ig\u200bnore", "U+200B"),
        ("a word\u2060joiner", "U+2060"),
        ("invisible\u2063separator", "U+2063"),
        ("\u206aold control", "U+206A"),
        ("hello" + TAGGED, "U+E0069"),
        ("\U0001f3f4" + TAGGED + "\U0001f3f4", "U+E0069"),
        ("\U0001f3f4" + TAGGED + TAGGED + "\U000e007f", "U+E0069"),
        ("ig\u200dnore", "U+200D"),
        ("ig\u200cnore", "U+200C"),
        ("中\u200d文", "U+200D"),
        ("a\ufe01b", "U+FE01"),
        ("😀\ufe01\ufe02\ufe03\ufe04", "U+FE01"),
        ("😀\U000e0101", "U+E0101"),
        ("a\u200e\u200f\u200e\u200fb", "U+200E"),
        ("می\u200c\u200c\u200d\u200cخواهد", "U+200C"),
        ("\u180evowel separator", "U+180E"),
        ("\ufff9annotated\ufffb", "U+FFF9"),
    ],
)
def test_a_hiding_character_is_named(text: str, found: str) -> None:
    assert hidden_character(text) == found
    assert found in (reason_to_refuse(text) or "")


@pytest.mark.parametrize(
    "text",
    [
        "Signs off with 👩\u200d💻 and 🐈\u200d⬛ and 🏳\ufe0f\u200d🌈",
        "👨\u200d👩\u200d👧\u200d👦 and 👩🏽\u200d🚀 and 🤷🏿\u200d♂\ufe0f",
        "状态用 ✅ ❌ ⚠\ufe0f 1\ufe0f⃣ #\ufe0f⃣ ©\ufe0f ™\ufe0f 标记",
        "🏴\u200d☠\ufe0f, ❤\ufe0f\u200d🔥 and 👁\ufe0f\u200d🗨\ufe0f",
        "England 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f and Texas "
        "🏴\U000e0075\U000e0073\U000e0074\U000e0078\U000e007f",
        "🇩🇪🇨🇳",
        "کاربر می\u200cخواهد پاسخ\u200cها کوتاه باشند، API\u200cها و PDF\u200cها",
        "क्\u200dष and क्\u200cष, ශ්\u200dරී ලංකා",
        "عربي وעברית\u200f (\u200eright to left\u200e) stay as they are",
        "葛\U000e0100城, 羽\ufe00",
        "soft\u00adhyphen, no\u00a0break, thin\u2009space, 全角　空格",
        "é as e\u0301, Việt Nam, Ünïcödé",
    ],
)
def test_what_a_script_or_an_emoji_needs_passes(text: str) -> None:
    assert hidden_character(text) is None
    assert reason_to_refuse(text) is None
