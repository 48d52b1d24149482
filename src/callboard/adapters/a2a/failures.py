"""Conversion of protocol and network errors to `ExternalFailure`."""

from __future__ import annotations

import httpx
from a2a.utils.errors import A2AError
from google.protobuf.json_format import ParseError

from callboard.contracts.ports.external import ExternalFailure
from callboard.contracts.text.redactor import mask_secrets

#: What an interrupted, malformed or rejected response raises.
BROKEN = (A2AError, httpx.HTTPError, httpx.StreamError, ParseError, ValueError, KeyError, TypeError, AttributeError)


def describe_error(error: BaseException) -> str:
    """Return the error's message on one line, without anything that looks like a secret."""
    return mask_secrets(" ".join(str(error).split())[:300]) or type(error).__name__


def build_message_failure(error: Exception) -> ExternalFailure:
    """Return the failure of a message that the agent did not respond to with a task."""
    if not _is_rejection(error):
        return build_unreachable_failure(describe_error(error), retryable=_is_unsent(error))
    return ExternalFailure("remote_refused", f"The remote agent rejected the message: {describe_error(error)}")


def build_unreachable_failure(reason: str, *, retryable: bool = False) -> ExternalFailure:
    """Return the failure of an agent that cannot be reached.

    Args:
        retryable: True if the agent cannot have received the message.
    """
    uncertainty = "" if retryable else " It may have received the message."
    message = f"Cannot reach the remote agent: {reason}{uncertainty}"
    return ExternalFailure("remote_unavailable", message, retryable=retryable)


def _is_rejection(error: Exception) -> bool:
    cause = error.__cause__
    if isinstance(cause, httpx.HTTPStatusError):
        return cause.response.status_code < 500
    return isinstance(error, A2AError) and cause is None


def _is_unsent(error: Exception) -> bool:
    return isinstance(error.__cause__, httpx.ConnectError | httpx.ConnectTimeout)
