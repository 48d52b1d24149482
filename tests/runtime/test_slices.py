"""Long work in slices (R4): what else the event loop has to do goes on meanwhile."""

from __future__ import annotations

import asyncio
import time

from callboard.runtime.slices import in_slices, pages


async def turns_during(seconds: float, items: int) -> int:
    """How often other work had its turn while so many items each took so many seconds of the processor."""
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(others())
    taken = [item async for item in _worked(seconds, items)]
    other.cancel()
    assert taken == list(range(items))
    return turns


async def _worked(seconds: float, items: int):
    async for item in in_slices(range(items)):
        until = time.thread_time() + seconds
        while time.thread_time() < until:
            pass
        yield item


async def test_r4_others_have_their_turn_between_items_that_take_long() -> None:
    assert await turns_during(0.003, 20) >= 19


async def test_r4_items_that_take_no_time_are_not_held_up() -> None:
    assert await turns_during(0.0, 20) <= 2


def test_pages_hold_all_items_in_their_order() -> None:
    assert [list(page) for page in pages(range(7), 3)] == [[0, 1, 2], [3, 4, 5], [6]]
