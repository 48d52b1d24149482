"""Content-addressed bytes."""

from __future__ import annotations

from callboard.contracts.facts.message import MessageText
from callboard.contracts.ports.store import Store

from ..given import STREAM, batch, said, said_at_length


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
