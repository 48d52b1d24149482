"""The conversations of one model, encoded as far as nothing more joins them."""

from __future__ import annotations

import asyncio
import time
from array import array
from bisect import bisect_right
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from callboard.contracts.ports.model import ModelRequest

from .blocks import Blocks
from .body import Expand, Splice, join_items, unexpanded
from .rounds import Messages, asks, finished_rounds, split_items

#: Encodes messages by themselves, as items of the wire format.
Encode = Callable[[Messages], Awaitable[list[Any]]]

#: Encoded bytes that are kept for all conversations of a model; the newest conversation is kept in any case.
KEPT_BYTES: Final = 64 * 1024 * 1024
#: Seconds of the processor that encoding takes at once, and rounds: then other work of the event loop gets its turn.
SLICE_S: Final = 0.002
MOST_ROUNDS: Final = 64


def _numbers() -> array[int]:
    # Of thousands of rounds: a list would be visited number by number in each full garbage collection.
    return array("q")


@dataclass
class _Encoded:
    """The encoded rounds at the beginning of `messages`. Round n ends before message `ends[n]`, its bytes before
    `offsets[n]`."""

    messages: Messages = ()
    ends: array[int] = field(default_factory=_numbers)
    offsets: array[int] = field(default_factory=_numbers)
    blocks: Blocks = field(default_factory=Blocks)

    @property
    def count(self) -> int:
        """How many messages the rounds have."""
        return self.ends[-1] if self.ends else 0

    def add(self, count: int, pieces: Sequence[bytes]) -> None:
        """Append a round of `count` messages."""
        for piece in pieces:
            self.blocks.add(piece)
        self.ends.append(self.count + count)
        self.offsets.append(self.blocks.size)

    def add_rounds(self, other: _Encoded, first: int, last: int) -> None:
        """Append the rounds of another conversation from `first` up to and without `last`."""
        if first == last:
            return
        end, offset = (other.ends[first - 1], other.offsets[first - 1]) if first else (0, 0)
        more, later = self.count - end, self.blocks.size - offset
        for piece in other.blocks.between(offset, other.offsets[last - 1]):
            self.blocks.add(piece)
        self.ends.extend(map(more.__add__, other.ends[first:last]))
        self.offsets.extend(map(later.__add__, other.offsets[first:last]))

    def rounds(self) -> dict[int, int]:
        """Return the number of each round by the identity of its first message."""
        starts = (0, *self.ends)[: len(self.ends)]
        return dict(zip(map(id, map(self.messages.__getitem__, starts)), range(len(starts)), strict=True))

    def repeated(self, first: int, messages: Messages, start: int) -> int:
        """Return the number of the first round, from `first` on, that `messages` do not repeat and finish from `start` on."""
        begin = self.ends[first - 1] if first else 0
        size = min(self.count - begin, len(messages) - start)
        ours, theirs = self.messages[begin : begin + size], messages[start : start + size]
        if ours != theirs:
            size = next(at for at, (one, other) in enumerate(zip(ours, theirs, strict=True)) if one != other)
        last = bisect_right(self.ends, begin + size, lo=first)
        while last > first and not asks(messages, start + self.ends[last - 1] - begin):
            last -= 1
        return last


class HistoryEncoder:
    """Encodes each round of a conversation once and keeps the bytes for the next request of the same thread. `expand` puts
    into encoded bytes what the wire format was not given.

    Example:
        splice, rest = await HistoryEncoder(encode).encode(request)
    """

    def __init__(self, encode: Encode, expand: Expand = unexpanded, *, kept_bytes: int = KEPT_BYTES) -> None:
        self._encode = encode
        self._expand = expand
        self._kept_bytes = kept_bytes
        self._kept: dict[tuple[str, str], _Encoded] = {}
        self._size = 0
        self._at_once = 1

    async def encode(self, request: ModelRequest) -> tuple[Splice, Messages]:
        """Return the finished rounds as bytes, and the messages after them.

        Rounds that the last request of the thread had are reused. The others are encoded in slices of some milliseconds.
        """
        key, messages = (request.session, request.thread), request.messages
        if messages and messages[0].role == "assistant":
            # Some libraries put an empty question before it, which only the whole conversation shows.
            return Splice(), messages
        # Nobody else has it meanwhile: two requests of a thread at the same time do not extend the same lists.
        known = encoded = self._remove(key)
        repeated = known.repeated(0, messages, 0)
        if repeated < len(known.ends):
            encoded = _Encoded()
            await asyncio.sleep(0)
            encoded.add_rounds(known, 0, repeated)
        else:
            known = _Encoded()
        # A message that equals one of before is replaced: comparing it with itself costs nothing next time.
        encoded.messages = messages
        try:
            await self._extend(encoded, known)
        finally:
            self._keep(key, encoded)
        return Splice(encoded.blocks.snapshot(), encoded.blocks.size), messages[encoded.count :]

    async def _extend(self, encoded: _Encoded, known: _Encoded) -> None:
        messages, start = encoded.messages, encoded.count
        # Each look at all of a long conversation takes a slice.
        await asyncio.sleep(0)
        numbers = known.rounds()
        await asyncio.sleep(0)
        since = time.thread_time()
        waiting: list[Messages] = []
        for end in finished_rounds(messages, start):
            if end <= start:
                # It came with those before it.
                continue
            first = numbers.get(id(messages[start]), len(known.ends))
            last = known.repeated(first, messages, start)
            if last > first:
                await self._encode_all(encoded, waiting)
                waiting = []
                await asyncio.sleep(0)
                encoded.add_rounds(known, first, last)
                await asyncio.sleep(0)
                since, start = time.thread_time(), encoded.count
            else:
                waiting.append(messages[start:end])
                start = end
                if len(waiting) >= self._at_once:
                    await self._encode_all(encoded, waiting)
                    waiting = []
            if time.thread_time() - since >= SLICE_S / 4:
                await asyncio.sleep(0)
                since = time.thread_time()
        await self._encode_all(encoded, waiting)

    async def _encode_all(self, encoded: _Encoded, rounds: list[Messages]) -> None:
        if not rounds:
            return
        # The processor's time of this thread: on a busy machine the clock would say that single rounds are too much.
        began = time.thread_time()
        found = split_items(await self._encode(tuple(message for one in rounds for message in one)))
        if len(found) != len(rounds):
            # Some message has no item of its own, such as an answer of which this model reads nothing.
            found = [await self._encode(one) for one in rounds]
        for one, items in zip(rounds, found, strict=True):
            encoded.add(len(one), self._expand(join_items(items) + b",") if items else ())
        took = time.thread_time() - began
        if took > SLICE_S:
            self._at_once = max(1, self._at_once * 3 // 4)
        elif took < SLICE_S * 3 / 4 and len(rounds) == self._at_once:
            more = self._at_once if took < SLICE_S / 2 else 1
            self._at_once = min(MOST_ROUNDS, self._at_once + more)

    def _remove(self, key: tuple[str, str]) -> _Encoded:
        removed = self._kept.pop(key, None) or _Encoded()
        self._size -= removed.blocks.size
        return removed

    def _keep(self, key: tuple[str, str], encoded: _Encoded) -> None:
        # Another request of the thread may have kept its own meanwhile.
        self._remove(key)
        self._kept[key] = encoded
        self._size += encoded.blocks.size
        while self._size > self._kept_bytes and len(self._kept) > 1:
            self._remove(next(iter(self._kept)))
