"""The conversations of one model, encoded as far as nothing more joins them."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

from callboard.contracts.ports.model import ModelRequest

from .body import Splice, join_items
from .rounds import Messages, finished_rounds, split_items

#: Encodes messages by themselves, as items of the wire format.
Encode = Callable[[Messages], Awaitable[list[Any]]]

#: Encoded bytes that are kept for all conversations of a model; the newest conversation is kept in any case.
KEPT_BYTES: Final = 64 * 1024 * 1024
#: Seconds of the processor that encoding takes at once, and rounds: then other work of the event loop gets its turn.
SLICE_S: Final = 0.0035
MOST_ROUNDS: Final = 64


@dataclass
class _Encoded:
    """The encoded rounds of one conversation: they cover `messages`, and round n ends before `ends[n]`."""

    messages: Messages = ()
    ends: list[int] = field(default_factory=list[int])
    pieces: list[bytes] = field(default_factory=list[bytes])
    size: int = 0

    def add(self, count: int, piece: bytes) -> None:
        self.ends.append((self.ends[-1] if self.ends else 0) + count)
        self.pieces.append(piece)
        self.size += len(piece)

    def rounds(self) -> dict[int, tuple[Messages, bytes]]:
        """Return the rounds by the identity of their first message."""
        starts = (0, *self.ends)
        return {
            id(self.messages[start]): (self.messages[start:end], piece)
            for start, end, piece in zip(starts, self.ends, self.pieces, strict=False)
        }


class HistoryEncoder:
    """Encodes each round of a conversation once and keeps the bytes for the next request of the same thread.

    Example:
        splice, rest = await HistoryEncoder(encode).encode(request)
    """

    def __init__(self, encode: Encode, kept_bytes: int = KEPT_BYTES) -> None:
        self._encode = encode
        self._kept_bytes = kept_bytes
        self._kept: OrderedDict[tuple[str, str], _Encoded] = OrderedDict()
        self._at_once = 1

    async def encode(self, request: ModelRequest) -> tuple[Splice, Messages]:
        """Return the finished rounds as bytes, and the messages after them.

        Rounds that the last request of the thread had are reused. The others are encoded in slices of some milliseconds.
        """
        key, messages = (request.session, request.thread), request.messages
        if messages and messages[0].role == "assistant":
            # Some libraries put an empty question before it, which only the whole conversation shows.
            return Splice(), messages
        known = self._kept.get(key) or _Encoded()
        count = len(known.messages)
        if messages[:count] == known.messages:
            # A copy: the body of an earlier request may still be under way.
            encoded = _Encoded(known.messages, known.ends.copy(), known.pieces.copy(), known.size)
            await self._extend(encoded, messages, {})
        else:
            encoded = _Encoded()
            await self._extend(encoded, messages, known.rounds())
        self._keep(key, encoded)
        return Splice(encoded.pieces, encoded.size), messages[len(encoded.messages) :]

    async def _extend(self, encoded: _Encoded, messages: Messages, known: dict[int, tuple[Messages, bytes]]) -> None:
        start, since = len(encoded.messages), time.thread_time()
        waiting: list[Messages] = []
        for end in finished_rounds(messages, start):
            one = messages[start:end]
            start = end
            earlier, piece = known.get(id(one[0]), ((), b""))
            if earlier == one:
                await self._encode_all(encoded, waiting)
                waiting = []
                encoded.add(len(one), piece)
            else:
                waiting.append(one)
                if len(waiting) >= self._at_once:
                    await self._encode_all(encoded, waiting)
                    waiting = []
            if time.thread_time() - since >= SLICE_S / 4:
                await asyncio.sleep(0)
                since = time.thread_time()
        await self._encode_all(encoded, waiting)
        encoded.messages = messages[:start]

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
            encoded.add(len(one), join_items(items) + b"," if items else b"")
        took = time.thread_time() - began
        if took > SLICE_S:
            self._at_once = max(1, self._at_once * 3 // 4)
        elif took < SLICE_S * 3 / 4 and len(rounds) == self._at_once:
            more = self._at_once if took < SLICE_S / 2 else 1
            self._at_once = min(MOST_ROUNDS, self._at_once + more)

    def _keep(self, key: tuple[str, str], encoded: _Encoded) -> None:
        self._kept[key] = encoded
        self._kept.move_to_end(key)
        size = sum(one.size for one in self._kept.values())
        while size > self._kept_bytes and len(self._kept) > 1:
            _, dropped = self._kept.popitem(last=False)
            size -= dropped.size
