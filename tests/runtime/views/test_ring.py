"""The ring of a stream: who follows it gets everything, in as few writes as there is time for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from callboard.contracts.live import Cursor
from callboard.contracts.rows import Op, Remove
from callboard.runtime.views.ring import Ring, encode
from tests.runtime.rigs.house import PATIENCE

FOLLOWERS = 100


def change(name: str) -> list[Op]:
    return [Remove("queue", name)]


def written(sequence: int) -> bytes:
    return encode("ops", Cursor(sequence), change(str(sequence)))


async def next_of(streams: list[AsyncGenerator[bytes]]) -> set[bytes]:
    """The next chunk of each, those that are equal once."""
    async with asyncio.timeout(PATIENCE):
        return set(await asyncio.gather(*(anext(stream) for stream in streams)))


async def test_many_followers_get_what_comes_in_quick_succession_in_one_write() -> None:
    """UI-30: the first news is told at once, what follows on its heels together, and nothing is left out."""
    ring = Ring(Cursor(0), 1_000_000, list[Op])
    streams = [ring.follow(None) for _ in range(FOLLOWERS)]
    assert await next_of(streams) == {encode("snapshot", Cursor(0), [])}
    ring.push(Cursor(1), change("1"))
    assert await next_of(streams) == {written(1)}
    ring.push(Cursor(2), change("2"))
    ring.push(Cursor(3), change("3"))
    assert await next_of(streams) == {written(2) + written(3)}
    for stream in streams:
        await stream.aclose()


async def test_followers_at_different_places_each_get_what_comes_after_theirs() -> None:
    """UI-34: bytes that are joined once are those of one place only."""
    ring = Ring(Cursor(0), 1_000_000, list[Op])
    for sequence in (1, 2, 3):
        ring.push(Cursor(sequence), change(str(sequence)))
    places = [ring.follow(Cursor(sequence)) for sequence in (0, 1, 2, 0)]
    async with asyncio.timeout(PATIENCE):
        chunks = [await anext(place) for place in places]
    assert chunks == [
        written(1) + written(2) + written(3),
        written(2) + written(3),
        written(3),
        written(1) + written(2) + written(3),
    ]
    for place in places:
        await place.aclose()


async def test_a_ring_that_is_closed_ends_its_streams_with_what_had_still_to_be_told_left_to_the_next() -> None:
    """CTL-10: a client that comes back goes on from its cursor."""
    ring = Ring(Cursor(0), 1_000_000, list[Op])
    stream = ring.follow(Cursor(0))
    ring.push(Cursor(1), change("1"))
    async with asyncio.timeout(PATIENCE):
        assert await anext(stream) == written(1)
        ring.push(Cursor(2), change("2"))
        ring.close()
        assert [chunk async for chunk in stream] == []


async def test_what_no_client_can_still_need_is_forgotten_and_a_client_that_was_away_longer_gets_a_snapshot() -> None:
    """R8: a session that is followed and quiet keeps no operations. The newest cursor is served all the same."""
    ring = Ring(Cursor(0), 1_000_000, list[Op])
    for sequence in (1, 2):
        ring.push(Cursor(sequence), change(str(sequence)))
    ring.drop_older(age=60)
    young, late, newest = ring.follow(Cursor(1)), ring.follow(Cursor(1)), ring.follow(Cursor(2))
    async with asyncio.timeout(PATIENCE):
        assert await anext(young) == written(2)
        ring.drop_older(age=0)
        assert await anext(late) == encode("snapshot", Cursor(2), [])
        waiting = asyncio.ensure_future(anext(newest))
        await asyncio.sleep(0)
        ring.push(Cursor(3), change("3"))
        assert {await waiting, await anext(young), await anext(late)} == {written(3)}
    for stream in (young, late, newest):
        await stream.aclose()
