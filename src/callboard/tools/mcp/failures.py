"""Codes and texts of failed connections to servers."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import httpx2
from mcp import MCPError
from pydantic import ValidationError

from callboard.contracts.errors import Code

from ..files.paths import display


def list_errors(error: BaseException) -> list[BaseException]:
    """Return all errors of a group, or the error itself."""
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return [leaf for inner in group.exceptions for leaf in list_errors(inner)]
    return [error]


def to_code(error: BaseException) -> Code:
    """Return the code for a failed connection."""
    return (
        "server_unavailable"
        if any(isinstance(leaf, OSError | httpx2.HTTPError) for leaf in list_errors(error))
        else "server_failed"
    )


def describe(error: BaseException, redact: Callable[[str], str], seconds: float) -> str:
    """Return why a connection failed. `redact` redacts a server's text; `seconds` is the timeout."""
    first = list_errors(error)[0]
    match first:
        case TimeoutError():
            return f"it did not complete the handshake within {seconds:g} s"
        case MCPError():
            return f"it reported: {display(redact(first.message), 300)}"
        case httpx2.ConnectError():
            return "nothing answers at its address"
        case ValidationError():
            return "its response does not follow the protocol"
        case _:
            return f"{display(redact(str(first)), 300) or type(first).__name__}"
