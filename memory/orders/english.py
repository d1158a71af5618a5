"""Orders in English to a later model: a verb, and in the words after it what it aims at.

Each verb opens a window of `WINDOW` words, so the search is linear.
"""

from __future__ import annotations

from memory.orders.clause import LEET, Words, is_last
from memory.orders.void import cancels_orders
from memory.orders.words import (
    ADDRESSED,
    ADVERBS,
    ARTICLES,
    ASIDE,
    ASKED,
    BARE,
    DROP,
    DROPPING,
    DROPPING_STARTS,
    ENDERS,
    FILLERS,
    FORCE,
    LOOSE,
    MODALS,
    NOT,
    NOT_PLURALS,
    OBEY,
    OBJECTS,
    ONE_RULE,
    PLACES,
    PREPOSITIONS,
    PRONOUNS,
    QUALIFIERS,
    QUANTIFIERS,
    STEMS,
    STOP,
    STOPS,
    STRONG,
    TELLING,
    TO_OBEY,
    TOLD,
    TRAITS,
    YOU,
)

__all__ = ["holds_english_order"]

WINDOW = 20
MOST_UNKNOWN = 3  # words between that mean nothing here


def holds_english_order(plain: str) -> bool:
    """Is there an order in the text? It must be in small letters, without accents and hidden characters."""
    letters = plain.translate(LEET)
    if not any(stem in letters for stem in STEMS):
        return False
    words = Words(plain)
    for at in range(len(words)):
        if (verb := _verb(words, at)) and _aims_at_orders(words, at + 1, forced=verb == "force"):
            return True
        if cancels_orders(words, at):
            return True
    return False


def _verb(words: Words, at: int) -> str:
    """Which kind of verb gives an order here: "drop", "force", or none."""
    word = words[at]
    before = words[at - 1] if at else "."
    if word in DROP:
        return "" if _is_harmless(words, at) else "drop"
    if word in FORCE:
        return "" if _is_harmless(words, at) else "force"
    if word in DROPPING:
        return "drop" if before in DROPPING_STARTS or before == "\n" else ""
    if word == "aside":
        return "drop" if before in ASIDE else ""
    if word in OBEY:
        at -= 1
        while at >= 0 and words[at] in TO_OBEY:
            at -= 1
        stops = at >= 0 and words[at] in STOP and (words[at] != "not" or words[at - 1] not in TELLING)
        return "drop" if stops else ""
    return ""


def _is_harmless(words: Words, at: int) -> bool:
    """Is the verb negated, or does it say what somebody does?"""
    at -= 1
    while at >= 0 and words[at] in ADVERBS:
        at -= 1
    if at < 0:
        return False
    word, before = words[at], words[at - 1] if at else "."
    if word == "to":
        return before in NOT or before in ("tend", "tends", "seem", "seems")
    if word in MODALS:
        return before not in ADDRESSED
    plural = len(word) > 3 and word[-1] == "s" and word[-2] != "s" and word not in NOT_PLURALS
    return word in NOT or plural


def _aims_at_orders(words: Words, start: int, *, forced: bool) -> bool:
    """Do the words after a verb name what a model was told before? `forced`: only what is all or yours."""
    traits: set[str] = set()
    unknown = 0
    for at in range(start, min(start + WINDOW, len(words))):
        word = words[at]
        if word in TRAITS:
            traits |= TRAITS[word]
            if not forced and not unknown and _stands_alone(words, at):
                return True
            unknown = 0 if word in QUALIFIERS else unknown
        elif word in OBJECTS:
            if _is_aimed_at(words, at, traits, forced=forced):
                return True
            unknown += 1
        elif unknown and (word in PREPOSITIONS or word in ARTICLES):  # "warnings from earlier rules" is about warnings
            return False
        elif word not in FILLERS and word not in PREPOSITIONS and not word.endswith("ly"):
            if not _goes_on(words, at, start):
                return False
            unknown += word not in ENDERS
        if unknown > MOST_UNKNOWN:
            return False
    return False


def _stands_alone(words: Words, at: int) -> bool:
    """Does the word mean what was told before without a noun: "the above", "everything you were told"?"""
    if words[at] in PRONOUNS:
        return _points_back(words, at + 1)
    return words[at] in BARE and is_last(words, at)


def _is_aimed_at(words: Words, at: int, traits: set[str], *, forced: bool) -> bool:
    """Does this object, with what was said of it, mean what a model was told before?"""
    word, last = words[at], is_last(words, at)
    if forced:
        return word in STRONG and last and traits >= {"all", "named"}
    if word in LOOSE:
        return last and (traits >= {"all", "named"} or ("system" in traits and word in ("message", "messages")))
    if "named" in traits or (word not in ONE_RULE and _points_back(words, at + 1)):
        return True
    return word in STRONG and ("system" in traits or (last and "all" in traits and word not in ASKED))


def _goes_on(words: Words, at: int, start: int) -> bool:
    """Does the window go on over this word, which is none of the known ones?"""
    word, before, after = words[at], words[at - 1], words[at + 1] if at + 1 < len(words) else "."
    if word in DROP:  # it has its own window
        return False
    if word == "\n":
        if at == start:
            return start == 1 or words[start - 2] in ENDERS
        return before in QUANTIFIERS or before in QUALIFIERS or before in FILLERS
    if word == ":":
        return at == start
    if word in STOPS:
        return False
    known = after in QUANTIFIERS or after in QUALIFIERS or after in FILLERS - {"then", "now"}
    known = known or (
        before not in ENDERS and at + 2 < len(words) and words[at + 2] in OBJECTS
    )  # "safety and other rules"
    return word not in ENDERS or known or (word == "," and after in PREPOSITIONS)


def _points_back(words: Words, start: int) -> bool:
    """Do the words say that the thing was told earlier: "you were given", "above", "so far"?"""
    you = False
    for at in range(start, min(start + 8, len(words))):
        word, after = words[at], words[at + 1] if at + 1 < len(words) else "."
        if word in STOPS or word in (",", "\n", "as"):
            return False
        you = you or word in YOU or (word == "to" and after == "you")
        if (you and word in TOLD) or (word in TOLD and words[at + 1 : at + 3] == ["to", "you"]):
            return True
        if word in ("precedes", "preceded", "precede") or (you and word == "have" and is_last(words, at)):
            return True
        if (word in PLACES and (is_last(words, at) or after == "this")) or (
            word == "system" and after in ("prompt", "message")
        ):
            return True
    return False
