"""Failures of a connection to a server, as codes and text."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import httpx2
from mcp import MCPError
from pydantic import ValidationError

from callboard.contracts.errors import Code

from ..files.paths import display


def list_errors(error: BaseException) -> list[BaseException]:
    """Return the errors of a group and of its groups, or the error itself."""
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return [leaf for one in group.exceptions for leaf in list_errors(one)]
    return [error]


def to_code(error: BaseException) -> Code:
    """Return the code for a failed connection."""
    return (
        "server_unavailable"
        if any(isinstance(one, OSError | httpx2.HTTPError) for one in list_errors(error))
        else "server_failed"
    )


def describe(error: BaseException, safe: Callable[[str], str], patience: float) -> str:
    """Return why a connection failed. `safe` redacts a server's text; `patience` is in seconds."""
    first = list_errors(error)[0]
    match first:
        case TimeoutError():
            return f"it did not say within {patience:g} s who it is"
        case MCPError():
            return f"it said {display(safe(first.message), 300)}"
        case ValidationError():
            return "it answered with what is none of the protocol's"
        case _:
            return f"{display(safe(str(first)), 300) or type(first).__name__}"
