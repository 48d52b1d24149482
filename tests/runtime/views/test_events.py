"""The numbering of a workspace's events, for clients that connect, leave and lag."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import msgspec
import pytest

from callboard.contracts.content import Text
from callboard.contracts.facts.message import MessageText
from callboard.contracts.facts.session import SessionCreated
from callboard.contracts.facts.turn import TurnStarted
from callboard.contracts.live import Frame, build_partial_key
from callboard.contracts.ports.store import Append
from callboard.contracts.record import NewFact, Origin
from callboard.contracts.scope import Scope
from callboard.log.memory import MemoryStore
from callboard.runtime.events import order as numbering
from callboard.runtime.events import stream as following
from callboard.runtime.events.order import EventOrder, compute_first_number
from callboard.runtime.events.stream import EventStream

SESSION, HOME = "ses_a", "wks_a"
PLACE = Scope(agent="lead", thread="thr_a", turn="trn_a", run="run_a", step=2)


class EventRig:
    """A store, its event order, and the feed of a runtime."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.order = EventOrder(lambda: self.store.facts, self._home, lambda: self.store.epoch)
        self.events = EventStream(self.order, lambda: self.store.facts, lambda _: {})
        self.written = 0

    async def _home(self, stream: str) -> str:
        return HOME if stream == SESSION else "wks_other"

    async def fact(self, fact: Any, scope: Scope = PLACE, *, ends: tuple[str, ...] = (), stream: str = SESSION) -> None:
        """Commit a fact and send it to the feed."""
        head = await self.store.facts.read_head(stream)
        await self.store.facts.append(
            Append(stream=stream, expected=head.sequence, epoch=1, facts=(NewFact(fact, scope),), origin=Origin(at=1))
        )
        self.order.receive_facts(stream, ends)

    async def begin(self) -> None:
        await self.fact(SessionCreated(workspace_id=HOME, folder="/", title="t"))
        await self.fact(turn_started())

    def piece(self, text: str, offset: int) -> None:
        self.order.receive_frame(SESSION, Frame(kind="text", scope=PLACE, offset=offset, text=text))

    async def end(self, text: str) -> None:
        await self.fact(MessageText(content=Text(text=text)), ends=(build_partial_key("text", PLACE),))


def turn_started() -> TurnStarted:
    return TurnStarted(
        mode="chat", permission_mode="ask", max_iters=5, definition="lead", definition_hash="", workspace_sequence=0
    )


async def read_events(events: AsyncGenerator[bytes], count: int) -> list[dict[str, Any]]:
    """Return the next events. The last chunk can contain more."""
    received: list[dict[str, Any]] = []
    async with asyncio.timeout(30):
        while len(received) < count:
            for event in (await anext(events)).decode().strip().split("\n\n"):
                fields = dict(line.split(": ", 1) for line in event.split("\n"))
                wrapped = msgspec.json.decode(fields["data"])
                received.append({"seq": wrapped["seq"], **wrapped["event"]})
    return received


def tokens(events: list[dict[str, Any]]) -> list[tuple[int, str]]:
    return [(event["data"]["offset"], event["data"]["text"]) for event in events if event["type"] == "Token"]


async def test_live_numbers_continue_after_all_clients_left():
    """MAR-14: no number repeats, also without clients and facts in between."""
    rig = EventRig()
    await rig.begin()
    async with aclosing(rig.events.follow(HOME, None)) as events:
        await read_events(events, 1)
        rig.piece("one ", 0)
        received = await read_events(events, 2)
    rig.piece("two ", 4)
    async with aclosing(rig.events.follow(HOME, received[-1]["seq"])) as events:
        so_far = await read_events(events, 1)
        rig.piece("three", 8)
        rest = await read_events(events, 1)

    assert tokens(received) == [(0, "one ")]
    assert tokens(so_far) == [(0, "one two ")]
    assert tokens(rest) == [(8, "three")]
    numbers = [entry["seq"] for entry in [*received, *so_far, *rest]]
    assert numbers == sorted(set(numbers))


async def test_facts_have_the_same_numbers_live_and_from_the_log():
    """MAR-14"""
    rig = EventRig()
    await rig.begin()
    async with aclosing(rig.events.follow(HOME, 0)) as events:
        first = await read_events(events, 3)
        await rig.end("Done.")
        live = await read_events(events, 1)
    async with aclosing(rig.events.follow(HOME, 0)) as events:
        again = await read_events(events, 4)

    assert again == [*first, *live]
    assert [entry["type"] for entry in again] == ["StateUpdated", "StateUpdated", "AgentStatus", "Message"]
    assert [entry["seq"] for entry in again] == [
        compute_first_number(1),
        compute_first_number(2),
        compute_first_number(2) + 1,
        compute_first_number(3),
    ]


async def test_another_folders_events_are_not_sent_and_leave_only_a_gap():
    rig = EventRig()
    await rig.begin()
    async with aclosing(rig.events.follow(HOME, compute_first_number(2) + 1)) as events:
        await rig.fact(SessionCreated(workspace_id="wks_other", folder="/", title="t"), stream="ses_b")
        await rig.end("Done.")
        received = await read_events(events, 1)

    assert [(entry["type"], entry["seq"]) for entry in received] == [("Message", compute_first_number(4))]


async def test_a_lagging_client_gets_missed_events_from_the_log(monkeypatch: pytest.MonkeyPatch):
    """MAR-14, COM-14: with the text so far instead of its tokens."""
    monkeypatch.setattr(numbering, "MAX_BYTES", 600)
    rig = EventRig()
    await rig.begin()
    slow = rig.events.follow(HOME, 0)
    fast = rig.events.follow(HOME, 0)
    async with aclosing(slow), aclosing(fast):
        begun = await read_events(slow, 3)
        await read_events(fast, 3)
        for number in range(50):
            rig.piece(f"{number:02} ", 3 * number)
        whole: list[dict[str, Any]] = []
        while not tokens(whole) or sum(map(len, tokens(whole)[-1][1])) + tokens(whole)[-1][0] < 150:
            whole += await read_events(fast, 1)
        missed: list[dict[str, Any]] = []
        while not tokens(missed) or len(tokens(missed)[-1][1]) + tokens(missed)[-1][0] < 150:
            missed += await read_events(slow, 1)
        await rig.end("Done.")
        last = await read_events(slow, 1)

    so_far = [entry for entry in missed if entry["type"] == "Token" and entry["data"].get("so_far")]
    assert so_far[-1]["data"]["text"] == "".join(f"{number:02} " for number in range(50))
    assert [entry["type"] for entry in last] == ["Message"]
    numbers = [entry["seq"] for entry in [*begun, *missed, *last]]
    assert numbers == sorted(set(numbers))


async def test_a_full_block_uses_no_number_of_the_next(monkeypatch: pytest.MonkeyPatch):
    """MAR-14: the part's final Message contains its last tokens."""
    monkeypatch.setattr(numbering, "SHARE_BITS", 5)
    rig = EventRig()
    await rig.begin()
    async with aclosing(rig.events.follow(HOME, None)) as events:
        await read_events(events, 1)
        for number in range(40):
            rig.piece("x", number)
        await rig.end("x" * 40)
        received: list[dict[str, Any]] = []
        while not received or received[-1]["type"] != "Message":
            received += await read_events(events, 1)

    numbers = [entry["seq"] for entry in received]
    assert numbers == sorted(set(numbers))
    assert numbers[-1] == compute_first_number(3)
    assert 0 < len(tokens(received)) < 40


async def test_a_client_that_lags_too_far_receives_a_snapshot(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(following, "MAX_LAG", 1)
    rig = EventRig()
    await rig.begin()
    async with aclosing(rig.events.follow(HOME, 1)) as events:
        (state,) = await read_events(events, 1)

    assert (state["type"], state["data"]) == ("StateUpdated", {"change": "snapshot", "gap": True})


async def test_a_new_process_repeats_no_number_of_the_former_one():
    """MAR-14: also before it writes a fact. A client of the former process continues from its last
    number."""
    rig = EventRig()
    await rig.begin()
    async with aclosing(rig.events.follow(HOME, None)) as events:
        begun = await read_events(events, 1)
        rig.piece("one ", 0)
        received = begun + await read_events(events, 2)
    rig.store.epoch = 2
    rig.order = EventOrder(lambda: rig.store.facts, rig._home, lambda: rig.store.epoch)
    rig.events = EventStream(rig.order, lambda: rig.store.facts, lambda _: {})
    async with aclosing(rig.events.follow(HOME, None)) as events:
        fresh = await read_events(events, 1)
    async with aclosing(rig.events.follow(HOME, received[-1]["seq"])) as events:
        coming = asyncio.create_task(read_events(events, 1))
        await rig.end("one ")
        rest = await coming

    numbers = [entry["seq"] for entry in [*received, *fresh, *rest]]
    assert numbers == sorted(set(numbers))
    assert [entry["type"] for entry in rest] == ["Message"]
