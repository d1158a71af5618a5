"""The commands of `my-agent memory`."""
