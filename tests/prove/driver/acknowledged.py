"""Least length of a streamed text after its host was killed."""

from __future__ import annotations

import time
from collections.abc import Sequence

#: The product's promise: everything except the newest second or 2 KB, whichever is less.
SECOND = 1.0
BYTES = 2048
#: Seconds that a write may take while more text arrives. A busy machine takes longer.
WRITING = 0.5


def at_least(grown: Sequence[tuple[float, int]], killed: float | None = None, writing: float = WRITING) -> int:
    """Return the least length of a part that grew like this, in (time, characters)."""
    killed = time.monotonic() if killed is None else killed
    length_before = lambda before: max((length for at, length in grown if at <= killed - before), default=0)
    # A character has at most three bytes here. A product that counts characters would count two.
    return max(length_before(SECOND + writing), length_before(writing) - BYTES)
