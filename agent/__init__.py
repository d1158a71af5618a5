"""The one that thinks."""
