"""Following a stream."""

from __future__ import annotations

import asyncio

import pytest

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.store import Store

from ..given import STREAM, batch, filled, first, said


class SubscriptionSuite:
    async def test_a_follower_gets_what_is_stored_and_then_what_comes(self, store: Store) -> None:
        """COM-14"""
        await filled(store, 3)
        following = store.facts.subscribe(STREAM, after=1)

        stored = await first(following, 2)
        for expected in range(3, 6):
            await store.facts.append(batch(expected, said("more")))
        came = await first(following, 3)

        assert [record.sequence for record in stored + came] == [2, 3, 4, 5, 6]
        assert tuple(stored + came) == await store.facts.read(STREAM, after=1)

    async def test_followers_that_come_and_go_see_no_gap_and_no_repeat(self, store: Store) -> None:
        """COM-14"""
        total = 1500

        async def write() -> None:
            written = 0
            while written < total:
                facts = [said(f"text {written + each}") for each in range(min(7, total - written))]
                written = (await store.facts.append(batch(written, *facts)))[-1].sequence

        async def follow(patience: int) -> list[int]:
            seen: list[int] = []
            while len(seen) < total:
                following = store.facts.subscribe(STREAM, after=len(seen))
                for _ in range(patience):
                    seen += [record.sequence for record in await anext(following)]
                    if len(seen) == total:
                        break
                    for _ in range(patience):
                        await asyncio.sleep(0)
            return seen

        async with asyncio.timeout(30):
            _, *seen = await asyncio.gather(write(), *(follow(patience) for patience in (1, 2, 5, 40)))

        assert seen == [list(range(1, total + 1))] * 4

    async def test_a_follower_waits_for_a_stream_that_is_not_there_yet(self, store: Store) -> None:
        following = store.facts.subscribe(STREAM)
        waiting = asyncio.ensure_future(anext(following))
        await filled(store, 1, "ses_other")
        records = await filled(store, 2)

        async with asyncio.timeout(20):
            assert await waiting == records

    async def test_a_cursor_beyond_the_end_gets_a_gap(self, store: Store) -> None:
        """Design rule: a cursor that cannot be served gets an explicit gap answer."""
        await filled(store, 3)

        with pytest.raises(Refusal) as refused:
            await anext(store.facts.subscribe(STREAM, after=4))

        assert refused.value.code == "gap"

    async def test_followers_of_a_deleted_stream_get_a_gap(self, store: Store) -> None:
        await filled(store, 3)
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
        await filled(store, 1)
        following = store.facts.subscribe(STREAM)
        await first(following, 1)
        waiting = asyncio.ensure_future(anext(following))
        await asyncio.sleep(0)

        await store.close()

        async with asyncio.timeout(20):
            with pytest.raises(StopAsyncIteration):
                await waiting
