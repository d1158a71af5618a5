"""The files of the workspace, as tools."""

from tools.files.make import make_file_tools

__all__ = ["make_file_tools"]
