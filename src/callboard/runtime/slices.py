"""Helpers that split long work so that the event loop stays responsive."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import Final, TypeVar

#: Processor seconds after which the event loop runs other work.
SLICE_SECONDS: Final = 0.002
#: Number of facts that are folded together.
FACTS: Final = 25

T = TypeVar("T")


async def yield_in_slices(items: Iterable[T]) -> AsyncGenerator[T]:
    """Yield the items, and let the event loop run other work after each slice."""
    since = time.thread_time()
    for item in items:
        yield item
        if time.thread_time() - since >= SLICE_SECONDS:
            await asyncio.sleep(0)
            since = time.thread_time()


def split_pages(items: Sequence[T], size: int = FACTS) -> Iterable[Sequence[T]]:
    """Return the items in pages of `size`."""
    return (items[at : at + size] for at in range(0, len(items), size))
