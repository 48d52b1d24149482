"""Stored conversations of threads."""

from __future__ import annotations

from callboard.contracts.ports.store import Store

from ..samples import STREAM, batch, fill, long_text_fact, stored_conversation


class ConversationSuite:
    async def test_a_stored_conversation_is_read_with_its_parts(self, store: Store) -> None:
        """Design rule: a stored conversation has a sequence, a chain link and a fingerprint."""
        assert await store.conversations.read(STREAM, "thr_a", "1") is None
        first, other = stored_conversation("thr_a"), stored_conversation("thr_b", b"", b"\x00more")

        await store.conversations.save(STREAM, first, ["thr_a", "thr_b"])
        await store.conversations.save(STREAM, other, ["thr_a", "thr_b"])

        assert await store.conversations.read(STREAM, "thr_a", "1") == first
        assert await store.conversations.read(STREAM, "thr_b", "1") == other
        assert await store.conversations.read(STREAM, "thr_c", "1") is None
        assert await store.conversations.read("ses_two", "thr_a", "1") is None
        assert await store.conversations.read(STREAM, "thr_a", "2") is None

    async def test_a_newer_conversation_replaces_the_older(self, store: Store) -> None:
        await store.conversations.save(STREAM, stored_conversation("thr_a"), ["thr_a"])
        newer = stored_conversation("thr_a", b"newer", sequence=9, fingerprint="2")

        await store.conversations.save(STREAM, newer, ["thr_a"])

        assert await store.conversations.read(STREAM, "thr_a", "1") is None
        assert await store.conversations.read(STREAM, "thr_a", "2") == newer

    async def test_conversations_of_ended_threads_are_deleted(self, store: Store) -> None:
        for stream in (STREAM, "ses_two"):
            for thread in ("thr_a", "thr_b"):
                await store.conversations.save(stream, stored_conversation(thread), {"thr_a": 1, "thr_b": 2})

        await store.conversations.save(STREAM, stored_conversation("thr_c"), {"thr_b": 2, "thr_c": 3})

        threads = ("thr_a", "thr_b", "thr_c")
        assert [await store.conversations.read(STREAM, thread, "1") is not None for thread in threads] == [
            False,
            True,
            True,
        ]
        assert await store.conversations.read("ses_two", "thr_a", "1") is not None

    async def test_whatever_removes_content_of_a_stream_removes_its_conversations(self, store: Store) -> None:
        """Design rule: an erasure, a trim and a deletion remove everything derived from the content."""
        long, blobs = long_text_fact("long ago " * 5000)
        for stream in ("ses_erased", "ses_trimmed", "ses_deleted", "ses_cleared", "ses_kept"):
            await fill(store, 1, stream)
            await store.facts.append(batch(1, long, blobs=blobs, stream=stream))
            await store.conversations.save(stream, stored_conversation("thr_a"), ["thr_a"])

        await store.facts.erase("ses_erased", 1)
        await store.facts.trim("ses_trimmed", 1000)
        await store.facts.delete("ses_deleted")
        await store.rows.clear("ses_cleared")

        for stream in ("ses_erased", "ses_trimmed", "ses_deleted", "ses_cleared"):
            assert await store.conversations.read(stream, "thr_a", "1") is None, stream
        assert await store.conversations.read("ses_kept", "thr_a", "1") is not None
