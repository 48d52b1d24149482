"""Encoded finished rounds of a model's conversations."""

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
from .body import Expand, Splice, join_items, keep_unchanged
from .rounds import Messages, find_finished_rounds, is_question, split_items

#: Encodes messages as items of the wire format.
Encode = Callable[[Messages], Awaitable[list[Any]]]

#: Maximum number of cached bytes for all conversations of a model. The newest conversation is always cached.
KEPT_BYTES: Final = 64 * 1024 * 1024
#: Processor seconds and rounds of a slice of encoding, after which other work of the event loop runs.
SLICE_SECONDS: Final = 0.002
MAX_ROUNDS: Final = 64


def _create_numbers() -> array[int]:
    # A full garbage collection would visit each number of a list.
    return array("q")


@dataclass
class _Encoded:
    """Encoded rounds at the beginning of `messages`. Round n ends before message `ends[n]` and byte `offsets[n]`."""

    messages: Messages = ()
    ends: array[int] = field(default_factory=_create_numbers)
    offsets: array[int] = field(default_factory=_create_numbers)
    blocks: Blocks = field(default_factory=Blocks)

    @property
    def count(self) -> int:
        """The number of messages in the rounds."""
        return self.ends[-1] if self.ends else 0

    def add(self, count: int, pieces: Sequence[bytes]) -> None:
        """Append a round of `count` messages."""
        for piece in pieces:
            self.blocks.add(piece)
        self.ends.append(self.count + count)
        self.offsets.append(self.blocks.size)

    def add_rounds(self, other: _Encoded, first: int, last: int) -> None:
        """Append the rounds of another conversation from `first` to before `last`."""
        if first == last:
            return
        end, offset = (other.ends[first - 1], other.offsets[first - 1]) if first else (0, 0)
        messages, size = self.count - end, self.blocks.size - offset
        for piece in other.blocks.read_range(offset, other.offsets[last - 1]):
            self.blocks.add(piece)
        self.ends.extend(map(messages.__add__, other.ends[first:last]))
        self.offsets.extend(map(size.__add__, other.offsets[first:last]))

    def index_rounds(self) -> dict[int, int]:
        """Return the number of each round by the identity of its first message."""
        starts = (0, *self.ends)[: len(self.ends)]
        return dict(zip(map(id, map(self.messages.__getitem__, starts)), range(len(starts)), strict=True))

    def find_difference(self, first: int, messages: Messages, start: int) -> int:
        """Return the first round, from `first` on, that `messages` from `start` on do not repeat and finish."""
        begin = self.ends[first - 1] if first else 0
        size = min(self.count - begin, len(messages) - start)
        former, new = self.messages[begin : begin + size], messages[start : start + size]
        if former != new:
            size = next(at for at, (left, right) in enumerate(zip(former, new, strict=True)) if left != right)
        last = bisect_right(self.ends, begin + size, lo=first)
        while last > first and not is_question(messages, start + self.ends[last - 1] - begin):
            last -= 1
        return last


class HistoryEncoder:
    """Encodes each round of a conversation once and caches the bytes for the next request of the thread.

    Args:
        expand: Inserts content in place of marks in encoded bytes.
    """

    def __init__(self, encode: Encode, expand: Expand = keep_unchanged, *, kept_bytes: int = KEPT_BYTES) -> None:
        self._encode = encode
        self._expand = expand
        self._kept_bytes = kept_bytes
        self._cache: dict[tuple[str, str], _Encoded] = {}
        self._size = 0
        self._slice_rounds = 1

    async def encode(self, request: ModelRequest) -> tuple[Splice, Messages]:
        """Return the finished rounds as bytes, and the messages after them.

        Rounds of the thread's last request are reused. The others are encoded in slices of some milliseconds.
        """
        key, messages = (request.session, request.thread), request.messages
        if messages and messages[0].role == "assistant":
            # Some libraries add an empty question before it, so the whole conversation must be encoded.
            return Splice(), messages
        # Removed, so that concurrent requests of a thread do not extend the same lists.
        former = encoded = self._remove(key)
        repeated = former.find_difference(0, messages, 0)
        if repeated < len(former.ends):
            encoded = _Encoded()
            await asyncio.sleep(0)
            encoded.add_rounds(former, 0, repeated)
        else:
            former = _Encoded()
        # Replace equal messages, because comparing an object with itself is fast.
        encoded.messages = messages
        try:
            await self._extend(encoded, former)
        finally:
            self._store(key, encoded)
        return Splice(encoded.blocks.list_blocks(), encoded.blocks.size), messages[encoded.count :]

    async def _extend(self, encoded: _Encoded, former: _Encoded) -> None:
        messages, start = encoded.messages, encoded.count
        # Each pass over a long conversation takes a slice.
        await asyncio.sleep(0)
        numbers = former.index_rounds()
        await asyncio.sleep(0)
        since = time.thread_time()
        waiting: list[Messages] = []
        for end in find_finished_rounds(messages, start):
            if end <= start:
                # Added with the rounds before it.
                continue
            first = numbers.get(id(messages[start]), len(former.ends))
            last = former.find_difference(first, messages, start)
            if last > first:
                await self._encode_all(encoded, waiting)
                waiting = []
                await asyncio.sleep(0)
                encoded.add_rounds(former, first, last)
                await asyncio.sleep(0)
                since, start = time.thread_time(), encoded.count
            else:
                waiting.append(messages[start:end])
                start = end
                if len(waiting) >= self._slice_rounds:
                    await self._encode_all(encoded, waiting)
                    waiting = []
            if time.thread_time() - since >= SLICE_SECONDS / 4:
                await asyncio.sleep(0)
                since = time.thread_time()
        await self._encode_all(encoded, waiting)

    async def _encode_all(self, encoded: _Encoded, rounds: list[Messages]) -> None:
        if not rounds:
            return
        # Processor time of this thread, because clock time includes other load.
        began = time.thread_time()
        encoded_rounds = split_items(await self._encode(tuple(message for group in rounds for message in group)))
        if len(encoded_rounds) != len(rounds):
            # Some message has no item, such as a response with nothing for this model.
            encoded_rounds = [await self._encode(group) for group in rounds]
        for group, items in zip(rounds, encoded_rounds, strict=True):
            encoded.add(len(group), self._expand(join_items(items) + b",") if items else ())
        duration = time.thread_time() - began
        if duration > SLICE_SECONDS:
            self._slice_rounds = max(1, self._slice_rounds * 3 // 4)
        elif duration < SLICE_SECONDS * 3 / 4 and len(rounds) == self._slice_rounds:
            more = self._slice_rounds if duration < SLICE_SECONDS / 2 else 1
            self._slice_rounds = min(MAX_ROUNDS, self._slice_rounds + more)

    def _remove(self, key: tuple[str, str]) -> _Encoded:
        removed = self._cache.pop(key, None) or _Encoded()
        self._size -= removed.blocks.size
        return removed

    def _store(self, key: tuple[str, str], encoded: _Encoded) -> None:
        # A concurrent request of the thread may have stored its own.
        self._remove(key)
        self._cache[key] = encoded
        self._size += encoded.blocks.size
        while self._size > self._kept_bytes and len(self._cache) > 1:
            self._remove(next(iter(self._cache)))
