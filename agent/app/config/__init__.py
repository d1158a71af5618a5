"""The configuration: where settings come from, how they are checked, and who may set them."""

from agent.app.config.config import Config, load_config, project_file, user_file

__all__ = ["Config", "load_config", "project_file", "user_file"]
