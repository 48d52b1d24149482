"""Subscriptions to a stream."""

from __future__ import annotations

import asyncio

import pytest

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.store import Store

from ..samples import STREAM, batch, fill, first, text_fact


class SubscriptionSuite:
    async def test_a_follower_receives_stored_facts_and_then_new_ones(self, store: Store) -> None:
        """COM-14"""
        await fill(store, 3)
        following = store.facts.subscribe(STREAM, after=1)

        stored = await first(following, 2)
        for expected in range(3, 6):
            await store.facts.append(batch(expected, text_fact("more")))
        records = await first(following, 3)

        assert [record.sequence for record in stored + records] == [2, 3, 4, 5, 6]
        assert tuple(stored + records) == await store.facts.read(STREAM, after=1)

    async def test_reconnecting_followers_receive_every_fact_once(self, store: Store) -> None:
        """COM-14"""
        total = 1500

        async def write() -> None:
            written = 0
            while written < total:
                facts = [text_fact(f"text {written + each}") for each in range(min(7, total - written))]
                written = (await store.facts.append(batch(written, *facts)))[-1].sequence

        async def follow(patience: int) -> list[int]:
            sequences: list[int] = []
            while len(sequences) < total:
                following = store.facts.subscribe(STREAM, after=len(sequences))
                for _ in range(patience):
                    sequences += [record.sequence for record in await anext(following)]
                    if len(sequences) == total:
                        break
                    for _ in range(patience):
                        await asyncio.sleep(0)
            return sequences

        async with asyncio.timeout(30):
            _, *sequences = await asyncio.gather(write(), *(follow(patience) for patience in (1, 2, 5, 40)))

        assert sequences == [list(range(1, total + 1))] * 4

    async def test_a_follower_waits_for_a_stream_without_facts(self, store: Store) -> None:
        following = store.facts.subscribe(STREAM)
        waiting = asyncio.ensure_future(anext(following))
        await fill(store, 1, "ses_other")
        records = await fill(store, 2)

        async with asyncio.timeout(20):
            assert await waiting == records

    async def test_a_cursor_beyond_the_end_gets_a_gap(self, store: Store) -> None:
        """Design rule: an unknown cursor gets an explicit gap."""
        await fill(store, 3)

        with pytest.raises(Refusal) as refused:
            await anext(store.facts.subscribe(STREAM, after=4))

        assert refused.value.code == "gap"

    async def test_followers_of_a_deleted_stream_get_a_gap(self, store: Store) -> None:
        await fill(store, 3)
        following = store.facts.subscribe(STREAM)
        await first(following, 3)
        waiting = asyncio.ensure_future(anext(following))
        await asyncio.sleep(0)

        await store.facts.delete(STREAM)

        async with asyncio.timeout(20):
            with pytest.raises(Refusal) as refused:
                await waiting
        assert refused.value.code == "gap"

    async def test_closing_the_store_ends_its_subscriptions(self, store: Store) -> None:
        await fill(store, 1)
        following = store.facts.subscribe(STREAM)
        await first(following, 1)
        waiting = asyncio.ensure_future(anext(following))
        await asyncio.sleep(0)

        await store.close()

        async with asyncio.timeout(20):
            with pytest.raises(StopAsyncIteration):
                await waiting
