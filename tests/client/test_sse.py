from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from callboard.client.sse import Event, events

STREAM = (
    b": hello\n\nid: 1.0\nevent: snapshot\ndata: {}\n\n:\n\nid: 1.1\nevent: ops\ndata: \xe2\x80\xa8\n\n"
    b"event: gap\ndata: a\ndata: b\n\nid: 9\nevent: cut\ndata: off"
)
EVENTS = [
    Event("1.0", "snapshot", b"{}"),
    Event("1.1", "ops", b"\xe2\x80\xa8"),
    Event("", "gap", b"a\nb"),
]


@pytest.mark.parametrize("size", [1, 2, 3, 7, len(STREAM)])
async def test_events_are_the_same_however_their_bytes_come(size: int):
    """COM-14"""

    async def chunks() -> AsyncIterator[bytes]:
        for start in range(0, len(STREAM), size):
            yield STREAM[start : start + size]

    assert [event async for event in events(chunks())] == EVENTS
