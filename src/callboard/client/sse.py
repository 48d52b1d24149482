"""Server-sent events out of the bytes of a response."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator

import msgspec


class Event(msgspec.Struct, frozen=True):
    """One event. `id` is empty where it has none."""

    id: str
    name: str
    data: bytes


async def events(chunks: AsyncIterator[bytes]) -> AsyncGenerator[Event]:
    """The events of a stream whose lines end in a line feed. Comments and an event that was cut off are left out.

    Lines are split as bytes: to text, more characters end a line than the format knows.
    """
    waiting = bytearray()
    searched = 0
    async for chunk in chunks:
        waiting += chunk
        while (end := waiting.find(b"\n\n", searched)) >= 0:
            event = _parse(bytes(waiting[:end]))
            del waiting[: end + 2]
            searched = 0
            if event is not None:
                yield event
        searched = max(0, len(waiting) - 1)


def _parse(block: bytes) -> Event | None:
    identity, name = "", "message"
    data: list[bytes] = []
    for line in block.split(b"\n"):
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            data.append(value)
        elif field == b"event":
            name = value.decode()
        elif field == b"id":
            identity = value.decode()
    return Event(identity, name, b"\n".join(data)) if data else None
