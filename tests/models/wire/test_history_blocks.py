"""Blocks of encoded messages that the requests of a conversation share (R4)."""

from __future__ import annotations

import json
import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from callboard.contracts.ports.model import ModelMessage, ModelRequest, TextContent
from callboard.models.turn import read_text
from callboard.models.wire.history import HistoryEncoder
from callboard.models.wire.history.blocks import BLOCK, Blocks
from callboard.models.wire.history.body import Splice
from callboard.models.wire.history.rounds import Messages
from tests.models.requests import make_message


async def encode(messages: Messages) -> list[Any]:
    return [{"role": message.role, "text": read_text(message)} for message in messages]


def conversation_request(messages: Messages) -> ModelRequest:
    return ModelRequest(model="m", system=(), messages=messages, session="s", thread="t")


def conversation(roles: list[bool], size: int = 1) -> list[ModelMessage]:
    return [
        make_message("assistant" if answers else "user", TextContent(f"{number} {'x' * size}"))
        for number, answers in enumerate(roles)
    ]


def join_pieces(splice: Splice) -> bytes:
    body = b"".join(splice.pieces)
    assert len(body) == splice.size
    return body


@given(
    roles=st.lists(st.booleans(), min_size=1, max_size=40),
    spans=st.lists(st.tuples(st.integers(0, 9), st.integers(1, 40), st.integers(0, 40), st.booleans()), max_size=8),
)
async def test_r4_a_changing_history_equals_a_newly_encoded_one(
    roles: list[bool], spans: list[tuple[int, int, int, bool]]
) -> None:
    encoder = HistoryEncoder(encode)
    everything = (*conversation(roles), *conversation([False]))
    for start, end, hole, summary in spans:
        front = (make_message("user", TextContent("a summary")),) if summary else ()
        messages = (*front, *everything[start : min(hole, end)], *everything[hole + 1 : end])
        splice, rest = await encoder.encode(conversation_request(messages))
        fresh, whole = await HistoryEncoder(encode).encode(conversation_request(messages))
        assert join_pieces(splice) == join_pieces(fresh)
        assert rest == whole
        items = [*json.loads(b"[" + join_pieces(splice)[:-1] + b"]"), *await encode(rest)]
        assert items == await encode(messages)


async def test_r4_a_call_reuses_the_blocks_of_the_previous_call() -> None:
    """A call copies the new messages and a bounded number of earlier bytes."""
    encoder = HistoryEncoder(encode)
    messages = tuple(conversation([False, True] * 3_000, size=2_000))
    before, _ = await encoder.encode(conversation_request(messages[:-200]))
    copied = 0
    for end in range(len(messages) - 199, len(messages) + 1, 2):
        splice, _ = await encoder.encode(conversation_request(messages[:end]))
        earlier = {id(piece) for piece in before.pieces}
        copied += sum(len(piece) for piece in splice.pieces if id(piece) not in earlier)
        assert max(map(len, splice.pieces)) < 2 * BLOCK
        assert len(splice.pieces) <= splice.size / BLOCK + math.log2(BLOCK) + 1
        before = splice
    assert copied <= 2 * BLOCK + 200 * 2_100 * math.log2(200)


@given(st.lists(st.integers(0, 2 * BLOCK // 10), max_size=30), st.data())
def test_r4_any_range_of_the_blocks_equals_the_added_bytes(sizes: list[int], data: st.DataObject) -> None:
    blocks, added = Blocks(), bytearray()
    for number, size in enumerate(sizes):
        piece = bytes([number]) * size
        blocks.add(piece)
        added += piece
        if data.draw(st.booleans()):
            assert b"".join(blocks.list_blocks()) == added
    assert blocks.size == len(added)
    start, end = sorted((data.draw(st.integers(0, len(added))), data.draw(st.integers(0, len(added)))))
    assert b"".join(blocks.read_range(start, end)) == added[start:end]
