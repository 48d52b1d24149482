"""How much of a text that was shown while it came must be there after its host was killed."""

from __future__ import annotations

import time
from collections.abc import Sequence

#: What the product promises to keep: all but the newest second, or 2 KB where that is less.
SECOND = 1.0
BYTES = 2048
#: How long a write may be under way while more text comes, in seconds; a busy machine takes longer.
WRITING = 0.5


def at_least(grown: Sequence[tuple[float, int]], killed: float | None = None, writing: float = WRITING) -> int:
    """The least length that must have been kept of a part that had grown like this, in (time, characters)."""
    killed = time.monotonic() if killed is None else killed
    shown = lambda before: max((length for at, length in grown if at <= killed - before), default=0)
    # A character is at most three bytes here; two would be counted by a product that counts characters.
    return max(shown(SECOND + writing), shown(writing) - BYTES)
