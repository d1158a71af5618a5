"""`Words`: the words and marks of an English text, and where its clauses may end."""

from __future__ import annotations

import re

from memory.orders.words import ENDERS

__all__ = ["LEET", "Words", "is_last"]

LEET = str.maketrans("013457@$", "oieastas")  # digits and signs that stand for letters
WORD = (
    r"[a-z0-9@$']+"
    r"|\.{2,}|[.;:!?](?=\s|$|[\"')\]*])|,"
    r"|\n(?:[ \t]*(?:\n|[-*+#>][ \t]|\d{1,3}[.)][ \t]))?"
)


class Words(list[str]):
    """The words and marks of a text in small letters. An empty line and the beginning of a list are the word "\\n"."""

    def __init__(self, plain: str) -> None:
        super().__init__()
        self.line_ends: set[int] = set()
        # The words before a single line break, which may end a clause or not
        for piece in re.findall(WORD, plain.replace("%20", " ")):
            if piece == "\n":
                self.line_ends.add(len(self) - 1)
            elif not piece.startswith(".."):
                self.append(_word(piece))


def _word(token: str) -> str:
    if token.startswith("\n"):
        return "\n"
    token = token.replace("'", "")
    return token if token.isalpha() else token.translate(LEET)


def is_last(words: Words, at: int) -> bool:
    """Does a clause end, or may it end, after this word?"""
    return at + 1 == len(words) or at in words.line_ends or words[at + 1] in ENDERS
