"""Conversations that continue from a stored state."""

from __future__ import annotations

import asyncio

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from callboard.contracts.ports.model import ImageContent, ModelMessage, TextContent
from callboard.runtime.prompts import stored_history
from callboard.runtime.prompts.content_renderer import Pinned
from callboard.runtime.prompts.conversation_lines import Entry
from callboard.runtime.prompts.history import History
from callboard.runtime.prompts.stored_history import HistoryState, decode_history, encode_history

from .random_histories import STEPS, THREAD, RandomHistory


def read_everything(history: History, sequence: int) -> list[object]:
    """Return all that a conversation answers."""
    return [
        history.build_messages(),
        history.build_messages(images=False),
        history.find_newest_turn_index(),
        history.split_newest_inputs(),
        [history.build_messages_until(through) for through in range(0, sequence + 1, 5)],
        [history.find_output(f"call_{number}") for number in range(4)],
    ]


async def restore(state: HistoryState) -> HistoryState:
    """Return the state after its encoding."""
    parts = await encode_history(state)
    assert parts is not None
    restored = await decode_history(parts)
    assert restored == state
    return restored


async def compare(steps: list[tuple[str, int]], cuts: list[int]) -> None:
    log = RandomHistory(steps)
    records = log.records
    whole = History(THREAD, log.blobs, log.read)
    continued = History(THREAD, log.blobs, log.read)
    for record in records:
        await whole.add(record)
        await continued.add(record)
        if record.sequence in cuts:
            # A restart: some conversations were read before, others were not.
            if record.sequence % 2:
                read_everything(continued, record.sequence)
            state = continued.capture_state(record.sequence)
            continued = History(THREAD, log.blobs, log.read, await restore(state))
            assert read_everything(continued, record.sequence) == read_everything(whole, record.sequence)
    assert read_everything(continued, len(records)) == read_everything(whole, len(records))
    assert continued.capture_state(len(records)) == whole.capture_state(len(records))


#: Every kind of open work at a restart: an input, a steer, calls with notes, items, a pin, a retry and a truncated output.
OPEN_WORK = [
    *(("isolate", 1), ("submit", 1), ("start", 0), ("remote", 1), ("pin", 1), ("ask", 1)),
    *(("call", 0), ("end", 8), ("call", 2), ("send", 0), ("steer", 0), ("submit", 0), ("interrupted", 1)),
    *(("ask", 0), ("accept", 0), ("end", 6), ("reserve", 1), ("start", 0), ("pin", 1), ("remote", 1), ("text", 0)),
    *(("send", 1), ("steer", 2), ("call", 3), ("call", 1), ("end", 9)),
]


@settings(max_examples=300, deadline=None)
@given(STEPS, st.lists(st.integers(1, 70), min_size=1, max_size=3))
@example(OPEN_WORK, [13])
@example([("submit", 1), ("start", 0), ("submit", 7), ("call", 0), ("end", 5), ("compact", 0), ("text", 1)], [5, 6])
def test_r4_a_restored_conversation_continues_like_the_whole_one(steps: list[tuple[str, int]], cuts: list[int]) -> None:
    """R4, UI-29: from any point of a log."""
    asyncio.run(compare(steps, cuts))


async def test_a_later_fact_does_not_change_a_captured_state() -> None:
    log = RandomHistory(OPEN_WORK)
    history = History(THREAD, log.blobs, log.read)
    for record in log.records[:13]:
        await history.add(record)
    state = history.capture_state(13)
    before = await encode_history(state)

    for record in log.records[13:]:
        await history.add(record)

    assert await encode_history(state) == before


async def test_equal_pins_of_many_turns_are_stored_once() -> None:
    """R6: a pinned file of 100 kB does not grow the store with each turn."""
    pinned = Pinned("file", "hash", (TextContent("x" * 100_000),))
    nothing = ModelMessage(role="user", content=())
    entries = tuple(Entry(number, number, nothing, pins=(pinned,)) for number in range(300))

    state = HistoryState(pinned=(pinned,), entries=entries)

    parts = await encode_history(state)
    assert parts is not None
    assert sum(map(len, parts)) < 150_000
    assert await decode_history(parts) == state


async def test_a_large_conversation_is_encoded_in_small_parts() -> None:
    """Design numbers: no block of the event loop grows with the conversation."""
    entries = tuple(
        Entry(number, 1, ModelMessage(role="user", content=(TextContent("x" * 1000),))) for number in range(5000)
    )

    parts = await encode_history(HistoryState(entries=entries))

    assert parts is not None
    assert len(parts) > 50
    assert max(map(len, parts)) < 100_000


@pytest.mark.parametrize("has_images", [False, True])
async def test_a_conversation_above_the_limit_is_not_encoded(
    monkeypatch: pytest.MonkeyPatch, *, has_images: bool
) -> None:
    """R6: images of megabytes stay in their blobs."""
    monkeypatch.setattr(stored_history, "MAX_STORED_BYTES", 10_000)
    content = ImageContent(b"x" * 6000, "image/png") if has_images else TextContent("x" * 6000)
    entry = Entry(1, 1, ModelMessage(role="user", content=(content,)))

    assert await encode_history(HistoryState(has_images=has_images, entries=(entry,))) is not None
    assert await encode_history(HistoryState(has_images=has_images, entries=(entry, entry))) is None
    assert await encode_history(HistoryState(summary=(entry.message, entry.message))) is None


@pytest.mark.parametrize("parts", [(), (b"",), (b"{}",), (b"\x93\xa1x\x90\x90", b"\x90")])
async def test_invalid_parts_do_not_decode(parts: tuple[bytes, ...]) -> None:
    with pytest.raises(msgspec.MsgspecError):
        await decode_history(parts)


async def test_parts_without_their_pinned_contents_do_not_decode() -> None:
    """S1: a caller that handles invalid parts also handles parts that do not fit each other."""
    pinned = Pinned("file", "hash", (TextContent("x"),))
    nothing = ModelMessage(role="user", content=())
    entries = tuple(Entry(number, number, nothing, pins=(pinned,)) for number in range(60))
    parts = await encode_history(HistoryState(entries=entries))

    assert parts is not None
    assert len(parts) == 3
    with pytest.raises(msgspec.MsgspecError):
        await decode_history(parts[1:])
