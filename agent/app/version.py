"""`VERSION`: the number of this release; the same as in pyproject.toml."""

__all__ = ["VERSION"]

VERSION = "0.1.0"
