"""`set_up_logs`: what libraries log is for whoever asks with -v; a person gets sentences instead."""

from __future__ import annotations

import logging
import sys

__all__ = ["set_up_logs"]

NOISY = ("openai", "httpx", "httpx2", "httpcore", "httpcore2", "asyncio", "filelock", "markdown_it")


def set_up_logs(verbose: int) -> None:
    """Show warnings on stderr with -v, everything with -vv, and nothing without."""
    handler = logging.StreamHandler(sys.stderr) if verbose else logging.NullHandler()
    handler.setFormatter(_Redacting("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.DEBUG if verbose > 1 else logging.WARNING)
    for name in NOISY:
        logging.getLogger(name).setLevel(logging.INFO if verbose > 1 else logging.WARNING)


class _Redacting(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        from agent.redact import redact

        return redact(super().format(record))
