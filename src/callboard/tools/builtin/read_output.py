"""The tool ReadOutput: pages of stored output. The runtime reads the output."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from callboard.contracts.entities.arguments import Arguments
from callboard.contracts.tools import READ_OUTPUT

NAME = READ_OUTPUT
DESCRIPTION = "Read more of an earlier call's output whose result was truncated. Offsets are in bytes."
#: Maximum size of a page, in bytes.
MAX_PAGE_BYTES = 48 * 1024


class ReadOutputArguments(Arguments, frozen=True, kw_only=True):
    """Arguments of ReadOutput."""

    call_id: Annotated[
        str, Meta(description="Id of the call, from its result.", min_length=1, max_length=64, pattern=r"^[\w.:-]+$")
    ]
    offset: Annotated[int, Meta(description="First byte to read, from 0.", ge=0)] = 0
    limit: Annotated[int, Meta(description="Maximum number of bytes.", ge=1, le=MAX_PAGE_BYTES)] = MAX_PAGE_BYTES


def format_page(data: bytes, arguments: ReadOutputArguments, size: int) -> str:
    """Return the page as text with its position. Skip a character that the page splits."""
    end = arguments.offset + len(data)
    more = f"; continue with offset {end}" if end < size else ""
    return f"{data.decode('utf-8', 'ignore')}\n\n[bytes {arguments.offset} to {end} of {size}{more}]"
