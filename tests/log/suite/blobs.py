"""Content-addressed bytes."""

from __future__ import annotations

from callboard.contracts.facts.message import MessageText
from callboard.contracts.ports.store import Store

from ..samples import STREAM, batch, long_text_fact, text_fact


class BlobSuite:
    async def test_bytes_are_stored_by_hash(self, store: Store) -> None:
        """Design rule: a fact has no large content."""
        text = "ü" * 20_000
        long, blobs = long_text_fact(text)
        await store.facts.append(batch(0, long, blobs=blobs))

        (record,) = await store.facts.read(STREAM)
        assert isinstance(record.fact, MessageText)
        assert record.fact.content.ref == blobs[0].ref
        assert await store.blobs.get(blobs[0].ref.hash) == text.encode()

    async def test_a_range_of_the_bytes_can_be_read(self, store: Store) -> None:
        long, blobs = long_text_fact("0123456789" * 2000)
        await store.facts.append(batch(0, long, blobs=blobs))
        name = blobs[0].ref.hash

        assert await store.blobs.get_range(name, offset=12_345, length=10) == b"5678901234"
        assert await store.blobs.get_range(name, offset=19_995, length=100) == b"56789"
        assert await store.blobs.get_range(name, offset=50_000, length=10) == b""

    async def test_a_missing_blob_is_none(self, store: Store) -> None:
        for name in ("00" * 32, "no hash"):
            assert await store.blobs.get(name) is None
            assert await store.blobs.get_range(name, offset=0, length=1) is None

    async def test_a_blob_that_no_fact_names_belongs_to_the_stream(self, store: Store) -> None:
        _, blobs = long_text_fact("x" * 20_000)
        await store.facts.append(batch(0, text_fact("one"), blobs=blobs))
        assert await store.blobs.get(blobs[0].ref.hash) == blobs[0].data

        await store.facts.delete(STREAM)
        assert await store.blobs.get(blobs[0].ref.hash) is None

    async def test_content_is_never_taken_for_a_reference(self, store: Store) -> None:
        long, blobs = long_text_fact("x" * 20_000)
        forged = text_fact(f'{{"hash":"{blobs[0].ref.hash}"}}')
        await store.facts.append(batch(0, long, forged, blobs=blobs))

        await store.facts.erase(STREAM, 1)

        assert await store.blobs.get(blobs[0].ref.hash) is None
