"""Why a file tool refuses, in words for the model.

FileRefused(ValueError)
├── PathRefused     the path is outside, protected, or not what the tool is for
└── EditRefused     the edit is not clear or not possible
"""

from __future__ import annotations

__all__ = ["EditRefused", "FileRefused", "PathRefused"]


class FileRefused(ValueError):
    """Nothing was changed."""


class PathRefused(FileRefused):
    """The text names the path, and never what is behind one that is closed."""


class EditRefused(FileRefused):
    """The text says what would make the edit clear."""
