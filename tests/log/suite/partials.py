"""Partial texts."""

from __future__ import annotations

import os

import pytest

from callboard.contracts.errors import Refusal
from callboard.contracts.live import Partial, build_partial_key
from callboard.contracts.ports.store import Head, Store
from callboard.log import chain

from ..samples import SCOPE, STREAM, batch, frame, text_fact

NOTHING = Head(sequence=0, link=chain.begin_chain(STREAM))


class PartialSuite:
    async def test_pieces_add_up_to_the_text_so_far(self, store: Store) -> None:
        """Design rule: streamed text is not a fact."""
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
        assert await store.facts.read_head(STREAM) == NOTHING
        assert await store.facts.list_streams("") == ()

    async def test_a_piece_out_of_order_is_refused_and_not_stored(self, store: Store) -> None:
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
            await store.facts.append(batch(9, text_fact("one"), ends=(build_partial_key("text", SCOPE),)))
        assert len(await store.partials.read(STREAM)) == 2

        await store.facts.append(batch(0, text_fact("one"), ends=(build_partial_key("text", SCOPE), "run_a.9.text")))
        assert [partial.text for partial in await store.partials.read(STREAM)] == ["two"]

    async def test_a_part_can_begin_without_text(self, store: Store) -> None:
        await store.partials.write(STREAM, 1, [frame("", kind="arguments", tool="Bash")])
        await store.partials.write(STREAM, 1, [frame("{}", kind="arguments")])

        assert await store.partials.read(STREAM) == (
            Partial(kind="arguments", scope=frame("").scope, text="{}", tool="Bash"),
        )

    async def test_a_long_answer_in_many_pieces_is_read_in_full(self, store: Store) -> None:
        text = os.urandom(50_000).hex()
        for at in range(0, len(text), 2000):
            await store.partials.write(STREAM, 1, [frame(text[at : at + 2000], at)])

        (partial,) = await store.partials.read(STREAM)
        assert partial.text == text
