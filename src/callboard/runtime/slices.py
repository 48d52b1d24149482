"""Long work in pieces, between which other work of the event loop gets its turn."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import Final, TypeVar

#: Seconds of the processor that work takes before others get their turn.
SLICE_S: Final = 0.002
#: Facts that are folded at once where what they lead to belongs together.
FACTS: Final = 25

T = TypeVar("T")


async def in_slices(items: Iterable[T]) -> AsyncGenerator[T]:
    """Yield the items, and let other work go on where those so far took long."""
    since = time.thread_time()
    for item in items:
        yield item
        if time.thread_time() - since >= SLICE_S:
            await asyncio.sleep(0)
            since = time.thread_time()


def pages(items: Sequence[T], size: int = FACTS) -> Iterable[Sequence[T]]:
    """Return the items, so many at a time."""
    return (items[at : at + size] for at in range(0, len(items), size))
