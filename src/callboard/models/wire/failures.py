"""What went wrong, in the stable codes of the contracts.

The library sorts what providers answer into classes; what remains is to tell a silence, a cut and garbage apart, and to say
what a person can do. The wording of an error is read for the length of a wait alone.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, cast
from urllib.parse import urlsplit

import httpx2
from pydantic_ai import exceptions as lib

from callboard.contracts.errors import Code
from callboard.contracts.ports.model import ModelFailure

from .endpoint import Endpoint
from .quota import quota_of
from .waits import named_wait

_LONGEST_QUOTE = 500
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_UNDECODABLE = (json.JSONDecodeError, UnicodeDecodeError, httpx2.DecodingError)
#: What reading an answer of another shape ends in: the SDK builds its objects without checking them.
_MISSHAPEN = (AttributeError, KeyError, IndexError, TypeError, ValueError, OverflowError)
_STATUS_TIMEOUT = 408
_LIMITED: frozenset[Code] = frozenset({"model_quota", "model_rate_limited"})

#: The first class that fits decides.
_CATEGORIES: tuple[tuple[type[lib.ModelAPIError], Code, bool], ...] = (
    (lib.ModelAuthenticationError, "model_auth", False),
    (lib.ModelContextWindowExceededError, "model_context_full", False),
    (lib.ModelNotFoundError, "unknown_model", False),
    (lib.ModelRequestRejectedError, "model_refused_request", False),
    # An account whose quota is used up is not served later either.
    (lib.ModelQuotaExceededError, "model_quota", False),
    (lib.ModelRateLimitError, "model_rate_limited", True),
    (lib.ModelUnavailableError, "model_unavailable", True),
    (lib.ModelServerError, "model_unavailable", True),
)


class NotAStreamError(Exception):
    """The server answered a streamed request with a page or a document."""


class RedirectedError(Exception):
    """The server points to another address. `path` is what was asked for, `to` the address without what may be secret in it,
    empty where it is none."""

    def __init__(self, response: httpx2.Response) -> None:
        self.path = response.request.url.path
        self.to = ""
        with suppress(httpx2.InvalidURL):
            to = response.request.url.join(response.headers.get("location", ""))
            self.to = str(to.copy_with(userinfo=b"", query=None, fragment=None))
        super().__init__("the server points to another address")


class Answer:
    """How far one request came. `arrived` is set once the server accepted it and sent its `headers` (names in lower case),
    which are there for a refusal as well."""

    def __init__(self) -> None:
        self.arrived = False
        self.headers: dict[str, str] = {}


#: The answer that the request under way in this context waits for; the HTTP client's hook finds it here.
awaited: ContextVar[Answer | None] = ContextVar("awaited", default=None)


async def note_arrival(response: httpx2.Response) -> None:
    """Response hook: notes that the answer has begun, and that it is one. Raises NotAStreamError, RedirectedError."""
    answer = awaited.get()
    if answer is not None:
        answer.headers = {name.lower(): value for name, value in response.headers.items()}
    if response.has_redirect_location:
        raise RedirectedError(response)
    if not response.is_success:
        return
    if answer is not None:
        answer.arrived = True
    media = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    # Only what cannot be a stream: some servers send events under other names, or none.
    if media in {"text/html", "application/json"}:
        raise NotAStreamError(f"{media} instead of a stream of events")


@contextmanager
def as_failures(endpoint: Endpoint, answer: Answer) -> Generator[None]:
    """Raises ModelFailure for whatever the server, the network or the answer did; what is our own fault passes through."""
    try:
        yield
    except (
        lib.ModelAPIError,
        lib.UnexpectedModelBehavior,
        httpx2.HTTPError,
        NotAStreamError,
        RedirectedError,
    ) as error:
        failure = _failure(error, endpoint, answer)
    except _MISSHAPEN:
        if not answer.arrived:
            raise
        failure = _garbled("an event of another shape than a piece of an answer", endpoint)
    else:
        return
    # The cause may quote the key; all that is worth keeping of it is in the message.
    raise failure from None


def _failure(error: Exception, endpoint: Endpoint, answer: Answer) -> ModelFailure:
    causes = list(_causes(error))
    if (page := next((one for one in causes if isinstance(one, NotAStreamError)), None)) is not None:
        said = f"{endpoint.provider} answered with {page}. Check the base URL {endpoint.base_url}."
        return ModelFailure("model_garbled", said, retryable=False)
    if (redirected := next((one for one in causes if isinstance(one, RedirectedError)), None)) is not None:
        return ModelFailure("model_unavailable", _pointed(redirected, endpoint), retryable=False)
    if (undecodable := next((one for one in causes if isinstance(one, _UNDECODABLE)), None)) is not None:
        return _garbled(str(undecodable), endpoint)
    if isinstance(error, lib.ModelAPIError):
        for category, code, retryable in _CATEGORIES:
            if isinstance(error, category):
                limits = quota_of(answer.headers)
                after = error.retry_after
                if retryable:
                    after = named_wait(after, limits, error.body, _message_in(error.body))
                refused = quota_of(answer.headers, retry_after=after, exhausted=code == "model_quota")
                limited = code in _LIMITED
                said = _quoted(error, endpoint)
                return ModelFailure(
                    code, said, retryable=retryable, retry_after=after, quota=refused if limited else None
                )
    if isinstance(error, lib.ModelConnectionError | httpx2.HTTPError):
        return _transport(error, causes, endpoint, answer)
    if isinstance(error, lib.ModelHTTPError) and not error.in_stream:
        timeout = error.status_code == _STATUS_TIMEOUT
        code: Code = "model_timeout" if timeout else "model_refused_request"
        return ModelFailure(code, _quoted(error, endpoint), retryable=timeout, retry_after=error.retry_after)
    if isinstance(error, lib.ModelAPIError) and error.in_stream:
        return ModelFailure("model_unavailable", _quoted(error, endpoint), retryable=True)
    return cut(endpoint, "the stream ended before the answer did")


def _transport(error: Exception, causes: list[BaseException], endpoint: Endpoint, answer: Answer) -> ModelFailure:
    phase = error.phase if isinstance(error, lib.ModelConnectionError) else None
    silent = any(isinstance(one, httpx2.ReadTimeout | httpx2.WriteTimeout) for one in causes)
    if silent:
        said = f"{endpoint.provider} sent nothing for {endpoint.idle_timeout:g} seconds."
        return ModelFailure("model_timeout", said, retryable=True)
    reason = str(causes[-1]) or type(causes[-1]).__name__
    if answer.arrived and phase not in {"connect", "pool"}:
        return cut(endpoint, reason)
    said = f"{endpoint.provider} cannot be reached at {endpoint.base_url}: {reason.rstrip('.')}."
    is_local = any(isinstance(one, httpx2.ConnectError | ConnectionRefusedError) for one in causes)
    is_local = is_local and urlsplit(endpoint.base_url).hostname in _LOOPBACK
    return ModelFailure("model_unavailable", endpoint.redact(said), retryable=True, is_local=is_local)


def _pointed(redirected: RedirectedError, endpoint: Endpoint) -> str:
    asked = redirected.path.removeprefix(urlsplit(endpoint.base_url).path.rstrip("/"))
    to = endpoint.redact(redirected.to)[:_LONGEST_QUOTE] or "another address"
    mend = "Set base_url to where it is now."
    if asked and to.endswith(asked):
        mend = f'Set base_url = "{to.removesuffix(asked)}" if that is where it is now.'
    return f"{endpoint.provider} points to {to}, which was not followed. {mend}"


def ended_badly(endpoint: Endpoint, reason: str, *, code: Code = "model_unavailable") -> ModelFailure:
    """The provider ended its answer and says that it went wrong."""
    return ModelFailure(code, f"{endpoint.provider} ended its answer with {reason}.", retryable=True)


def cut(endpoint: Endpoint, reason: str) -> ModelFailure:
    """The answer is not whole."""
    said = endpoint.redact(f"The answer of {endpoint.provider} was cut off: {reason}")
    return ModelFailure("model_cut_stream", said, retryable=True)


def _garbled(reason: str, endpoint: Endpoint) -> ModelFailure:
    said = endpoint.redact(f"{endpoint.provider} sent what cannot be read: {reason}")[:_LONGEST_QUOTE]
    return ModelFailure("model_garbled", said, retryable=True)


def _quoted(error: lib.ModelAPIError, endpoint: Endpoint) -> str:
    status = f" {error.status_code}" if isinstance(error, lib.ModelHTTPError) else " with an error"
    text = _message_in(error.body)
    said = f"{endpoint.provider} answered{status}: {text}" if text else f"{endpoint.provider} answered{status}."
    return endpoint.redact(said)[:_LONGEST_QUOTE]


def _message_in(body: object) -> str:
    """What the server says of the error: servers differ in where they put it."""
    if isinstance(body, str):
        return body.strip()
    if not isinstance(body, dict):
        return ""
    fields = cast("dict[str, Any]", body)
    found = fields.get("message") or fields.get("error") or fields.get("detail")
    return _message_in(found)


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__
