"""Failures of a call with stable codes.

The library classifies a provider's errors. This module also separates timeouts, truncated streams and invalid data. Error
texts are parsed for a wait only.
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
from .quota import read_quota
from .waits import read_wait

_MAX_QUOTE_CHARS = 500
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_UNDECODABLE = (json.JSONDecodeError, UnicodeDecodeError, httpx2.DecodingError)
#: Errors of reading an invalid response, because the SDK builds its objects unchecked.
_MISSHAPEN = (AttributeError, KeyError, IndexError, TypeError, ValueError, OverflowError)
_STATUS_TIMEOUT = 408
_LIMITED: frozenset[Code] = frozenset({"model_quota", "model_rate_limited"})

#: The first class that fits decides.
_CATEGORIES: tuple[tuple[type[lib.ModelAPIError], Code, bool], ...] = (
    (lib.ModelAuthenticationError, "model_auth", False),
    (lib.ModelContextWindowExceededError, "model_context_full", False),
    (lib.ModelNotFoundError, "unknown_model", False),
    (lib.ModelRequestRejectedError, "model_refused_request", False),
    # A later attempt also exceeds the account's quota.
    (lib.ModelQuotaExceededError, "model_quota", False),
    (lib.ModelRateLimitError, "model_rate_limited", True),
    (lib.ModelUnavailableError, "model_unavailable", True),
    (lib.ModelServerError, "model_unavailable", True),
)


class NotAStreamError(Exception):
    """The server responded to a streaming request with a page or a document."""


class RedirectedError(Exception):
    """The server redirects. `path` is the requested one; `to` is the new address without secrets, empty if invalid."""

    def __init__(self, response: httpx2.Response) -> None:
        self.path = response.request.url.path
        self.to = ""
        with suppress(httpx2.InvalidURL):
            to = response.request.url.join(response.headers.get("location", ""))
            self.to = str(to.copy_with(userinfo=b"", query=None, fragment=None))
        super().__init__("the server redirects to another address")


class ResponseProgress:
    """The progress of a request: its response headers (names in lower case), and whether the server accepted it."""

    def __init__(self) -> None:
        self.arrived = False
        self.headers: dict[str, str] = {}


#: The response to the request of this context, for the HTTP client's hook.
current_response: ContextVar[ResponseProgress | None] = ContextVar("current_response", default=None)


async def check_response(response: httpx2.Response) -> None:
    """Record that the response has begun. A response hook. Raises NotAStreamError, RedirectedError."""
    progress = current_response.get()
    if progress is not None:
        progress.headers = {name.lower(): value for name, value in response.headers.items()}
    if response.has_redirect_location:
        raise RedirectedError(response)
    if not response.is_success:
        return
    if progress is not None:
        progress.arrived = True
    media = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    # Other types may be streams: some servers send a wrong type, or none.
    if media in {"text/html", "application/json"}:
        raise NotAStreamError(f"{media} instead of an event stream")


@contextmanager
def convert_failures(endpoint: Endpoint, progress: ResponseProgress) -> Generator[None]:
    """Raise ModelFailure for errors of the server, the network or the response. Other errors pass."""
    try:
        yield
    except (
        lib.ModelAPIError,
        lib.UnexpectedModelBehavior,
        httpx2.HTTPError,
        NotAStreamError,
        RedirectedError,
    ) as error:
        failure = _convert(error, endpoint, progress)
    except _MISSHAPEN:
        if not progress.arrived:
            raise
        failure = _build_garbled_failure("an event is not a piece of a response", endpoint)
    else:
        return
    # The cause is not chained, because it may quote the key.
    raise failure from None


def _convert(error: Exception, endpoint: Endpoint, progress: ResponseProgress) -> ModelFailure:
    causes = list(_list_causes(error))
    if (page := next((cause for cause in causes if isinstance(cause, NotAStreamError)), None)) is not None:
        message = f"{endpoint.provider} responded with {page}. Check the base URL {endpoint.base_url}."
        return ModelFailure("model_garbled", message, retryable=False)
    if (redirected := next((cause for cause in causes if isinstance(cause, RedirectedError)), None)) is not None:
        return ModelFailure("model_unavailable", _describe_redirect(redirected, endpoint), retryable=False)
    if (undecodable := next((cause for cause in causes if isinstance(cause, _UNDECODABLE)), None)) is not None:
        return _build_garbled_failure(str(undecodable), endpoint)
    if isinstance(error, lib.ModelAPIError):
        for category, code, retryable in _CATEGORIES:
            if isinstance(error, category):
                after = error.retry_after
                if retryable:
                    after = read_wait(after, read_quota(progress.headers), error.body, _read_message(error.body))
                quota = read_quota(progress.headers, retry_after=after, exhausted=code == "model_quota")
                return ModelFailure(
                    code,
                    _describe(error, endpoint),
                    retryable=retryable,
                    retry_after=after,
                    quota=quota if code in _LIMITED else None,
                )
    if isinstance(error, lib.ModelConnectionError | httpx2.HTTPError):
        return _convert_transport(error, causes, endpoint, progress)
    if isinstance(error, lib.ModelHTTPError) and not error.in_stream:
        timeout = error.status_code == _STATUS_TIMEOUT
        code: Code = "model_timeout" if timeout else "model_refused_request"
        return ModelFailure(code, _describe(error, endpoint), retryable=timeout, retry_after=error.retry_after)
    if isinstance(error, lib.ModelAPIError) and error.in_stream:
        return ModelFailure("model_unavailable", _describe(error, endpoint), retryable=True)
    return build_truncated_failure(endpoint, "the stream ended before the response did")


def _convert_transport(
    error: Exception, causes: list[BaseException], endpoint: Endpoint, progress: ResponseProgress
) -> ModelFailure:
    phase = error.phase if isinstance(error, lib.ModelConnectionError) else None
    if any(isinstance(cause, httpx2.ReadTimeout | httpx2.WriteTimeout) for cause in causes):
        message = f"{endpoint.provider} sent nothing for {endpoint.idle_timeout:g} seconds."
        return ModelFailure("model_timeout", message, retryable=True)
    reason = str(causes[-1]) or type(causes[-1]).__name__
    if progress.arrived and phase not in {"connect", "pool"}:
        return build_truncated_failure(endpoint, reason)
    message = f"{endpoint.provider} cannot be reached at {endpoint.base_url}: {reason.rstrip('.')}."
    is_local = urlsplit(endpoint.base_url).hostname in _LOOPBACK and any(
        isinstance(cause, httpx2.ConnectError | ConnectionRefusedError) for cause in causes
    )
    return ModelFailure("model_unavailable", endpoint.redact(message), retryable=True, is_local=is_local)


def _describe_redirect(redirected: RedirectedError, endpoint: Endpoint) -> str:
    path = redirected.path.removeprefix(urlsplit(endpoint.base_url).path.rstrip("/"))
    to = endpoint.redact(redirected.to)[:_MAX_QUOTE_CHARS] or "another address"
    hint = "Set base_url to the new address."
    if path and to.endswith(path):
        hint = f'If that is the new address, set base_url = "{to.removesuffix(path)}".'
    return f"{endpoint.provider} redirects to {to}, which was not followed. {hint}"


def build_aborted_failure(endpoint: Endpoint, reason: str, *, code: Code = "model_unavailable") -> ModelFailure:
    """Return the failure of a response that the provider aborted."""
    return ModelFailure(code, f"{endpoint.provider} ended its response with {reason}.", retryable=True)


def build_truncated_failure(endpoint: Endpoint, reason: str) -> ModelFailure:
    """Return the failure of a truncated response."""
    message = endpoint.redact(f"The response of {endpoint.provider} was truncated: {reason}")
    return ModelFailure("model_cut_stream", message, retryable=True)


def _build_garbled_failure(reason: str, endpoint: Endpoint) -> ModelFailure:
    message = endpoint.redact(f"{endpoint.provider} sent an invalid response: {reason}")[:_MAX_QUOTE_CHARS]
    return ModelFailure("model_garbled", message, retryable=True)


def _describe(error: lib.ModelAPIError, endpoint: Endpoint) -> str:
    status = str(error.status_code) if isinstance(error, lib.ModelHTTPError) else "an error"
    text = _read_message(error.body)
    message = f"{endpoint.provider} responded with {status}" + (f": {text}" if text else ".")
    return endpoint.redact(message)[:_MAX_QUOTE_CHARS]


def _read_message(body: object) -> str:
    """Return the server's message from any of the common fields."""
    if isinstance(body, str):
        return body.strip()
    if not isinstance(body, dict):
        return ""
    fields = cast("dict[str, Any]", body)
    return _read_message(fields.get("message") or fields.get("error") or fields.get("detail"))


def _list_causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__
