"""What every store must do. A backend inherits these classes and gives the fixture `store`: an empty one, epoch 1."""

from __future__ import annotations

import asyncio
import os

import pytest

from callboard.contracts.errors import Refusal
from callboard.contracts.facts import ErasedFact, MessageText
from callboard.contracts.live import Partial, partial_key
from callboard.contracts.ports.store import Head, Store, StoredAnswer, Views
from callboard.contracts.record import header_of
from callboard.contracts.rows import AppendText, Remove, Upsert
from callboard.log import chain

from .given import AT, SCOPE, STREAM, Session, batch, filled, first, frame, said, said_at_length, turn_row

NOTHING = Head(sequence=0, link=chain.genesis(STREAM))


class AppendSuite:
    async def test_facts_are_read_as_they_were_appended(self, store: Store) -> None:
        """Design rule: the log is the only truth."""
        given = batch(0, said("one"), said("two"))

        appended = await store.facts.append(given)

        assert [(record.stream, record.sequence, record.fact) for record in appended] == [
            (STREAM, 1, given.facts[0].fact),
            (STREAM, 2, given.facts[1].fact),
        ]
        assert [record.header for record in appended] == [header_of(new, given.origin, 1) for new in given.facts]
        assert await store.facts.read(STREAM) == appended
        assert await store.facts.head(STREAM) == Head(sequence=2, link=appended[-1].link, at=AT)

    async def test_a_stream_that_does_not_exist_is_empty(self, store: Store) -> None:
        assert await store.facts.head(STREAM) == NOTHING
        assert await store.facts.read(STREAM) == ()
        assert await store.facts.verify(STREAM) == NOTHING
        assert await store.facts.streams("") == ()

    async def test_an_author_that_has_not_seen_the_end_is_refused_and_nothing_is_stored(self, store: Store) -> None:
        """CTL-14, CTL-17; Design rule: every append checks the expected sequence."""
        await filled(store, 2)
        long, blobs = said_at_length("x" * 20_000)

        for expected in (0, 1, 3):
            with pytest.raises(Refusal) as refused:
                await store.facts.append(batch(expected, long, key="k", blobs=blobs, closed=("trn_a",)))
            assert refused.value.code == "conflict"

        assert (await store.facts.head(STREAM)).sequence == 2
        assert await store.facts.answer("k") is None
        assert await store.facts.closed(STREAM, ["trn_a"]) == frozenset()
        assert await store.blobs.get(blobs[0].ref.hash) is None

    async def test_an_author_without_the_lease_is_refused_and_nothing_is_stored(self, store: Store) -> None:
        """CTL-17; Design rule: every append checks the epoch."""
        epoch = await store.facts.lease(STREAM)

        for stale in (epoch - 1, epoch + 1):
            with pytest.raises(Refusal) as refused:
                await store.facts.append(batch(0, said("one"), epoch=stale))
            assert refused.value.code == "fenced"
            with pytest.raises(Refusal) as refused:
                await store.partials.write(STREAM, stale, [frame("text")])
            assert refused.value.code == "fenced"

        assert await store.facts.head(STREAM) == NOTHING
        assert await store.partials.read(STREAM) == ()

    async def test_of_authors_at_the_same_place_one_wins(self, store: Store) -> None:
        """CTL-17"""
        attempts = [store.facts.append(batch(0, said(f"author {number}"))) for number in range(20)]

        outcomes = await asyncio.gather(*attempts, return_exceptions=True)

        won = [outcome for outcome in outcomes if isinstance(outcome, tuple)]
        lost = [outcome.code for outcome in outcomes if isinstance(outcome, Refusal)]
        assert (len(won), lost) == (1, ["conflict"] * 19)
        assert await store.facts.read(STREAM) == won[0]

    async def test_many_streams_grow_at_once_each_without_a_gap(self, store: Store) -> None:
        """Design rule: one gapless sequence a stream."""

        async def grow(stream: str) -> list[int]:
            sequences: list[int] = []
            for number in range(30):
                facts = [said(f"{stream} {number} {each}") for each in range(number % 3 + 1)]
                records = await store.facts.append(batch(len(sequences), *facts, stream=stream))
                sequences += [record.sequence for record in records]
            return sequences

        names = [f"ses_{number:02}" for number in range(20)]
        grown = await asyncio.gather(*(grow(name) for name in names))

        assert grown == [list(range(1, 61))] * 20
        for name in names:
            assert [record.sequence for record in await store.facts.read(name)] == list(range(1, 61))
            assert await store.facts.verify(name) == await store.facts.head(name)

    async def test_one_bad_batch_does_not_harm_those_beside_it(self, store: Store) -> None:
        """CTL-14"""
        good = [batch(0, said(f"stream {number}"), stream=f"ses_{number}") for number in range(10)]
        bad = [batch(7, said("bad"), stream=f"ses_{number}", key="bad") for number in range(10)]

        both = [each for pair in zip(good, bad, strict=True) for each in pair]
        outcomes = await asyncio.gather(*(store.facts.append(each) for each in both), return_exceptions=True)

        assert [isinstance(outcome, Refusal) for outcome in outcomes] == [False, True] * 10
        assert [(await store.facts.head(f"ses_{number}")).sequence for number in range(10)] == [1] * 10
        assert await store.facts.answer("bad") is None

    async def test_time_never_goes_back_within_a_stream(self, store: Store) -> None:
        """Design rule: timestamps never go back."""
        times = [AT, AT - 5_000_000, AT + 1, AT]
        for expected, at in enumerate(times):
            await store.facts.append(batch(expected, said("text"), at=at))
        await store.facts.append(batch(0, said("text"), stream="ses_two", at=5))

        assert [record.header.at for record in await store.facts.read(STREAM)] == [AT, AT, AT + 1, AT + 1]
        assert (await store.facts.head(STREAM)).at == AT + 1
        assert (await store.facts.head("ses_two")).at == 5
        await store.facts.verify(STREAM)

    async def test_a_page_is_bounded_by_its_start_its_end_and_its_length(self, store: Store) -> None:
        await filled(store, 10)

        async def page(**bounds: int) -> list[int]:
            return [record.sequence for record in await store.facts.read(STREAM, **bounds)]

        assert await page(after=3, limit=4) == [4, 5, 6, 7]
        assert await page(after=3, until=5) == [4, 5]
        assert await page(until=3, limit=2) == [1, 2]
        assert await page(after=8) == [9, 10]
        assert await page(after=10) == []
        assert await page(after=5, until=5) == []
        assert await page(after=6, until=2) == []

    async def test_streams_are_listed_by_prefix_oldest_first(self, store: Store) -> None:
        for name in ("ses_b", "wks_a", "ses_a", "ses%"):
            await filled(store, 1, name)

        assert await store.facts.streams("ses_") == ("ses_b", "ses_a")
        assert await store.facts.streams("wks_") == ("wks_a",)
        assert await store.facts.streams("") == ("ses_b", "wks_a", "ses_a", "ses%")

    async def test_ids_of_terminal_entities_are_known_afterwards(self, store: Store) -> None:
        """Design rule: terminal ids come in from an index."""
        await store.facts.append(batch(0, said("one"), closed=("trn_a", "cal_a")))
        await store.facts.append(batch(1, said("two"), closed=("trn_b", "trn_a")))
        await store.facts.append(batch(0, said("one"), stream="ses_two", closed=("trn_c",)))

        asked = ["trn_a", "cal_a", "trn_b", "trn_c", "trn_d"]
        assert await store.facts.closed(STREAM, asked) == {"trn_a", "cal_a", "trn_b"}
        assert await store.facts.closed("ses_none", asked) == frozenset()

    async def test_a_batch_may_hold_an_answer_and_no_fact(self, store: Store) -> None:
        """CTL-01"""
        assert await store.facts.append(batch(0, key="k")) == ()

        assert await store.facts.answer("k") is not None
        assert await store.facts.head(STREAM) == NOTHING
        assert await store.facts.streams("") == ()
        await filled(store, 2)

    async def test_a_realistic_session_verifies(self, store: Store) -> None:
        session = Session("ses_real", 1)
        for _ in range(5):
            for each in session.turn():
                await store.facts.append(each)

        head = await store.facts.verify("ses_real")
        assert head == await store.facts.head("ses_real")
        assert head.sequence == 90

    async def test_a_cancelled_author_leaves_a_whole_batch_or_none(self, store: Store) -> None:
        """CTL-14"""
        for number in range(20):
            stream = f"ses_{number}"
            author = asyncio.create_task(
                store.facts.append(batch(0, *(said(str(each)) for each in range(5)), stream=stream, key=stream))
            )
            for _ in range(number % 4):
                await asyncio.sleep(0)
            author.cancel()
            await asyncio.gather(author, return_exceptions=True)
        await filled(store, 1)

        for number in range(20):
            stream = f"ses_{number}"
            answered = await store.facts.answer(stream) is not None
            assert ((await store.facts.head(stream)).sequence, answered) in ((0, False), (5, True))


class AnswerSuite:
    async def test_an_answer_is_kept_with_its_facts(self, store: Store) -> None:
        """CTL-01; Design rule: answers of commands are kept in the same transaction."""
        given = batch(0, said("one"), key="k")
        await store.facts.append(given)

        assert await store.facts.answer("k") == given.answer
        assert await store.facts.answer("other") is None

    async def test_a_key_is_taken_in_the_whole_store(self, store: Store) -> None:
        """CTL-01"""
        given = batch(0, said("one"), key="k")
        await store.facts.append(given)

        for again in (batch(1, said("two"), key="k"), batch(0, said("one"), stream="ses_two", key="k")):
            with pytest.raises(Refusal) as refused:
                await store.facts.append(again)
            assert refused.value.code == "idempotency_conflict"

        assert await store.facts.answer("k") == given.answer
        assert (await store.facts.head(STREAM)).sequence == 1
        assert (await store.facts.head("ses_two")).sequence == 0

    async def test_of_commands_with_one_key_in_flight_at_once_one_has_an_effect(self, store: Store) -> None:
        """CTL-01"""
        attempts = [batch(0, said("one"), stream=f"ses_{number}", key="k") for number in range(10)]

        outcomes = await asyncio.gather(*(store.facts.append(each) for each in attempts), return_exceptions=True)

        refused = [outcome.code for outcome in outcomes if isinstance(outcome, Refusal)]
        assert refused == ["idempotency_conflict"] * 9
        assert len(await store.facts.streams("ses_")) == 1


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


class RemovalSuite:
    async def test_an_erased_payload_is_gone_and_the_chain_still_verifies(self, store: Store) -> None:
        """Design rule: erasing a payload takes its salt, blobs, rows, partials, snapshots and stored answers with it."""
        long, blobs = said_at_length("secret " * 5000)
        records = await store.facts.append(batch(0, said("one"), long, said("three"), key="k", blobs=blobs))
        await store.rows.write(STREAM, [Upsert("turns", turn_row("trn_a", 1))], Views(watermark=3, schema=1, state=b""))
        await store.rows.save_snapshot(STREAM, 3, records[-1].link, 1, b"state")
        await store.partials.write(STREAM, 1, [frame("secret"), frame("other", step=2)])

        await store.facts.erase(STREAM, 2)

        kept = await store.facts.read(STREAM)
        assert [record.fact for record in kept] == [records[0].fact, ErasedFact(), records[2].fact]
        assert [(record.header, record.link) for record in kept] == [(r.header, r.link) for r in records]
        assert await store.facts.verify(STREAM) == await store.facts.head(STREAM)
        assert await store.blobs.get(blobs[0].ref.hash) is None
        assert await store.facts.answer("k") == StoredAnswer(key="k", body_hash="", answer=b"")
        assert [partial.scope.step for partial in await store.partials.read(STREAM)] == [2]
        assert await store.rows.views(STREAM) is None
        assert await store.rows.rows(STREAM, "turns") == ()
        assert await store.rows.snapshot(STREAM, 1) is None

    async def test_erasing_twice_changes_nothing_more(self, store: Store) -> None:
        await filled(store, 2)
        await store.facts.erase(STREAM, 1)
        await store.facts.erase(STREAM, 1)

        assert (await store.facts.read(STREAM))[0].fact == ErasedFact()
        await store.facts.verify(STREAM)
        await store.facts.append(batch(2, said("three")))

    async def test_a_fact_that_is_not_there_cannot_be_erased(self, store: Store) -> None:
        await filled(store, 2)
        for stream, sequence in ((STREAM, 0), (STREAM, 3), ("ses_none", 1)):
            with pytest.raises(Refusal) as refused:
                await store.facts.erase(stream, sequence)
            assert refused.value.code == "invalid_input"

    async def test_a_blob_stays_while_another_fact_refers_to_it(self, store: Store) -> None:
        long, blobs = said_at_length("shared " * 5000)
        name = blobs[0].ref.hash
        await store.facts.append(batch(0, long, blobs=blobs))
        await store.facts.append(batch(1, long))
        await store.facts.append(batch(0, long, stream="ses_two", blobs=blobs))

        await store.facts.erase(STREAM, 1)
        assert await store.blobs.get(name) == blobs[0].data
        await store.facts.delete("ses_two")
        assert await store.blobs.get(name) == blobs[0].data
        await store.facts.erase(STREAM, 2)
        assert await store.blobs.get(name) is None

    async def test_a_deleted_stream_leaves_nothing(self, store: Store) -> None:
        long, blobs = said_at_length("gone " * 5000)
        await store.facts.append(batch(0, long, key="k", blobs=blobs, closed=("trn_a",)))
        await store.partials.write(STREAM, 1, [frame("text")])
        await store.rows.write(STREAM, [Upsert("turns", turn_row("trn_a", 1))], Views(watermark=1, schema=1, state=b""))
        await filled(store, 3, "ses_two")
        end = await store.facts.head(STREAM)

        assert await store.facts.delete(STREAM) == end

        assert await store.facts.head(STREAM) == NOTHING
        assert await store.facts.read(STREAM) == ()
        assert await store.facts.streams("") == ("ses_two",)
        assert await store.facts.answer("k") is None
        assert await store.facts.closed(STREAM, ["trn_a"]) == frozenset()
        assert await store.blobs.get(blobs[0].ref.hash) is None
        assert await store.partials.read(STREAM) == ()
        assert await store.rows.views(STREAM) is None
        assert (await store.facts.verify("ses_two")).sequence == 3

    async def test_a_deleted_stream_may_begin_anew(self, store: Store) -> None:
        await filled(store, 3)
        await store.facts.delete(STREAM)
        records = await filled(store, 2)

        assert await store.facts.read(STREAM) == records
        assert (await store.facts.verify(STREAM)).sequence == 2

    async def test_deleting_what_is_not_there_changes_nothing(self, store: Store) -> None:
        assert await store.facts.delete(STREAM) == NOTHING


class BlobSuite:
    async def test_bytes_are_kept_under_their_hash(self, store: Store) -> None:
        """Design rule: nothing large is in a fact."""
        text = "ü" * 20_000
        long, blobs = said_at_length(text)
        await store.facts.append(batch(0, long, blobs=blobs))

        (record,) = await store.facts.read(STREAM)
        assert isinstance(record.fact, MessageText)
        assert record.fact.content.ref == blobs[0].ref
        assert await store.blobs.get(blobs[0].ref.hash) == text.encode()

    async def test_a_part_of_the_bytes_is_read_alone(self, store: Store) -> None:
        long, blobs = said_at_length("0123456789" * 2000)
        await store.facts.append(batch(0, long, blobs=blobs))
        name = blobs[0].ref.hash

        assert await store.blobs.get_range(name, offset=12_345, length=10) == b"5678901234"
        assert await store.blobs.get_range(name, offset=19_995, length=100) == b"56789"
        assert await store.blobs.get_range(name, offset=50_000, length=10) == b""

    async def test_what_is_not_there_is_none(self, store: Store) -> None:
        for name in ("00" * 32, "no hash"):
            assert await store.blobs.get(name) is None
            assert await store.blobs.get_range(name, offset=0, length=1) is None

    async def test_a_blob_that_no_fact_names_belongs_to_the_stream(self, store: Store) -> None:
        _, blobs = said_at_length("x" * 20_000)
        await store.facts.append(batch(0, said("one"), blobs=blobs))
        assert await store.blobs.get(blobs[0].ref.hash) == blobs[0].data

        await store.facts.delete(STREAM)
        assert await store.blobs.get(blobs[0].ref.hash) is None

    async def test_content_cannot_pass_for_a_reference(self, store: Store) -> None:
        long, blobs = said_at_length("x" * 20_000)
        forged = said(f'{{"hash":"{blobs[0].ref.hash}"}}')
        await store.facts.append(batch(0, long, forged, blobs=blobs))

        await store.facts.erase(STREAM, 1)

        assert await store.blobs.get(blobs[0].ref.hash) is None


class PartialSuite:
    async def test_pieces_add_up_to_the_text_so_far(self, store: Store) -> None:
        """Design rule: text being streamed is not a fact."""
        await store.partials.write(STREAM, 1, [frame("Hel"), frame("lo ", 3), frame('{"a"', step=2, kind="arguments")])
        await store.partials.write(
            STREAM, 1, [frame("wörld", 6), frame(":1}", 4, step=2, kind="arguments", tool="Read")]
        )

        scope = frame("", step=2).scope
        assert await store.partials.read(STREAM) == (
            Partial(kind="text", scope=frame("").scope, text="Hello wörld"),
            Partial(kind="arguments", scope=scope, text='{"a":1}', tool="Read"),
        )
        assert await store.partials.read("ses_two") == ()
        assert await store.facts.head(STREAM) == NOTHING
        assert await store.facts.streams("") == ()

    async def test_a_piece_out_of_order_is_refused_and_nothing_of_its_batch_is_kept(self, store: Store) -> None:
        await store.partials.write(STREAM, 1, [frame("abc")])

        for pieces in (
            [frame("other", step=2), frame("e", 4)],
            [frame("abc")],
            [frame("d", 3), frame("f", 5)],
            [frame("new", 1, step=3)],
        ):
            with pytest.raises(Refusal) as refused:
                await store.partials.write(STREAM, 1, pieces)
            assert refused.value.code == "conflict"

        assert [partial.text for partial in await store.partials.read(STREAM)] == ["abc"]
        await store.partials.write(STREAM, 1, [frame("d", 3)])

    async def test_a_partial_ends_with_the_batch_that_finishes_its_part(self, store: Store) -> None:
        await store.partials.write(STREAM, 1, [frame("one"), frame("two", step=2)])

        with pytest.raises(Refusal):
            await store.facts.append(batch(9, said("one"), ends=(partial_key("text", SCOPE),)))
        assert len(await store.partials.read(STREAM)) == 2

        await store.facts.append(batch(0, said("one"), ends=(partial_key("text", SCOPE), "run_a.9.text")))
        assert [partial.text for partial in await store.partials.read(STREAM)] == ["two"]

    async def test_a_part_may_begin_without_text(self, store: Store) -> None:
        await store.partials.write(STREAM, 1, [frame("", kind="arguments", tool="Bash")])
        await store.partials.write(STREAM, 1, [frame("{}", kind="arguments")])

        assert await store.partials.read(STREAM) == (
            Partial(kind="arguments", scope=frame("").scope, text="{}", tool="Bash"),
        )

    async def test_a_long_reply_in_many_pieces_comes_back_whole(self, store: Store) -> None:
        text = os.urandom(50_000).hex()
        for at in range(0, len(text), 2000):
            await store.partials.write(STREAM, 1, [frame(text[at : at + 2000], at)])

        (partial,) = await store.partials.read(STREAM)
        assert partial.text == text


class RowSuite:
    VIEWS = Views(watermark=7, schema=3, state=b"folded")

    async def test_rows_and_watermark_are_written_together(self, store: Store) -> None:
        """Design rule: view rows are written behind the log with a watermark."""
        assert await store.rows.views(STREAM) is None
        one, two = turn_row("trn_1", 10), turn_row("trn_2", 20)

        await store.rows.write(STREAM, [Upsert("turns", two), Upsert("turns", one)], self.VIEWS)

        assert await store.rows.views(STREAM) == self.VIEWS
        assert await store.rows.rows(STREAM, "turns") == (one, two)
        assert await store.rows.row(STREAM, "turns", "trn_2") == two
        assert await store.rows.row(STREAM, "turns", "trn_3") is None
        assert await store.rows.rows(STREAM, "parts") == ()

    async def test_operations_apply_in_their_order(self, store: Store) -> None:
        first_, second = turn_row("trn_1", 10), turn_row("trn_1", 30, text="changed")
        other = turn_row("trn_2", 20)
        ops = [Upsert("turns", first_), Upsert("turns", other), Upsert("turns", second), Remove("turns", "trn_2")]
        await store.rows.write(STREAM, ops, self.VIEWS)
        assert await store.rows.rows(STREAM, "turns") == (second,)

        later = Views(watermark=8, schema=3, state=b"more")
        await store.rows.write(STREAM, [Remove("turns", "trn_1"), Upsert("turns", other), Remove("turns", "x")], later)
        assert await store.rows.rows(STREAM, "turns") == (other,)
        assert await store.rows.views(STREAM) == later

    async def test_live_operations_are_never_kept(self, store: Store) -> None:
        live = AppendText("parts", "run_a.1", "content.text", 0, "x")
        with pytest.raises(ValueError, match="append is for live frames"):
            await store.rows.write(STREAM, [Upsert("turns", turn_row("trn_1", 1)), live], self.VIEWS)

        assert await store.rows.views(STREAM) is None
        assert await store.rows.rows(STREAM, "turns") == ()

    async def test_a_window_holds_the_newest_rows_that_fit(self, store: Store) -> None:
        rows = [turn_row(f"trn_{order:03}", order, text="x" * 1000) for order in range(1, 101)]
        await store.rows.write(STREAM, [Upsert("turns", row) for row in rows], self.VIEWS)

        assert await store.rows.rows(STREAM, "turns", limit=3) == tuple(rows[-3:])
        assert await store.rows.rows(STREAM, "turns", before=51, limit=2) == tuple(rows[48:50])
        assert await store.rows.rows(STREAM, "turns", before=1) == ()
        bounded = await store.rows.rows(STREAM, "turns", largest=10_000)
        assert bounded == tuple(rows[-len(bounded) :])
        assert 5 <= len(bounded) < 10
        assert await store.rows.rows(STREAM, "turns", largest=10) == (rows[-1],)

    async def test_windows_one_below_the_other_show_every_row_once(self, store: Store) -> None:
        rows = [turn_row(f"trn_{number:03}", number // 3) for number in range(30)]
        await store.rows.write(STREAM, [Upsert("turns", row) for row in rows], self.VIEWS)

        seen: list[str] = []
        before: int | None = None
        while window := await store.rows.rows(STREAM, "turns", before=before, limit=4):
            seen = [row.key for row in window] + seen
            before = window[0].order

        assert seen == [row.key for row in rows]

    async def test_one_panel_is_read_across_streams_newest_first(self, store: Store) -> None:
        for number, stream in enumerate(("ses_a", "ses_b", "ses_c")):
            ops = [Upsert("turns", turn_row(f"trn_{stream}", 10 - number)), Upsert("parts", turn_row("other", 1))]
            await store.rows.write(stream, ops, self.VIEWS)

        assert [row.key for row in await store.rows.across("turns")] == ["trn_ses_a", "trn_ses_b", "trn_ses_c"]
        assert await store.rows.across("none") == ()

    async def test_clearing_throws_rows_watermark_and_snapshot_away(self, store: Store) -> None:
        for stream in (STREAM, "ses_two"):
            await store.rows.write(stream, [Upsert("turns", turn_row("trn_1", 1))], self.VIEWS)
            await store.rows.save_snapshot(stream, 5, b"link", 2, b"state")

        await store.rows.clear(STREAM)

        assert await store.rows.views(STREAM) is None
        assert await store.rows.rows(STREAM, "turns") == ()
        assert await store.rows.snapshot(STREAM, 2) is None
        assert await store.rows.views("ses_two") == self.VIEWS
        assert await store.rows.snapshot("ses_two", 2) == (5, b"link", b"state")

    async def test_a_snapshot_of_another_schema_does_not_fit(self, store: Store) -> None:
        """Design rule: snapshots are keyed by sequence, chain link and schema, and thrown away when they don't fit."""
        await store.rows.save_snapshot(STREAM, 5, b"link", 2, b"state")
        assert await store.rows.snapshot(STREAM, 3) is None

        await store.rows.save_snapshot(STREAM, 9, b"newer", 3, b"state 3")
        assert await store.rows.snapshot(STREAM, 3) == (9, b"newer", b"state 3")
        assert await store.rows.snapshot(STREAM, 2) is None


class LogSuite(AppendSuite, AnswerSuite, SubscriptionSuite, RemovalSuite):
    """The FactLog port."""
