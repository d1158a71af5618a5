"""How well the archive recalls: questions about long conversations (LoCoMo), each turn of a dialogue an entry.

    python benchmarks/locomo.py PATH.json               recall@10 and nDCG@10, by words and hybrid with the local model
    python benchmarks/locomo.py PATH.json --signals     and what each signal of `memory/archive/rank.py` is worth
    python benchmarks/locomo.py PATH.json --text        by words only, without the local model

How a turn becomes an entry, the same for every conversation: its number is the key, the speaker is the one tag, what
was said is the content (after a caption, if a picture was shown), it belongs to the session in which it was said, and
was created at the session's time, a second after the turn before it. Each conversation has an owner of its own, under
access control. Nothing is fitted to the file: the weights stand in the product. Questions that have no answer in the
conversation (category 5) are left out, as in the literature; their recall of the turn they play on is the last column.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from memory.archive import AccessPolicy, Archive, Embedder, Entry, Principal, SqliteBackend, make_embedder, rank, words

FIRST = 10
UNANSWERABLE = 5
# A signal is switched off by these names and values.
SIGNALS: Mapping[str, Mapping[Any, Mapping[str, Any]]] = {
    "neighbours in time": {rank: {"ECHO": {1: 0.0, 2: 0.0}}},
    "name of a tag": {rank: {"NAME_GAIN": 0.0}},
    "dates": {rank: {"DATE_GAIN": 0.0}},
    "statements before questions": {rank: {"QUESTION_LOSS": 0.0}},
    "stems": {words: {"STEM_WEIGHT": 0.0}},
    "prefixes": {words: {"PREFIX_WEIGHT": 0.0}},
}


def entries(conversation: Mapping[str, Any]) -> Iterator[Entry]:
    for place, turn in enumerate(conversation["entries"]):
        when = datetime.fromisoformat(turn["at"]).replace(tzinfo=UTC) + timedelta(seconds=place)
        caption = f"[{turn['caption']}]\n" if turn.get("caption") else ""
        yield Entry(
            key=turn["id"],
            content=caption + turn["text"],
            tags=(turn["speaker"],),
            owner=conversation["name"],
            session=f"session-{turn['session']}",
            created=when,
            updated=when,
        )


class Remembered:
    """An embedder that embeds each text once, however often it is asked."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder, self._known = embedder, dict[tuple[str, bool], list[float]]()
        self.identity, self.dimensions = embedder.identity, embedder.dimensions

    async def embed(self, texts: Any, *, query: bool) -> list[list[float]]:
        fresh = [text for text in dict.fromkeys(texts) if (text, query) not in self._known]
        for text, vector in zip(fresh, await self._embedder.embed(fresh, query=query) if fresh else [], strict=True):
            self._known[text, query] = vector
        return [self._known[text, query] for text in texts]


class Figures:
    def __init__(self) -> None:
        self.recall: list[float] = []
        self.gain: list[float] = []
        self.misleading: list[float] = []

    def add(self, found: list[str], evidence: set[str], category: int) -> None:
        recall = len(evidence & set(found)) / len(evidence)
        if category == UNANSWERABLE:
            self.misleading.append(recall)
            return
        gained = sum(1 / math.log2(place + 2) for place, key in enumerate(found) if key in evidence)
        ideal = sum(1 / math.log2(place + 2) for place in range(min(FIRST, len(evidence))))
        self.recall.append(recall)
        self.gain.append(gained / ideal)

    def __str__(self) -> str:
        means = (sum(some) / max(len(some), 1) for some in (self.recall, self.gain, self.misleading))
        return "{:10.3f}{:10.3f}{:14.3f}".format(*means)


async def ask(archive: Archive, conversations: list[Mapping[str, Any]], search_type: Any) -> Figures:
    figures = Figures()
    for conversation in conversations:
        who = Principal(conversation["name"])
        keys = {turn["id"] for turn in conversation["entries"]}
        for question in conversation["questions"]:
            evidence = set(question["evidence"]) & keys
            if evidence:
                found = await archive.search(who, question["question"], limit=FIRST, search_type=search_type)
                figures.add([hit.entry.key for hit in found.hits], evidence, question["category"])
    return figures


async def measure(conversations: list[Mapping[str, Any]], folder: Path, options: argparse.Namespace) -> None:
    embedder = None if options.text else Remembered(make_embedder("local"))
    archive = Archive(SqliteBackend(folder / "archive.db"), embedder=embedder, access=AccessPolicy(enabled=True))
    for conversation in conversations:
        await archive.put_all(entries(conversation))
    if embedder:
        started = time.monotonic()
        await archive.reindex(lambda done, total: print(f"\r{done} of {total} entries", end="", file=sys.stderr))
        print(f" embedded in {time.monotonic() - started:.0f} s", file=sys.stderr)
    kinds = ["text"] if options.text else ["text", "hybrid"]
    print(f"{'':<40}{'recall@10':>10}{'nDCG@10':>10}{'unanswerable':>14}")
    for kind in kinds:
        print(f"{kind:<40}{await ask(archive, conversations, kind)}", flush=True)
    for name, changes in SIGNALS.items() if options.signals else ():
        for kind in kinds:
            print(f"{f'{kind} without {name}':<40}{await without(changes, archive, conversations, kind)}", flush=True)
    await archive.close()


async def without(changes: Mapping[Any, Mapping[str, Any]], *asked: Any) -> Figures:
    kept = {(module, name): getattr(module, name) for module, values in changes.items() for name in values}
    for module, values in changes.items():
        vars(module).update(values)
    try:
        return await ask(*asked)
    finally:
        for (module, name), value in kept.items():
            setattr(module, name, value)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("path", type=Path, help="a JSON file of conversations")
    parser.add_argument("--text", action="store_true", help="by words only")
    parser.add_argument("--signals", action="store_true", help="also without each signal in turn")
    options = parser.parse_args()
    conversations = json.loads(options.path.read_text(encoding="utf-8"))["conversations"]
    with tempfile.TemporaryDirectory(prefix="locomo-") as folder:
        asyncio.run(measure(conversations, Path(folder), options))


if __name__ == "__main__":
    main()
