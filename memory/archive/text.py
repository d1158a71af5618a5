"""The one text analyser: what an entry is found by, and what a query asks for, on every backend."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from urllib.parse import quote

from memory.archive.entry import Entry, Filter
from memory.archive.stopwords import ENGLISH, GLUE, NAME

__all__ = [
    "Terms",
    "Word",
    "analyse",
    "category_term",
    "filter_terms",
    "fold",
    "pack",
    "query_words",
    "stem",
    "tag_term",
    "unpack",
]

TERM_LIMIT = 64
WORDS_LIMIT = 256
TF_LIMIT, LENGTH_LIMIT = 255, 65_535
KANA_MARKS = "\u3099\u309a"
# Han, kana, hangul, Thai, Lao, Burmese, Khmer: written without blanks between words, so taken as singles and pairs.
PAIRED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u1000-\u103f\u1050-\u108f\u1780-\u17d3\u1100-\u11ff\u3005\u3007\u3040-\u30fa"
    "\u30fc-\u30ff\u3100-\u318f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
# Vowel signs that are no letters to `\w` but stand inside words (Hebrew, Arabic, scripts of India and Tibet).
SIGNS = (
    "\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0903\u093a-\u094f\u0981-\u0983\u09bc-\u09cd\u0a01-\u0a03"
    "\u0a3c-\u0a4d\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b4d\u0b82\u0bbe-\u0bcd\u0c00-\u0c04\u0c3c-\u0c4d"
    "\u0c81-\u0c83\u0cbc-\u0ccd\u0d00-\u0d03\u0d3b-\u0d4d\u0d82-\u0d83\u0dca-\u0df3\u0f71-\u0f84"
)
# Letters that bear no mark of their own but are written so in other languages.
PLAIN_LETTERS = str.maketrans(
    {"đ": "d", "ð": "d", "ø": "o", "ł": "l", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"}
)
# Before a capital inside a word: userId, HTTPServer (and not IDs).
HUMP = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=\d)(?=[A-Z][a-z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
# No token holds one.
GAP = " "
ALONE = re.compile(f"(?<![^{GAP}])[^{GAP}](?![^{GAP}])")
TOKEN = re.compile(f"([{PAIRED}]+)|((?:(?![{PAIRED}])(?:[^\\W_]|[{SIGNS}]))+)")


@dataclass(frozen=True, slots=True)
class Terms:
    """An analysed entry: how often each term stands in it, and how many words and characters it has."""

    counts: Mapping[str, int]
    # at most 255 each; filter terms (first character `#`) among them
    length: int
    # at most 65,535; filter terms do not count


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a query. `paired`: of a script without blanks, so it matches whole only. `sure`: it is surely one."""

    text: str
    paired: bool = False
    sure: bool = True


def fold(text: str) -> str:
    """Return the text in its plain form: compatibility forms, case and marks gone, kana voicing kept."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    text = "".join(letter for letter in text if letter in KANA_MARKS or not unicodedata.combining(letter))
    return unicodedata.normalize("NFKC", text).translate(PLAIN_LETTERS)


def analyse(entry: Entry) -> Terms:
    """Return the terms of key, content and tags, and the filter terms of category and tags.

    A key like userTimezone or HTTPServer is found by its parts, too.
    """
    counts: Counter[str] = Counter()
    length = 0
    parts = HUMP.sub(" ", entry.key)
    for paired, text in tokens("\n".join([entry.key, *([parts] * (parts != entry.key)), entry.content, *entry.tags])):
        if paired:
            counts.update(text)
            counts.update(first + second for first, second in pairwise(text))
            length += len(text)
        else:
            counts[text] += 1
            length += 1
    for term in (category_term(entry.category), *map(tag_term, entry.tags)):
        counts[term] = 1
    return Terms({term: min(count, TF_LIMIT) for term, count in counts.items()}, min(length, LENGTH_LIMIT))


def tokens(text: str) -> Iterator[tuple[bool, str]]:
    """Give runs of paired script (True) and words (False) in order, folded."""
    for match in TOKEN.finditer(fold(text)):
        run, word = match.groups()
        yield (True, run) if run else (False, word[:TERM_LIMIT])


def query_words(query: str) -> list[Word]:
    """Return the distinct words asked for, in order, of more than 256 the first and last.

    Function words (English, Chinese) are left out when others remain, unless they are written as names.
    """
    shouted = query.isascii() and query.isupper()
    names = set() if shouted else {found[0].lower() for found in NAME.finditer(query)}
    words: dict[str, Word] = {}
    every: dict[str, Word] = {}
    for paired, text in tokens(query):
        if paired:
            every |= {word.text: word for word in pieces(text, text)}
            some = list(pieces(text, GLUE.sub(lambda found: GAP * len(found[0]), text)))
        else:
            every[text] = Word(text)
            some = [Word(text)] if text not in ENGLISH else [Word(text, sure=False)] if text in names else []
        words |= {word.text: word for word in some if word.sure or word.text not in words}
    chosen = list((words or every).values())
    half = WORDS_LIMIT // 2
    return chosen if len(chosen) <= WORDS_LIMIT else chosen[:half] + chosen[-half:]


def pieces(run: str, cut: str) -> Iterator[Word]:
    """Give the pairs of a run of paired script, and each character that stands alone.

    `cut` is the run with a gap at each function character. A pair of two of them is none, and one that holds one is
    not sure: 吉他 is a word, 猫的 is none.
    """
    alone = {match.start() for match in ALONE.finditer(cut)}
    for place, character in enumerate(run):
        if place in alone:
            yield Word(character, paired=True)
        pair = cut[place : place + 2]
        if len(pair) == 2 and pair != 2 * GAP:
            yield Word(run[place : place + 2], paired=True, sure=GAP not in pair)


def category_term(category: str) -> str:
    return f"#c:{category}"


def tag_term(tag: str) -> str:
    """Return the filter term of a tag: exact, so not folded; free of blanks and `*`."""
    return f"#t:{quote(tag, safe='')}"


def filter_terms(chosen: Filter) -> list[str]:
    """Return the terms an entry must all have to pass the filter."""
    category = [] if chosen.category is None else [category_term(chosen.category)]
    return category + [tag_term(tag) for tag in chosen.tags]


def pack(terms: Terms) -> str:
    """Return the terms as one line of text: `length term term*count ...`."""
    parts = (term if count == 1 else f"{term}*{count}" for term, count in terms.counts.items())
    return f"{terms.length} {' '.join(parts)}"


def unpack(line: str) -> Terms:
    length, *parts = line.split(" ")
    counts: dict[str, int] = {}
    for part in parts:
        term, star, count = part.partition("*")
        counts[term] = int(count) if star else 1
    return Terms(counts, int(length))


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """Return the English stem; words of paired script and filter terms are their own."""
    return english()(word) if word.isascii() and word.isalpha() else word


@lru_cache(maxsize=1)
def english() -> Callable[[str], str]:
    # 60 ms, so only when words are first compared.
    import snowballstemmer  # type: ignore[import-untyped]

    stemmer = snowballstemmer.stemmer("english")
    return lambda word: str(stemmer.stemWord(word))
