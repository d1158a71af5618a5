"""`Address`: where an embedding provider listens, and how messages name it."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

__all__ = ["Address", "address_of"]

DEFAULT_PORTS = {"http": 80, "https": 443}
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Address:
    scheme: str
    host: str
    port: int
    path: str
    # Without a slash at its end.

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == DEFAULT_PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.path}"

    @property
    def loopback(self) -> bool:
        return self.host in LOOPBACK


def address_of(base_url: str) -> Address:
    """Take a base URL apart. Raises ValueError, without showing a password that stands in it."""
    shown = base_url.rpartition("@")[2]
    try:
        parts = urlsplit(base_url.strip())
        port = parts.port or DEFAULT_PORTS.get(parts.scheme, 0)
    except ValueError as error:
        raise ValueError(f"base_url {shown!r} is not a URL: write one such as 'http://127.0.0.1:11434'") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"base_url {shown!r} is not a web address: write one such as 'http://127.0.0.1:11434'")
    if parts.username is not None or parts.password is not None:
        raise ValueError(
            f"base_url for {shown!r} holds a name or password: name an environment variable in api_key_env"
        )
    if parts.query or parts.fragment:
        raise ValueError(f"base_url {shown!r} holds a '?' or '#': leave out what comes after the path")
    return Address(parts.scheme, parts.hostname, port, parts.path.rstrip("/"))
