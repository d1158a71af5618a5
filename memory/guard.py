"""What may not become memory, and what on disk no model may see. Pure functions, linear in the length of the text."""

from __future__ import annotations

from memory.credentials import credential_kind
from memory.hidden import hidden_character
from memory.orders import holds_order

__all__ = ["blocked", "holds_delimiter_line", "reason_to_hide", "reason_to_refuse", "shown"]

DELIMITER = "§"


def reason_to_refuse(text: str) -> str | None:
    """Return why the text may not be stored, as a sentence with what to do; None where it may.

    Refused: lone surrogates, NUL, characters that hide text, orders to a later model, private keys and API keys.
    Delimiter lines are a matter of the file: see `holds_delimiter_line`.
    """
    if "\x00" in text:
        return "the text holds a NUL character; send it without"
    if not _is_whole(text):
        return "the text holds half a character (a lone surrogate) and cannot be written as UTF-8; send it again whole"
    if character := hidden_character(text):
        return f"the text holds {character}, an invisible character that can hide text; send it without"
    if holds_order(text):
        return (
            "the text reads as an order to a later model to ignore what it was told; memory holds facts: "
            "say what is true instead"
        )
    if kind := credential_kind(text):
        return (
            f"the text holds {kind}; secrets do not belong in memory: put it in the environment (a variable or a "
            "secret store) and remember only its name"
        )
    return None


def reason_to_hide(text: str) -> str | None:
    """Return why no model may see this text from disk, in a few words; None where it may."""
    if hidden_character(text):
        return "invisible characters that can hide text"
    if holds_order(text):
        return "an order to a later model"
    return None


def shown(text: str) -> str:
    """Return the text as a model may see it: as it is, or a `[blocked: ...]` line in its place."""
    reason = reason_to_hide(text)
    return blocked(reason) if reason else text


def blocked(reason: str) -> str:
    """Return the line that stands in the place of a text that no model may see."""
    return f"[blocked: {reason}; it is on disk, where a person can look at it and remove it]"


def holds_delimiter_line(text: str) -> bool:
    """Is there a line that holds only `§` and blanks? A file of entries is divided there."""
    return DELIMITER in text and any(line.strip() == DELIMITER for line in text.split("\n"))


def _is_whole(text: str) -> bool:
    """Can the text be written as UTF-8?"""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
