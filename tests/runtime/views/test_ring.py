"""The ring of a stream: followers receive everything in few writes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from callboard.contracts.live import Cursor
from callboard.contracts.rows.base import Op, Remove
from callboard.runtime.views.ring import Ring, encode
from tests.runtime.rigs.runtime_rig import PATIENCE

FOLLOWERS = 100
REPLAY = 30.0


def change(name: str) -> list[Op]:
    return [Remove("queue", name)]


def encoded_change(sequence: int) -> bytes:
    return encode("ops", Cursor(sequence), change(str(sequence)))


async def read_next_chunks(streams: list[AsyncGenerator[bytes]]) -> set[bytes]:
    """Return the next chunk of each follower, equal ones once."""
    async with asyncio.timeout(PATIENCE):
        return set(await asyncio.gather(*(anext(stream) for stream in streams)))


async def test_many_followers_receive_quick_operations_in_one_write() -> None:
    """UI-30: the first operation is sent at once, later ones together, and none is omitted."""
    ring = Ring(Cursor(0), 1_000_000, list[Op], REPLAY)
    streams = [ring.follow(None) for _ in range(FOLLOWERS)]
    assert await read_next_chunks(streams) == {encode("snapshot", Cursor(0), [])}
    ring.push(Cursor(1), change("1"))
    assert await read_next_chunks(streams) == {encoded_change(1)}
    ring.push(Cursor(2), change("2"))
    ring.push(Cursor(3), change("3"))
    assert await read_next_chunks(streams) == {encoded_change(2) + encoded_change(3)}
    for stream in streams:
        await stream.aclose()


async def test_followers_at_different_cursors_each_receive_later_operations() -> None:
    """UI-34: joined bytes belong to one cursor only."""
    ring = Ring(Cursor(0), 1_000_000, list[Op], REPLAY)
    ring.hold()
    for sequence in (1, 2, 3):
        ring.push(Cursor(sequence), change(str(sequence)))
    places = [ring.follow(Cursor(sequence)) for sequence in (0, 1, 2, 0)]
    async with asyncio.timeout(PATIENCE):
        chunks = [await anext(place) for place in places]
    assert chunks == [
        encoded_change(1) + encoded_change(2) + encoded_change(3),
        encoded_change(2) + encoded_change(3),
        encoded_change(3),
        encoded_change(1) + encoded_change(2) + encoded_change(3),
    ]
    for place in places:
        await place.aclose()


async def test_a_closed_ring_ends_its_streams_and_clients_continue_from_their_cursor() -> None:
    """CTL-10: a returning client continues from its cursor."""
    ring = Ring(Cursor(0), 1_000_000, list[Op], REPLAY)
    ring.hold()
    stream = ring.follow(Cursor(0))
    ring.push(Cursor(1), change("1"))
    async with asyncio.timeout(PATIENCE):
        assert await anext(stream) == encoded_change(1)
        ring.push(Cursor(2), change("2"))
        ring.close()
        assert [chunk async for chunk in stream] == []


async def test_nothing_is_kept_while_no_client_can_continue() -> None:
    """R8: a session without a client keeps no operations."""
    ring = Ring(Cursor(0), 1_000_000, list[Op], REPLAY)
    ring.push(Cursor(1), change("1"))
    stream = ring.follow(Cursor(0))
    async with asyncio.timeout(PATIENCE):
        assert await anext(stream) == encode("snapshot", Cursor(1), [])
    await stream.aclose()

    ring.push(Cursor(2), change("2"))
    returned = ring.follow(Cursor(1))

    async with asyncio.timeout(PATIENCE):
        assert await anext(returned) == encoded_change(2)
    await returned.aclose()


async def test_old_operations_are_dropped_and_later_clients_get_a_snapshot() -> None:
    """R8: a quiet session keeps no operations. The newest cursor stays valid."""
    ring = Ring(Cursor(0), 1_000_000, list[Op], REPLAY)
    ring.hold()
    for sequence in (1, 2):
        ring.push(Cursor(sequence), change(str(sequence)))
    ring.drop_older(age=60)
    young, late, newest = ring.follow(Cursor(1)), ring.follow(Cursor(1)), ring.follow(Cursor(2))
    async with asyncio.timeout(PATIENCE):
        assert await anext(young) == encoded_change(2)
        ring.drop_older(age=0)
        assert await anext(late) == encode("snapshot", Cursor(2), [])
        waiting = asyncio.ensure_future(anext(newest))
        await asyncio.sleep(0)
        ring.push(Cursor(3), change("3"))
        assert {await waiting, await anext(young), await anext(late)} == {encoded_change(3)}
    for stream in (young, late, newest):
        await stream.aclose()
