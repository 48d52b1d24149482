"""The order of all facts of a store."""

from __future__ import annotations

import asyncio

from callboard.contracts.ports.store import Store

from ..samples import STREAM, batch, fill, text_fact


class ArrivalSuite:
    async def test_pages_have_the_facts_of_all_streams_in_one_order(self, store: Store) -> None:
        """MAR-14"""
        assert (await store.facts.read_arrivals(), await store.facts.read_newest_position()) == ((), 0)

        async def write(stream: str) -> None:
            for count in range(10):
                await store.facts.append(batch(2 * count, text_fact("one"), text_fact("two"), stream=stream))

        await asyncio.gather(*(write(f"ses_{name}") for name in "abc"))
        every = await store.facts.read_arrivals()
        places = [arrival.position for arrival in every]
        paged, after = [], 0
        while page := await store.facts.read_arrivals(after=after, limit=7):
            paged += page
            after = page[-1].position

        assert places == sorted(set(places))
        assert await store.facts.read_newest_position() == places[-1]
        assert tuple(paged) == every
        for name in "abc":
            own = tuple(arrival.record for arrival in every if arrival.record.stream == f"ses_{name}")
            assert own == await store.facts.read(f"ses_{name}")

    async def test_a_deletion_does_not_change_the_places_of_later_facts(self, store: Store) -> None:
        await fill(store, 3, STREAM)
        await fill(store, 2, "ses_other")
        arrivals = [arrival for arrival in await store.facts.read_arrivals() if arrival.record.stream == "ses_other"]

        await store.facts.delete(STREAM)

        assert list(await store.facts.read_arrivals()) == arrivals
        assert await store.facts.read_newest_position() == arrivals[-1].position
