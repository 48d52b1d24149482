"""The order of all facts of a store."""

from __future__ import annotations

import asyncio

from callboard.contracts.ports.store import Store

from ..given import STREAM, batch, filled, said


class ArrivalSuite:
    async def test_facts_of_all_streams_have_one_order_that_pages_agree_on(self, store: Store) -> None:
        """MAR-14"""
        assert (await store.facts.arrivals(), await store.facts.newest()) == ((), 0)

        async def write(stream: str) -> None:
            for count in range(10):
                await store.facts.append(batch(2 * count, said("one"), said("two"), stream=stream))

        await asyncio.gather(*(write(f"ses_{name}") for name in "abc"))
        every = await store.facts.arrivals()
        places = [arrival.place for arrival in every]
        paged, after = [], 0
        while page := await store.facts.arrivals(after=after, limit=7):
            paged += page
            after = page[-1].place

        assert places == sorted(set(places))
        assert await store.facts.newest() == places[-1]
        assert tuple(paged) == every
        for name in "abc":
            own = tuple(arrival.record for arrival in every if arrival.record.stream == f"ses_{name}")
            assert own == await store.facts.read(f"ses_{name}")

    async def test_what_was_deleted_has_no_place_any_more_and_what_came_later_keeps_its_own(self, store: Store) -> None:
        await filled(store, 3, STREAM)
        await filled(store, 2, "ses_other")
        kept = [one for one in await store.facts.arrivals() if one.record.stream == "ses_other"]

        await store.facts.delete(STREAM)

        assert list(await store.facts.arrivals()) == kept
        assert await store.facts.newest() == kept[-1].place
