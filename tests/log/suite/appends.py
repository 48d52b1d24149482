"""Appends, reads and stored answers."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from callboard.contracts.errors import Refusal
from callboard.contracts.ports.store import Head, Store
from callboard.contracts.record import build_header, encode_payload
from callboard.log import chain

from ..samples import AT, STREAM, Session, batch, fill, frame, long_text_fact, text_fact

NOTHING = Head(sequence=0, link=chain.begin_chain(STREAM))


class AppendSuite:
    async def test_facts_are_read_as_they_were_appended(self, store: Store) -> None:
        """Design rule: the log is the only truth."""
        original = batch(0, text_fact("one"), text_fact("two"))

        appended = await store.facts.append(original)

        assert [(record.stream, record.sequence, record.fact) for record in appended] == [
            (STREAM, 1, original.facts[0].fact),
            (STREAM, 2, original.facts[1].fact),
        ]
        assert [record.header for record in appended] == [
            build_header(new, original.origin, 1) for new in original.facts
        ]
        assert await store.facts.read(STREAM) == appended
        assert await store.facts.read_head(STREAM) == Head(sequence=2, link=appended[-1].link, at=AT)

    async def test_a_stream_that_does_not_exist_is_empty(self, store: Store) -> None:
        assert await store.facts.read_head(STREAM) == NOTHING
        assert await store.facts.read(STREAM) == ()
        assert await store.facts.verify(STREAM) == NOTHING
        assert await store.facts.list_streams("") == ()

    async def test_a_batch_at_a_wrong_sequence_is_refused_and_not_stored(self, store: Store) -> None:
        """CTL-14, CTL-17; Design rule: every append checks the expected sequence."""
        await fill(store, 2)
        long, blobs = long_text_fact("x" * 20_000)

        for expected in (0, 1, 3):
            with pytest.raises(Refusal) as refused:
                await store.facts.append(batch(expected, long, key="k", blobs=blobs, closed=("trn_a",)))
            assert refused.value.code == "conflict"

        assert (await store.facts.read_head(STREAM)).sequence == 2
        assert await store.facts.find_answer("k") is None
        assert await store.facts.find_closed(STREAM, ["trn_a"]) == frozenset()
        assert await store.blobs.get(blobs[0].ref.hash) is None

    async def test_a_batch_is_refused_without_the_stream_that_it_requires(self, store: Store) -> None:
        """R3: a workspace lists no session whose first facts were refused."""
        listing = msgspec.structs.replace(batch(0, text_fact("listed"), stream="wks_1"), requires=STREAM)

        # Both are in one transaction, and the first one is refused.
        refused = await asyncio.gather(
            store.facts.append(batch(7, text_fact("one"))), store.facts.append(listing), return_exceptions=True
        )
        after_refusal = await store.facts.read_head("wks_1")
        await asyncio.gather(store.facts.append(batch(0, text_fact("one"))), store.facts.append(listing))

        assert [error.code for error in refused if isinstance(error, Refusal)] == ["conflict", "unknown_session"]
        assert after_refusal.sequence == 0
        assert (await store.facts.read_head("wks_1")).sequence == 1

    async def test_a_batch_of_another_epoch_is_refused_and_not_stored(self, store: Store) -> None:
        """CTL-17; Design rule: every append checks the epoch."""
        epoch = await store.facts.acquire_lease(STREAM)

        for stale in (epoch - 1, epoch + 1):
            with pytest.raises(Refusal) as refused:
                await store.facts.append(batch(0, text_fact("one"), epoch=stale))
            assert refused.value.code == "fenced"
            with pytest.raises(Refusal) as refused:
                await store.partials.write(STREAM, stale, [frame("text")])
            assert refused.value.code == "fenced"

        assert await store.facts.read_head(STREAM) == NOTHING
        assert await store.partials.read(STREAM) == ()

    async def test_only_one_of_several_batches_at_a_sequence_is_stored(self, store: Store) -> None:
        """CTL-17"""
        attempts = [store.facts.append(batch(0, text_fact(f"author {number}"))) for number in range(20)]

        outcomes = await asyncio.gather(*attempts, return_exceptions=True)

        won = [outcome for outcome in outcomes if isinstance(outcome, tuple)]
        lost = [outcome.code for outcome in outcomes if isinstance(outcome, Refusal)]
        assert (len(won), lost) == (1, ["conflict"] * 19)
        assert await store.facts.read(STREAM) == won[0]

    async def test_concurrent_streams_have_no_gaps(self, store: Store) -> None:
        """Design rule: a gapless sequence for each stream."""

        async def grow(stream: str) -> list[int]:
            sequences: list[int] = []
            for number in range(30):
                facts = [text_fact(f"{stream} {number} {each}") for each in range(number % 3 + 1)]
                records = await store.facts.append(batch(len(sequences), *facts, stream=stream))
                sequences += [record.sequence for record in records]
            return sequences

        names = [f"ses_{number:02}" for number in range(20)]
        grown = await asyncio.gather(*(grow(name) for name in names))

        assert grown == [list(range(1, 61))] * 20
        for name in names:
            assert [record.sequence for record in await store.facts.read(name)] == list(range(1, 61))
            assert await store.facts.verify(name) == await store.facts.read_head(name)

    async def test_an_invalid_batch_does_not_affect_others(self, store: Store) -> None:
        """CTL-14"""
        good = [batch(0, text_fact(f"stream {number}"), stream=f"ses_{number}") for number in range(10)]
        bad = [batch(7, text_fact("bad"), stream=f"ses_{number}", key="bad") for number in range(10)]

        both = [each for pair in zip(good, bad, strict=True) for each in pair]
        outcomes = await asyncio.gather(*(store.facts.append(each) for each in both), return_exceptions=True)

        assert [isinstance(outcome, Refusal) for outcome in outcomes] == [False, True] * 10
        assert [(await store.facts.read_head(f"ses_{number}")).sequence for number in range(10)] == [1] * 10
        assert await store.facts.find_answer("bad") is None

    async def test_time_never_goes_back_within_a_stream(self, store: Store) -> None:
        """Design rule: timestamps never decrease."""
        times = [AT, AT - 5_000_000, AT + 1, AT]
        for expected, at in enumerate(times):
            await store.facts.append(batch(expected, text_fact("text"), at=at))
        await store.facts.append(batch(0, text_fact("text"), stream="ses_two", at=5))

        assert [record.header.at for record in await store.facts.read(STREAM)] == [AT, AT, AT + 1, AT + 1]
        assert (await store.facts.read_head(STREAM)).at == AT + 1
        assert (await store.facts.read_head("ses_two")).at == 5
        await store.facts.verify(STREAM)

    async def test_a_page_is_bounded_by_its_start_its_end_and_its_length(self, store: Store) -> None:
        await fill(store, 10)

        async def page(**bounds: int) -> list[int]:
            return [record.sequence for record in await store.facts.read(STREAM, **bounds)]

        assert await page(after=3, limit=4) == [4, 5, 6, 7]
        assert await page(after=3, until=5) == [4, 5]
        assert await page(until=3, limit=2) == [1, 2]
        assert await page(after=8) == [9, 10]
        assert await page(after=10) == []
        assert await page(after=5, until=5) == []
        assert await page(after=6, until=2) == []

    async def test_the_stored_bytes_are_the_chained_bytes(self, store: Store) -> None:
        """Design rule: the chain is over the stored bytes."""
        records = await fill(store, 3)
        await store.facts.erase(STREAM, 2)

        stored = await store.facts.read_bytes(STREAM)

        assert chain.check(STREAM, 0, chain.begin_chain(STREAM), stored) == (3, records[-1].link)
        assert [(item.sequence, item.link) for item in stored] == [(record.sequence, record.link) for record in records]
        assert [item.payload for item in stored] == [
            encode_payload(records[0].fact),
            None,
            encode_payload(records[2].fact),
        ]
        assert await store.facts.read_bytes(STREAM, after=1, until=2) == stored[1:2]

    async def test_streams_are_listed_by_prefix_oldest_first(self, store: Store) -> None:
        for name in ("ses_b", "wks_a", "ses_a", "ses%"):
            await fill(store, 1, name)

        assert await store.facts.list_streams("ses_") == ("ses_b", "ses_a")
        assert await store.facts.list_streams("wks_") == ("wks_a",)
        assert await store.facts.list_streams("") == ("ses_b", "wks_a", "ses_a", "ses%")
        await fill(store, 2, "ses_c")
        assert list((await store.facts.read_heads("ses_")).items()) == [("ses_b", 1), ("ses_a", 1), ("ses_c", 2)]

    async def test_terminal_entities_are_listed(self, store: Store) -> None:
        """Design rule: terminal ids come from an index."""
        await store.facts.append(batch(0, text_fact("one"), closed=("trn_a", "cal_a")))
        await store.facts.append(batch(1, text_fact("two"), closed=("trn_b", "trn_a")))
        await store.facts.append(batch(0, text_fact("one"), stream="ses_two", closed=("trn_c",)))

        ids = ["trn_a", "cal_a", "trn_b", "trn_c", "trn_d"]
        assert await store.facts.find_closed(STREAM, ids) == {"trn_a", "cal_a", "trn_b"}
        assert await store.facts.find_closed("ses_none", ids) == frozenset()

    async def test_a_batch_can_have_an_answer_without_facts(self, store: Store) -> None:
        """CTL-01"""
        assert await store.facts.append(batch(0, key="k")) == ()

        assert await store.facts.find_answer("k") is not None
        assert await store.facts.read_head(STREAM) == NOTHING
        assert await store.facts.list_streams("") == ()
        await fill(store, 2)

    async def test_a_realistic_session_verifies(self, store: Store) -> None:
        session = Session("ses_real", 1)
        for _ in range(5):
            for each in session.turn():
                await store.facts.append(each)

        head = await store.facts.verify("ses_real")
        assert head == await store.facts.read_head("ses_real")
        assert head.sequence == 90

    async def test_a_cancelled_append_stores_the_whole_batch_or_nothing(self, store: Store) -> None:
        """CTL-14"""
        for number in range(20):
            stream = f"ses_{number}"
            author = asyncio.create_task(
                store.facts.append(batch(0, *(text_fact(str(each)) for each in range(5)), stream=stream, key=stream))
            )
            for _ in range(number % 4):
                await asyncio.sleep(0)
            author.cancel()
            await asyncio.gather(author, return_exceptions=True)
        await fill(store, 1)

        for number in range(20):
            stream = f"ses_{number}"
            answered = await store.facts.find_answer(stream) is not None
            assert ((await store.facts.read_head(stream)).sequence, answered) in ((0, False), (5, True))


class AnswerSuite:
    async def test_an_answer_is_stored_with_its_facts(self, store: Store) -> None:
        """CTL-01; Design rule: answers of commands are stored in the same transaction."""
        original = batch(0, text_fact("one"), key="k")
        await store.facts.append(original)

        assert await store.facts.find_answer("k") == original.answer
        assert await store.facts.find_answer("other") is None

    async def test_a_key_is_unique_in_the_store(self, store: Store) -> None:
        """CTL-01"""
        original = batch(0, text_fact("one"), key="k")
        await store.facts.append(original)

        for again in (batch(1, text_fact("two"), key="k"), batch(0, text_fact("one"), stream="ses_two", key="k")):
            with pytest.raises(Refusal) as refused:
                await store.facts.append(again)
            assert refused.value.code == "idempotency_conflict"

        assert await store.facts.find_answer("k") == original.answer
        assert (await store.facts.read_head(STREAM)).sequence == 1
        assert (await store.facts.read_head("ses_two")).sequence == 0

    async def test_only_one_of_several_concurrent_commands_with_a_key_has_an_effect(self, store: Store) -> None:
        """CTL-01"""
        attempts = [batch(0, text_fact("one"), stream=f"ses_{number}", key="k") for number in range(10)]

        outcomes = await asyncio.gather(*(store.facts.append(attempt) for attempt in attempts), return_exceptions=True)

        refused = [outcome.code for outcome in outcomes if isinstance(outcome, Refusal)]
        assert refused == ["idempotency_conflict"] * 9
        assert len(await store.facts.list_streams("ses_")) == 1
