"""`failure_of_connection`: a connection that could not be made or broke, as the failure it is."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator

from agent.failures import ModelFailure, ProviderFailed

__all__ = ["failure_of_connection"]


def failure_of_connection(error: BaseException, *, base_url: str, timeout_s: float) -> ModelFailure:
    """Return the `ProviderFailed` that `error` stands for; asking again may help unless the address is wrong."""
    chain = list(_chain(error))
    for link in chain:
        if isinstance(link, socket.gaierror):
            text = f"The host of {base_url} was not found (DNS: {link.strerror}). Check the base URL and the network"
            return ProviderFailed(text, retryable=link.errno == socket.EAI_AGAIN)
        if isinstance(link, ssl.SSLCertVerificationError):
            text = f"The certificate of {base_url} was refused (TLS: {link.verify_message}); check the address"
            return ProviderFailed(text)
        if isinstance(link, ssl.SSLError) and link.reason is not None:
            return ProviderFailed(f"No TLS connection to {base_url} ({link.reason}); check whether it speaks https")
        if isinstance(link, ConnectionRefusedError):
            text = f"Nothing answers at {base_url} (connection refused). Check that the server runs"
            return ProviderFailed(text, retryable=True)
    # The HTTP package is known by names: which package that is changes between versions of the client
    names = {kind.__name__ for link in chain for kind in type(link).__mro__}
    if "ConnectTimeout" in names:
        return ProviderFailed(f"No connection to {base_url} came about in time", retryable=True)
    if "TimeoutException" in names or "TimeoutError" in names:
        return ProviderFailed(f"The provider said nothing for {timeout_s:g} s (timeout)", retryable=True)
    why = f"{type(chain[-1]).__name__}: {str(chain[-1]) or 'no more is known'}"
    return ProviderFailed(f"The connection to {base_url} broke ({why})", retryable=True)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """The error and what it was raised from."""
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for inner in error.exceptions:
                yield from _chain(inner)
        error = error.__cause__ or error.__context__
