"""Why nothing came of it, and what that says of what was sent."""

from __future__ import annotations

import httpx
from a2a.utils.errors import A2AError
from google.protobuf.json_format import ParseError

from callboard.contracts.ports.external import ExternalFailure
from callboard.contracts.text.redactor import without_secrets

#: What comes of an answer that is cut off, garbled or refused.
BROKEN = (A2AError, httpx.HTTPError, httpx.StreamError, ParseError, ValueError, KeyError, TypeError, AttributeError)


def describe_error(error: BaseException) -> str:
    """What is said of it, without what looks like a secret."""
    return without_secrets(" ".join(str(error).split())[:300]) or type(error).__name__


def _answered(error: Exception) -> bool:
    """True where the agent did answer, and refused."""
    cause = error.__cause__
    if isinstance(cause, httpx.HTTPStatusError):
        return cause.response.status_code < 500
    return isinstance(error, A2AError) and cause is None


def _never_left(error: Exception) -> bool:
    """True where what was sent cannot have come there."""
    return isinstance(error.__cause__, httpx.ConnectError | httpx.ConnectTimeout)


def message_failure(error: Exception) -> ExternalFailure:
    """Of a message after which the agent named no task."""
    if not _answered(error):
        return unreachable(describe_error(error), retryable=_never_left(error))
    return ExternalFailure("remote_refused", f"The agent elsewhere did not take it: {describe_error(error)}")


def unreachable(reason: str, *, retryable: bool = False) -> ExternalFailure:
    """Without `retryable` what was sent may have been taken."""
    known = "" if retryable else " Whether it took what was sent is not known."
    return ExternalFailure(
        "remote_unavailable", f"The agent elsewhere is not reached: {reason}{known}", retryable=retryable
    )
