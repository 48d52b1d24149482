"""ReadOutput: pages of an earlier call's output. The runtime reads the stored output."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from callboard.contracts.entities.arguments import Arguments
from callboard.contracts.tools import READ_OUTPUT

NAME = READ_OUTPUT
DESCRIPTION = "Read more of an earlier call's output if its result was truncated. Offsets are in bytes."
#: Maximum size of a page, in bytes.
LARGEST_PAGE = 48 * 1024


class ReadOutputArguments(Arguments, frozen=True, kw_only=True):
    """Arguments of ReadOutput."""

    call_id: Annotated[
        str, Meta(description="The call, as its result named it.", min_length=1, max_length=64, pattern=r"^[\w.:-]+$")
    ]
    offset: Annotated[int, Meta(description="The first byte to read, from 0.", ge=0)] = 0
    limit: Annotated[int, Meta(description="How many bytes to read.", ge=1, le=LARGEST_PAGE)] = LARGEST_PAGE


def format_page(data: bytes, asked: ReadOutputArguments, size: int) -> str:
    """Return the page as text with its position. A character that the page cuts is left out."""
    end = asked.offset + len(data)
    more = f"; read on with offset {end}" if end < size else ""
    return f"{data.decode('utf-8', 'ignore')}\n\n[bytes {asked.offset} to {end} of {size}{more}]"
