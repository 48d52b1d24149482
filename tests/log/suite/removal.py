"""Erasure of payloads and deletion of streams."""

from __future__ import annotations

import pytest

from callboard.contracts.content import Blob, make_blob
from callboard.contracts.errors import Refusal
from callboard.contracts.facts.base import ErasedFact
from callboard.contracts.facts.evidence import EvidenceExported
from callboard.contracts.ports.store import Head, Store, StoredAnswer, Views
from callboard.contracts.record import NewFact
from callboard.contracts.rows.base import Upsert
from callboard.contracts.scope import Scope
from callboard.log import chain

from ..samples import STREAM, batch, fill, first, frame, long_text_fact, stored_conversation, text_fact, turn_row

NOTHING = Head(sequence=0, link=chain.begin_chain(STREAM))


class RemovalSuite:
    async def test_an_erased_payload_is_removed_and_the_chain_is_valid(self, store: Store) -> None:
        """Design rule: an erasure removes the salt, blobs, rows, partials, snapshots, conversations and stored answers."""
        long, blobs = long_text_fact("secret " * 5000)
        records = await store.facts.append(batch(0, text_fact("one"), long, text_fact("three"), key="k", blobs=blobs))
        await store.rows.write(
            STREAM, [Upsert("turns", turn_row("trn_a", 1))], Views(watermark=3, fingerprint="1", state=b"")
        )
        await store.rows.save_snapshot(STREAM, 3, records[-1].link, "1", b"state")
        await store.conversations.save(STREAM, stored_conversation("thr_a"), ["thr_a"])
        await store.partials.write(STREAM, 1, [frame("secret"), frame("other", step=2)])

        await store.facts.erase(STREAM, 2)

        stored = await store.facts.read(STREAM)
        assert [record.fact for record in stored] == [records[0].fact, ErasedFact(), records[2].fact]
        assert [(record.header, record.link) for record in stored] == [(r.header, r.link) for r in records]
        assert await store.facts.verify(STREAM) == await store.facts.read_head(STREAM)
        assert await store.blobs.get(blobs[0].ref.hash) is None
        assert await store.facts.find_answer("k") == StoredAnswer(key="k", body_hash="", answer=b"")
        assert [partial.scope.step for partial in await store.partials.read(STREAM)] == [2]
        assert await store.rows.read_views(STREAM) is None
        assert await store.rows.read_rows(STREAM, "turns") == ()
        assert await store.rows.read_snapshot(STREAM, "1") is None
        assert await store.conversations.read(STREAM, "thr_a", "1") is None

    async def test_followers_never_receive_an_erased_payload(self, store: Store) -> None:
        """Design rule: an erasure also removes the facts that stay in memory for followers."""
        await fill(store, 2)
        earlier = store.facts.subscribe(STREAM, after=0)
        await first(earlier, 2)
        await store.facts.append(batch(2, text_fact("secret")))
        await first(earlier, 1)
        await store.facts.append(batch(0, text_fact("secret"), stream="ses_two"))

        await store.facts.erase(STREAM, 3)
        await store.facts.erase("ses_two", 1)

        for stream, after in ((STREAM, 2), ("ses_two", 0)):
            later = store.facts.subscribe(stream, after=after)
            assert [record.fact for record in await first(later, 1)] == [ErasedFact()]
            await later.aclose()
        await earlier.aclose()

    async def test_a_second_erasure_changes_nothing(self, store: Store) -> None:
        await fill(store, 2)
        await store.facts.erase(STREAM, 1)
        await store.facts.erase(STREAM, 1)

        assert (await store.facts.read(STREAM))[0].fact == ErasedFact()
        await store.facts.verify(STREAM)
        await store.facts.append(batch(2, text_fact("three")))

    async def test_an_unknown_fact_cannot_be_erased(self, store: Store) -> None:
        await fill(store, 2)
        for stream, sequence in ((STREAM, 0), (STREAM, 3), ("ses_none", 1)):
            with pytest.raises(Refusal) as refused:
                await store.facts.erase(stream, sequence)
            assert refused.value.code == "invalid_input"

    async def test_trimming_removes_large_blobs_and_no_facts(self, store: Store) -> None:
        """Design rule: retention frees space; small blobs and blobs with other references stay."""
        long, blobs = long_text_fact("long ago " * 5000)
        shared, both = long_text_fact("shared " * 5000)
        small = long_text_fact("small " * 2000)
        await store.facts.append(batch(0, long, shared, small[0], blobs=(*blobs, *both, *small[1])))
        await store.facts.append(batch(0, shared, blobs=both, stream="ses_two"))
        before = await store.facts.read(STREAM)
        sizes = [len(item.data) for item in (*blobs, *both, *small[1])]
        contents = await store.facts.measure_contents(STREAM)
        assert (contents.blobs, contents.size) == (3, sum(sizes))
        assert contents.facts > 0

        trimmed = await store.facts.trim(STREAM, 20_000)

        assert (trimmed.blobs, trimmed.size) == (2, sum(sizes[:2]))
        assert await store.facts.read(STREAM) == before
        assert await store.facts.verify(STREAM) == await store.facts.read_head(STREAM)
        stored = [await store.blobs.get(item.ref.hash) is not None for item in (*blobs, *both, *small[1])]
        assert stored == [False, True, True]
        assert (await store.facts.measure_contents(STREAM)).blobs == 1
        assert (await store.facts.trim(STREAM, 20_000)).blobs == 0

    async def test_a_blob_stays_while_another_fact_refers_to_it(self, store: Store) -> None:
        long, blobs = long_text_fact("shared " * 5000)
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

    async def test_an_erasure_removes_evidence_packs_with_the_fact(self, store: Store) -> None:
        """Design rule: no copy in the log keeps erased content."""
        earlier, later = make_blob(b"PK earlier", "application/zip"), make_blob(b"PK later", "application/zip")
        await fill(store, 1)
        await store.facts.append(batch(1, export_fact(earlier, through=1), blobs=(earlier,)))
        await store.facts.append(batch(2, text_fact("secret")))
        await store.facts.append(batch(3, export_fact(later, through=3), blobs=(later,)))

        await store.facts.erase(STREAM, 3)

        assert await store.blobs.get(later.ref.hash) is None
        assert await store.blobs.get(earlier.ref.hash) == earlier.data
        await store.facts.verify(STREAM)

    async def test_a_deleted_stream_leaves_nothing(self, store: Store) -> None:
        long, blobs = long_text_fact("gone " * 5000)
        await store.facts.append(batch(0, long, key="k", blobs=blobs, closed=("trn_a",)))
        await store.partials.write(STREAM, 1, [frame("text")])
        await store.rows.write(
            STREAM, [Upsert("turns", turn_row("trn_a", 1))], Views(watermark=1, fingerprint="1", state=b"")
        )
        await fill(store, 3, "ses_two")
        end = await store.facts.read_head(STREAM)

        assert await store.facts.delete(STREAM) == end

        assert await store.facts.read_head(STREAM) == NOTHING
        assert await store.facts.read(STREAM) == ()
        assert await store.facts.list_streams("") == ("ses_two",)
        assert await store.facts.find_answer("k") is None
        assert await store.facts.find_closed(STREAM, ["trn_a"]) == frozenset()
        assert await store.blobs.get(blobs[0].ref.hash) is None
        assert await store.partials.read(STREAM) == ()
        assert await store.rows.read_views(STREAM) is None
        assert (await store.facts.verify("ses_two")).sequence == 3

    async def test_a_deleted_stream_can_be_created_again(self, store: Store) -> None:
        await fill(store, 3)
        await store.facts.delete(STREAM)
        records = await fill(store, 2)

        assert await store.facts.read(STREAM) == records
        assert (await store.facts.verify(STREAM)).sequence == 2

    async def test_deleting_an_unknown_stream_changes_nothing(self, store: Store) -> None:
        assert await store.facts.delete(STREAM) == NOTHING


def export_fact(pack: Blob, *, through: int) -> NewFact:
    """Return the fact of a pack with all facts up to a sequence."""
    return NewFact(EvidenceExported(through=through, facts=through, link="", pack=pack.ref), Scope(evidence="evd_a"))
