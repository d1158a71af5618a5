"""Orders in English that begin with what they cancel: "all previous instructions are void"."""

from __future__ import annotations

from memory.orders.clause import Words, is_last
from memory.orders.words import (
    ALL_OR_YOURS,
    CANCELLED,
    COUNT,
    ENDERS,
    MUST,
    NOT,
    PLACES,
    QUALIFIERS,
    STOPS,
    STRONG,
)

__all__ = ["cancels_orders"]


def cancels_orders(words: Words, at: int) -> bool:
    """Does the word at this place begin the name of earlier instructions that are said to be void?"""
    return (words[at] in QUALIFIERS and _is_void(words, at)) or (words[at] in STRONG and _must_be_void(words, at))


def _is_void(words: Words, at: int) -> bool:
    """Is it said of all or of your earlier instructions that they are void?"""
    first = at == 0 or words[at - 1] in STOPS or words[at - 1] in (",", "\n")
    if not first and not ALL_OR_YOURS.intersection(words[max(0, at - 4) : at]):
        return False
    window = words[at : at + 10]
    stop = next((index for index, word in enumerate(window) if word in STOPS), len(window))
    window = window[:stop]
    named = next((index for index, word in enumerate(window[:4]) if word in STRONG), None)
    if named is None:
        return False
    rest = window[named + 1 :]
    for index, word in enumerate(rest):
        negated = any(earlier in NOT for earlier in rest[:index])
        if first and not (word in COUNT and negated and is_last(words, at + named + 1 + index)):
            continue
        if (word in CANCELLED and not negated) or (word in COUNT and negated):
            return True
        if word == "longer" and index and rest[index - 1] == "no":
            return True
    return False


def _must_be_void(words: Words, at: int) -> bool:
    """Is it said of the instructions above, or of earlier ones, that they must be ignored?"""
    earlier = at > 0 and words[at - 1] in QUALIFIERS
    for place in range(at + 1, min(at + 6, len(words) - 2)):
        word = words[place]
        if word in MUST:
            named = earlier or any(before in PLACES for before in words[at + 1 : place])
            return named and words[place + 1] == "be" and words[place + 2] in CANCELLED and is_last(words, place + 2)
        if word in ENDERS:
            return False
    return False
