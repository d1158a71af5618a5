"""What can end a turn early.

AgentFailure (RuntimeError)         .kind is the word `--json` reports
├── ModelFailure                    .status, .retryable, .retry_after_s
│   ├── KeyRefused                  "auth": key missing or refused (401, 403, some 400)
│   ├── ProviderFailed              "provider": 402, 429, 5xx, dropped or unreadable streams; may be retried
│   │   └── EmptyAnswer             "empty": neither text nor calls
│   └── RequestRefused              "refused": any other 4xx; asking again would not help
│       └── ContextOverflow         "context": the request is longer than the model's window (.limit_tokens)
└── SessionUnavailable              "session": the session file is in use or cannot be read
"""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "AgentFailure",
    "ContextOverflow",
    "EmptyAnswer",
    "KeyRefused",
    "ModelFailure",
    "ProviderFailed",
    "RequestRefused",
    "SessionUnavailable",
]


class AgentFailure(RuntimeError):
    kind: ClassVar[str] = "internal"


class ModelFailure(AgentFailure):
    """The model gave no usable answer. The text is a whole sentence and holds no key."""

    kind = "provider"

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        retryable: bool = False,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retryable = retryable
        self.retry_after_s = retry_after_s
        # A lower bound that the server asked for


class KeyRefused(ModelFailure):
    kind = "auth"


class ProviderFailed(ModelFailure):
    kind = "provider"


class EmptyAnswer(ProviderFailed):
    kind = "empty"


class RequestRefused(ModelFailure):
    kind = "refused"


class ContextOverflow(RequestRefused):
    kind = "context"

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        limit_tokens: int | None = None,
        sent_tokens: int | None = None,
    ) -> None:
        super().__init__(message, status=status)
        self.limit_tokens = limit_tokens
        # The model's window, where the server named it
        self.sent_tokens = sent_tokens
        # The size of the request as the server counted it: of the messages alone where it says so


class SessionUnavailable(AgentFailure):
    kind = "session"
