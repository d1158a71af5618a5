"""The files of the workspace, as tools: `tools.files.make`."""
