"""The words the model reads."""

from prompts.template import render

__all__ = ["render"]
