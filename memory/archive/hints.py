"""`DateHint` and names: what a query says beside its words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from memory.archive.stopwords import ENGLISH

__all__ = ["DateHint", "date_hint", "ends", "possible_names", "without_names"]

MONTHS = "january february march april may june july august september october november december"
MONTH_NUMBERS = {name: number for number, name in enumerate(MONTHS.split(), start=1)}
MONTH_NUMBERS |= {name[:3]: number for name, number in MONTH_NUMBERS.items()}
# In small letters these are mostly other words, after a name they are names.
AMBIGUOUS = {"may", "march", "mar"}
ISO = re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})(?:[-/.](\d{1,2}))?(?!\d)")
CHINESE = re.compile(r"(?:(\d{4})\s*年)?\s*(?:(\d{1,2})\s*月)?\s*(?:(\d{1,2})\s*[日号])?")
WORD = re.compile(r"[^\W\d_]+|\d+")
NAME_WORD = re.compile(r"[^\W_]+")
HAN_RUN = re.compile(r"[\u4e00-\u9fff]{2,40}")
FIRST_YEAR, LAST_YEAR = 1900, 2100
NAMES_LIMIT = 200
# Nobody waits for more to be analysed: a message may be a whole book.
QUERY_CHARS = 4_000


@dataclass(frozen=True, slots=True)
class DateHint:
    """A date or a part of one; None: not said."""

    year: int | None = None
    month: int | None = None
    day: int | None = None

    def fits(self, when: datetime) -> float:
        """Return how well a time fits, 0 to 1: 0 if year or month is another, half if only the day is."""
        if (self.year or when.year) != when.year or (self.month or when.month) != when.month:
            return 0.0
        if self.day is None:
            return 0.75
        return 1.0 if abs(self.day - when.day) <= 1 else 0.25


def ends(text: str, most: int = QUERY_CHARS) -> str:
    """Return the text, or of a longer one the beginning and the end: there a message says what it asks."""
    half = most // 2
    return text if len(text) <= most else f"{text[:half]}\n{text[-half:]}"


def date_hint(query: str) -> DateHint | None:
    """Return the date that a query names: 2023-05-07, May 7 (2023), in May, 2023, 2023年5月7日, 5月."""
    for pattern in (ISO, CHINESE):
        for match in pattern.finditer(query):
            numbers = [None if part is None else int(part) for part in match.groups()]
            if numbers[0] or numbers[1]:
                return checked(*numbers)
    return english_date(WORD.findall(query))


def english_date(words: list[str]) -> DateHint | None:
    year = month = day = None
    for place, word in enumerate(words):
        if word.isdecimal() and FIRST_YEAR <= int(word) <= LAST_YEAR:
            year = int(word)
        number = MONTH_NUMBERS.get(word.lower())
        beside = [
            int(each) for each in words[max(0, place - 1) : place] + words[place + 1 : place + 2] if each.isdecimal()
        ]
        named = place == 0 or (words[place - 1].istitle() and words[place - 1].lower() not in ENGLISH)
        if number and (beside or word.lower() not in AMBIGUOUS or not (word in AMBIGUOUS or named)):
            month = number
            day = next((each for each in beside if 1 <= each <= 31), None)
    return checked(year, month, day)


def checked(year: int | None, month: int | None, day: int | None) -> DateHint | None:
    year = year if year and FIRST_YEAR <= year <= LAST_YEAR else None
    month = month if month and 1 <= month <= 12 else None
    return DateHint(year, month, day if month else None) if year or month else None


def possible_names(query: str) -> list[str]:
    """Return what in a query may be a tag: its words, two words in a row, pieces of two to four Chinese characters."""
    words = NAME_WORD.findall(query)
    names = [*words, *(f"{first} {second}" for first, second in pairwise(words))]
    for run in HAN_RUN.findall(query):
        names += [run[start : start + size] for size in (4, 3, 2) for start in range(len(run) - size + 1)]
    return list(dict.fromkeys(names))[:NAMES_LIMIT]


def without_names(query: str, names: list[str]) -> str:
    """Return the query without capitalised names, or as it is if nothing else remains.

    A name draws a vector towards whoever is spoken to or of, more than what is asked draws it to the answer.
    """
    rest = query
    for name in names:
        if name[:1].isupper():
            rest = re.sub(rf"(?<!\w){re.escape(name)}(?:['’]s)?(?!\w)", " ", rest)
    rest = " ".join(rest.split())
    return rest if NAME_WORD.search(rest) else query
