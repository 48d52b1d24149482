"""Encoding of a conversation, once per round (R4) and in short slices of the event loop (R8)."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from callboard.contracts.ports.model import ModelMessage, ModelRequest
from callboard.models.turn import read_text
from callboard.models.wire.history import HistoryEncoder
from callboard.models.wire.history.rounds import Messages
from tests.models.requests import make_message


class Encoding:
    """An encoder that records the texts of messages.

    Each call uses `seconds` of processor time and sleeps for `waits` seconds.
    """

    def __init__(self, seconds: float = 0.0, waits: float = 0.0) -> None:
        self.encoded: list[str] = []
        self.times = 0
        self._seconds = seconds
        self._waits = waits

    async def __call__(self, messages: Messages) -> list[Any]:
        self.times += 1
        self._take_time()
        encoded = [{"role": message.role, "text": read_text(message)} for message in messages]
        self.encoded += [message["text"] for message in encoded]
        return encoded

    def _take_time(self) -> None:
        until = time.thread_time() + self._seconds
        while time.thread_time() < until:
            pass
        time.sleep(self._waits)


def conversation(rounds: int, start: int = 0) -> Messages:
    messages: list[ModelMessage] = []
    for number in range(start, rounds):
        messages += [make_message("user", f"q{number}"), make_message("assistant", f"a{number}")]
    return tuple(messages)


def conversation_request(messages: Messages, thread: str = "t") -> ModelRequest:
    return ModelRequest(model="m", system=(), messages=messages, session="s", thread=thread)


async def test_r4_a_message_is_encoded_once_for_any_number_of_requests() -> None:
    encoding = Encoding()
    encoder = HistoryEncoder(encoding)
    messages = conversation(50)
    for count in range(1, len(messages) + 1):
        splice, rest = await encoder.encode(conversation_request(messages[:count]))
        sent = json.loads(b"[" + b"".join(splice.pieces)[:-1] + b"]")
        assert [message["text"] for message in sent] + [read_text(message) for message in rest] == [
            read_text(message) for message in messages[:count]
        ]
    assert sorted(encoding.encoded) == sorted(read_text(message) for message in messages[:-2])


async def test_r4_removing_the_first_messages_keeps_the_encoded_rest() -> None:
    encoding = Encoding()
    encoder = HistoryEncoder(encoding)
    messages = conversation(40)
    await encoder.encode(conversation_request(messages))
    before = len(encoding.encoded)
    splice, rest = await encoder.encode(
        conversation_request((make_message("user", "a folder"), make_message("assistant", "fine"), *messages[20:]))
    )
    assert encoding.encoded[before:] == ["a folder", "fine"]
    assert json.loads(b"[" + b"".join(splice.pieces)[:-1] + b"]")[2]["text"] == "q10"
    assert rest == messages[-2:]


async def test_r4_newer_conversations_replace_unused_ones() -> None:
    encoding = Encoding()
    encoder = HistoryEncoder(encoding, kept_bytes=4_000)
    for thread in range(20):
        await encoder.encode(conversation_request(conversation(40), thread=str(thread)))
    count = len(encoding.encoded)
    await encoder.encode(conversation_request(conversation(40), thread="19"))
    assert len(encoding.encoded) == count
    await encoder.encode(conversation_request(conversation(40), thread="0"))
    assert len(encoding.encoded) == count + 78


@asynccontextmanager
async def record_other_turns() -> AsyncIterator[list[float]]:
    """Yield the times at which other work of the event loop ran."""
    turns: list[float] = []

    async def work() -> None:
        while True:
            turns.append(time.perf_counter())
            await asyncio.sleep(0)

    working = asyncio.create_task(work())
    yield turns
    working.cancel()


async def test_r4_encoding_a_long_conversation_does_not_block_the_event_loop() -> None:
    encoder = HistoryEncoder(Encoding(seconds=0.003))
    async with record_other_turns() as turns:
        await encoder.encode(conversation_request(conversation(30)))
    assert len(turns) >= 29


@pytest.mark.parametrize("changed", [0, 30])
async def test_r8_a_long_conversation_is_compared_copied_and_encoded_in_separate_slices(changed: int) -> None:
    encoder = HistoryEncoder(Encoding())
    messages = conversation(60)
    await encoder.encode(conversation_request(messages))
    async with record_other_turns() as turns:
        await encoder.encode(conversation_request((*messages[: changed * 2], *messages[changed * 2 + 2 :])))
    assert len(turns) >= 5


async def test_r4_a_busy_machine_needs_no_more_requests_for_a_conversation() -> None:
    """Slices are measured in processor time, which other processes do not use up."""
    encoding = Encoding(waits=0.005)
    await HistoryEncoder(encoding).encode(conversation_request(conversation(60)))
    assert encoding.times <= 7
