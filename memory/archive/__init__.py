"""The archive: keyed memory behind five tools."""
