"""`failure_of_connection`: a connection that could not be made or broke, as the failure it is.

The exceptions of the HTTP package are known by their names: which package that is changes between versions of the
client, and it is never imported for its own sake.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator

from agent.failures import ModelFailure, ProviderFailed

__all__ = ["failure_of_connection"]


def failure_of_connection(error: BaseException, *, base_url: str, timeout_s: float) -> ModelFailure:
    """Return the `ProviderFailed` that `error` stands for; asking again may help unless the address is wrong."""
    chain = list(_chain(error))
    names = {kind.__name__ for link in chain for kind in type(link).__mro__}
    text, retryable = _words(chain, names, base_url, timeout_s)
    return ProviderFailed(text, retryable=retryable)


def _words(chain: list[BaseException], names: set[str], base_url: str, timeout_s: float) -> tuple[str, bool]:
    for link in chain:
        if isinstance(link, socket.gaierror):
            text = f"The host of {base_url} was not found (DNS: {link.strerror}). Check the base URL and the network"
            return text, link.errno == socket.EAI_AGAIN
        if isinstance(link, ssl.SSLCertVerificationError):
            advice = "use an https:// base URL" if base_url.startswith("http:") else "check the address and its CA"
            return f"The certificate of {base_url} was refused (TLS: {link.verify_message}); {advice}", False
        if isinstance(link, ssl.SSLError) and link.reason is not None:
            return f"No TLS connection to {base_url} ({link.reason}); check whether it speaks https", False
        if isinstance(link, ConnectionRefusedError):
            return f"Nothing answers at {base_url} (connection refused). Check that the server runs", True
    if "ConnectTimeout" in names:
        return f"No connection to {base_url} came about in time", True
    if "TimeoutException" in names or any(isinstance(link, TimeoutError) for link in chain):
        return f"The provider said nothing for {timeout_s:g} s (timeout)", True
    if "ProxyError" in names:
        return f"The proxy on the way to {base_url} refused: {chain[-1]}", True
    if "InvalidURL" in names or "UnsupportedProtocol" in names:
        return f"{base_url} is not a base URL: {chain[-1]}", False
    last = chain[-1]
    return f"The connection to {base_url} broke ({type(last).__name__}: {str(last) or 'no more is known'})", True


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what it was raised from, its own causes last."""
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        link = waiting.pop(0)
        if id(link) in seen:
            continue
        seen.add(id(link))
        yield link
        if isinstance(link, BaseExceptionGroup):
            waiting += link.exceptions
        waiting += [cause for cause in (link.__cause__, link.__context__) if cause is not None]
