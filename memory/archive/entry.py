"""`Entry`: one kept fact under its key, and the rules its fields obey."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

__all__ = [
    "CONVERSATION",
    "CORE",
    "DAILY",
    "ArchiveInterrupted",
    "ArchiveRefusal",
    "ArchiveUnavailable",
    "Entry",
    "EntryMissing",
    "Filter",
    "Hit",
    "Slot",
    "check_text",
    "clean_category",
    "clean_content",
    "clean_key",
    "clean_metadata",
    "clean_tags",
    "moment",
    "slot",
    "ticks",
]

CORE, DAILY, CONVERSATION = "core", "daily", "conversation"
KEY_LIMIT = 256
CONTENT_LIMIT = 1_000_000
METADATA_LIMIT = 100_000
TAG_LIMIT, TAGS_LIMIT = 128, 64
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Slot = tuple[str, str, str]
CATEGORY = re.compile(r"\w[\w-]{0,63}")
CATEGORY_BYTES = 200
# Names that some file systems keep for devices: a category is a file name on the Markdown backend.
DEVICES = {"con", "prn", "aux", "nul"} | {f"{name}{digit}" for name in ("com", "lpt") for digit in range(10)}


class ArchiveRefusal(ValueError):
    """The request cannot be met as it stands; the text says why and what to do.

    ArchiveRefusal(ValueError)
    └── EntryMissing            no such key in what the asker may see
    ArchiveUnavailable(OSError)   the store is busy, damaged, full, read-only, newer or out of reach
    └── ArchiveInterrupted      it broke off, and kept nothing
    """


class EntryMissing(ArchiveRefusal):
    """No entry of this key is in what the asker may see."""


class ArchiveUnavailable(OSError):
    """The store itself cannot be used; the text names the file or server and says what to do."""

    done: Any = None
    # what was found or done all the same, where only a part could not be read


class ArchiveInterrupted(ArchiveUnavailable):
    """The store broke off and kept nothing of this block: running it once more may work."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One kept fact. `created` and `updated` are aware and in UTC."""

    key: str
    content: str
    category: str = CORE
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    owner: str = ""
    # the agent that first stored it
    session: str = ""
    # where it was stored; decides who sees a conversation entry
    created: datetime = EPOCH
    updated: datetime = EPOCH

    def as_json(self) -> dict[str, Any]:
        """Return the entry as the model sees it: without its session, times in ISO 8601."""
        return {
            "key": self.key,
            "content": self.content,
            "category": self.category,
            "tags": list(self.tags),
            "metadata": dict(self.metadata),
            "owner": self.owner,
            "created": self.created.isoformat().replace("+00:00", "Z"),
            "updated": self.updated.isoformat().replace("+00:00", "Z"),
        }


@dataclass(frozen=True, slots=True)
class Filter:
    """What a search is narrowed to: one category, and entries that bear all the tags."""

    category: str | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    entry: Entry
    score: float
    # 0..1, rounded to 4 digits


def slot(entry: Entry) -> Slot:
    """Return what an entry is one of a kind by: its owner, key, and session if it belongs to one."""
    return entry.owner, entry.key, f"session {entry.session}" if entry.category == CONVERSATION else ""


def ticks(when: datetime) -> int:
    """Return microseconds since 1970 in UTC: how the backends keep and compare times."""
    return (when - EPOCH) // timedelta(microseconds=1)


def moment(microseconds: int) -> datetime:
    return EPOCH + timedelta(0, 0, microseconds)


def clean_key(key: str) -> str:
    """Return the key in NFC, trimmed, its case kept. Raises `ArchiveRefusal` for a blank, long or unprintable one."""
    check_text("key", key)
    key = unicodedata.normalize("NFC", key).strip()
    if not key:
        raise ArchiveRefusal("key is blank: give the entry a name of 1 to 256 characters")
    if len(key) > KEY_LIMIT:
        raise ArchiveRefusal(f"key has {len(key)} characters, at most {KEY_LIMIT} are allowed: {key[:40]!r}...")
    if any(unicodedata.category(letter) in {"Cc", "Zl", "Zp"} for letter in key):
        raise ArchiveRefusal(f"key {key!r} holds a control character or line break: use printable characters")
    return key


def clean_content(content: str) -> str:
    """Return the content with LF line ends, without blank lines before and blanks after it."""
    check_text("content", content)
    content = content.replace("\r\n", "\n").replace("\r", "\n").rstrip()
    content = re.sub(r"\A(?:[^\S\n]*\n)+", "", content)
    if not content:
        raise ArchiveRefusal("content is blank: say what is to be kept")
    if len(content) > CONTENT_LIMIT:
        raise ArchiveRefusal(f"content has {len(content)} characters, at most {CONTENT_LIMIT} are allowed: split it")
    return content


def clean_category(category: str) -> str:
    """Return the category in NFC and lower case: core, daily, conversation or a name of one's own."""
    check_text("category", category)
    category = unicodedata.normalize("NFC", unicodedata.normalize("NFC", category).strip().lower())
    if not CATEGORY.fullmatch(category) or category in DEVICES or len(category.encode()) > CATEGORY_BYTES:
        raise ArchiveRefusal(
            f"category {category[:80]!r} cannot be used: take core, daily, conversation or a name of your own of "
            f"1 to 64 letters, digits, _ and - (at most {CATEGORY_BYTES} bytes) that is not a device name"
        )
    return category


def clean_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Return the tags in NFC, trimmed, without doubles, in order. Raises `ArchiveRefusal` for a blank or long one."""
    for tag in tags:
        check_text("tags", tag)
        if not tag.strip():
            raise ArchiveRefusal("tags: one is blank: leave it out")
        if len(tag) > TAG_LIMIT:
            raise ArchiveRefusal(f"tags: {tag[:40]!r}... has {len(tag)} characters, at most {TAG_LIMIT} are allowed")
    kept = tuple(dict.fromkeys(unicodedata.normalize("NFC", tag).strip() for tag in tags))
    if len(kept) > TAGS_LIMIT:
        raise ArchiveRefusal(f"tags: {len(kept)} are too many, at most {TAGS_LIMIT} are allowed")
    return kept


def clean_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy that is plain JSON: what every backend gives back unchanged."""
    try:
        text = json.dumps(metadata, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ArchiveRefusal(f"metadata cannot be written as JSON: {error}") from error
    check_text("metadata", text.replace("\\\\", "").replace("\\u0000", "\0"))  # a backslash itself stands there twice
    if len(text) > METADATA_LIMIT:
        raise ArchiveRefusal(f"metadata has {len(text)} characters as JSON, at most {METADATA_LIMIT} are allowed")
    copy: dict[str, Any] = json.loads(text)
    return copy


def check_text(name: str, text: object) -> None:
    """Refuse what no backend can keep alike: what is no text, NUL and halves of a surrogate pair."""
    if not isinstance(text, str):
        raise ArchiveRefusal(f"{name} is {text!r}, which is no text")
    if "\0" in text:
        raise ArchiveRefusal(f"{name} holds a NUL character: remove it")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ArchiveRefusal(f"{name} holds half of a surrogate pair at {error.start}: it is not valid text") from error
