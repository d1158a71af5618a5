"""Markdown as it streams in, styled for a terminal."""

from __future__ import annotations

from agent.app.markdown.blocks import MarkdownStream

__all__ = ["MarkdownStream"]
