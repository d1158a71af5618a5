"""`ModelChoice`: which model answers, at which address, with which key; and why."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from agent.app.config import Config
from agent.app.exits import ConfigProblem
from agent.failures import KeyRefused

if TYPE_CHECKING:
    from agent.messages import Model

__all__ = ["ModelChoice", "choose_model"]


class _Preset(NamedTuple):
    base_url: str
    key_env: str
    # Empty: no key is needed
    model: str


_PRESETS = {
    "auto": _Preset("", "OPENAI_API_KEY", "gpt-5-mini"),
    "openai": _Preset("", "OPENAI_API_KEY", "gpt-5-mini"),
    "deepseek": _Preset("https://api.deepseek.com", "DEEPSEEK_API_KEY", "deepseek-chat"),
    "ollama": _Preset("http://127.0.0.1:11434/v1", "", ""),
}
_REPLAY = {"deepseek": True, "openai": False}  # whether reasoning goes back to the server; else the client decides


class ModelChoice(NamedTuple):
    offline: bool
    name: str = ""
    base_url: str = ""
    # Empty: api.openai.com
    key_env: str = ""
    # The variable that was looked at; empty: no key is needed
    key: str = ""

    def named(self, name: str) -> ModelChoice:
        """Return the same server with another model; the embedded rules give way to one."""
        key_env = self.key_env or ("OPENAI_API_KEY" if self.offline else "")
        return self._replace(name=name, offline=False, key_env=key_env)

    def build(self, config: Config, *, cache_key: str = "", warm: bool = False) -> Model:
        """Make the client; with `warm`, load all that it needs now. Raises `KeyRefused` where the key is missing."""
        if self.offline:
            from agent.offline import OfflineModel

            return OfflineModel()
        if self.key_env and not self.key:
            raise KeyRefused(
                f"The API key is missing: the environment variable {self.key_env} is not set. "
                "Set it, or name another one in provider.api_key_env"
            )
        from agent.model import OpenAIModel  # only where a model is asked

        provider = config.settings.provider
        model = OpenAIModel(
            self.name,
            base_url=self.base_url or None,
            api_key=self.key or None,
            timeout_s=provider.timeout_s,
            replay_reasoning=_REPLAY.get(provider.kind),
            extra_body=provider.extra_body or None,
            cache_key=cache_key,
        )
        if warm:
            model.warm_up()
        return model


def choose_model(config: Config, *, offline: bool = False, env: Mapping[str, str] = os.environ) -> ModelChoice:
    """Choose from the settings and the environment.

    Without a model, a key or an address that anybody configured, the embedded rules answer. Raises `ConfigProblem`
    where an address has no model.
    """
    provider = config.settings.provider
    preset = _PRESETS[provider.kind]
    address = provider.base_url or preset.base_url
    key_env, key = _find_key(config, env)
    if offline or not (key or provider.base_url or provider.model or provider.kind != "auto"):
        return ModelChoice(offline=True, name="offline")
    name = provider.model or (preset.model if not provider.base_url else "")
    if not name:
        raise ConfigProblem(
            f"provider.model is missing: {address} has models of its own; name one with -m or OPENAI_MODEL"
        )
    if not key and address and not provider.api_key_env and preset.key_env != "DEEPSEEK_API_KEY":
        key_env = ""  # a server of one's own seldom wants a key, and says so if it does
    return ModelChoice(False, name, address, key_env, key)


def _find_key(config: Config, env: Mapping[str, str]) -> tuple[str, str]:
    """Return the variable that holds the key, and the key. Keys go to the provider they belong to, and no other."""
    provider = config.settings.provider
    if provider.api_key_env:
        return provider.api_key_env, env.get(provider.api_key_env, "")
    own = _PRESETS[provider.kind].key_env
    for name in [own, "OPENAI_API_KEY"] if provider.base_url else [own]:
        if name and env.get(name):
            return name, env[name]
    return own, ""
