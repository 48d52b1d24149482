"""Slices of long work, between which the event loop runs other work (R4)."""

from __future__ import annotations

import asyncio
import time

from callboard.runtime.slices import split_pages, yield_in_slices


async def turns_during(seconds: float, items: int) -> int:
    """Return how often other work ran during `count` items of that many processor seconds."""
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(others())
    worked = [item async for item in _worked(seconds, items)]
    other.cancel()
    assert worked == list(range(items))
    return turns


async def _worked(seconds: float, items: int):
    async for item in yield_in_slices(range(items)):
        until = time.thread_time() + seconds
        while time.thread_time() < until:
            pass
        yield item


async def test_r4_other_work_runs_between_long_items() -> None:
    assert await turns_during(0.003, 20) >= 19


async def test_r4_short_items_are_not_delayed() -> None:
    assert await turns_during(0.0, 20) <= 2


def test_pages_contain_all_items_in_order() -> None:
    assert [list(page) for page in split_pages(range(7), 3)] == [[0, 1, 2], [3, 4, 5], [6]]
