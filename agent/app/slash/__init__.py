"""The commands of a chat: what begins with `/`."""
