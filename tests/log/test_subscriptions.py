"""What subscriptions read from the store."""

from __future__ import annotations

import asyncio

import pytest

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.store import Head
from callboard.contracts.record import Record
from callboard.log.memory import MemoryStore
from callboard.log.subscriptions import MAX_KEPT_BATCHES, MAX_KEPT_BYTES, Subscriptions

from .samples import STREAM, batch, fill, text_fact


class ObservedReads:
    """Reads of a store, counted. A read that is paused waits for `resume` after it has its facts."""

    def __init__(self, store: MemoryStore) -> None:
        self.count = 0
        self.paused = False
        self.reached = asyncio.Event()
        self.resume = asyncio.Event()
        self._store = store

    async def read(self, stream: str, /, *, after: int, limit: int) -> tuple[Record, ...]:
        self.count += 1
        records = await self._store.facts.read(stream, after=after, limit=limit)
        if self.paused:
            self.reached.set()
            await self.resume.wait()
        return records

    async def read_head(self, stream: str) -> Head:
        self.count += 1
        return await self._store.facts.read_head(stream)


async def test_published_facts_are_received_without_a_read() -> None:
    """COM-14. A read is a hop to another thread and back."""
    store = MemoryStore()
    reads = ObservedReads(store)
    subscriptions = Subscriptions(reads.read, reads.read_head)
    await fill(store, 3)
    following = subscriptions.follow(STREAM, 0)
    received = list(await anext(following))

    for expected in range(3, 9):
        waiting = asyncio.ensure_future(anext(following))
        await asyncio.sleep(0)
        records = await store.facts.append(batch(expected, text_fact("more")))
        subscriptions.publish(STREAM, records)
        received += await waiting

    assert [record.sequence for record in received] == list(range(1, 10))
    assert reads.count == 1
    await store.close()


async def test_a_stream_is_followed_from_its_newest_facts_without_a_read() -> None:
    """COM-14. A client that changed a stream follows it next."""
    store = MemoryStore()
    reads = ObservedReads(store)
    subscriptions = Subscriptions(reads.read, reads.read_head)
    for number in range(MAX_KEPT_BATCHES + 1):
        stream = f"{STREAM}{number}"
        subscriptions.publish(stream, await store.facts.append(batch(0, text_fact("new"), stream=stream)))

    newest = await anext(subscriptions.follow(f"{STREAM}1", 0))

    assert [record.sequence for record in newest] == [1]
    assert reads.count == 0
    # Only the newest streams stay in memory.
    await anext(subscriptions.follow(f"{STREAM}0", 0))
    assert reads.count == 1
    await store.close()


async def test_a_large_batch_does_not_stay_in_memory_for_later_followers() -> None:
    """Design rule: memory is bounded in bytes, not only in batches."""
    store = MemoryStore()
    reads = ObservedReads(store)
    subscriptions = Subscriptions(reads.read, reads.read_head)
    subscriptions.publish(STREAM, await store.facts.append(batch(0, text_fact("small"))))
    large = [text_fact("x" * 4096)] * (MAX_KEPT_BYTES // 4096)
    subscriptions.publish(STREAM, await store.facts.append(batch(1, *large)))

    following = subscriptions.follow(STREAM, 1)
    received = await anext(following)

    assert [record.sequence for record in received] == list(range(2, 2 + len(large)))
    assert reads.count == 1
    await following.aclose()
    await store.close()


async def test_a_deletion_during_a_read_is_noticed() -> None:
    """Design rule: an unknown cursor gets an explicit gap."""
    store = MemoryStore()
    reads = ObservedReads(store)
    subscriptions = Subscriptions(reads.read, reads.read_head)
    await fill(store, 3)
    following = subscriptions.follow(STREAM, 0)
    reads.paused = True
    waiting = asyncio.ensure_future(anext(following))
    await reads.reached.wait()

    await store.facts.delete(STREAM)
    subscriptions.reset(STREAM)
    reads.paused = False
    reads.resume.set()
    received = await waiting

    assert [record.sequence for record in received] == [1, 2, 3]
    async with asyncio.timeout(20):
        with pytest.raises(Refusal) as refused:
            await anext(following)
    assert refused.value.code == "gap"
    await store.close()
