"""Numbers in facts: events have the chained values, live and after a restart."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from callboard.contracts.facts import FACTS
from callboard.contracts.facts.model import CostRecorded
from callboard.contracts.facts.tool import SandboxApplied
from callboard.contracts.record import NewFact, decode_payload, encode_payload, normalise_floats
from callboard.log.memory import MemoryStore
from callboard.log.sqlite import open_store
from callboard.projection.emit.runtime import build_wire_event

from .samples import SCOPE, STREAM, batch


def _facts() -> tuple[NewFact, ...]:
    sandbox = SandboxApplied(level="none", limits={"guard": {"memory": 4096, "timeout": 1.5}})
    return (NewFact(CostRecorded(amount=3), SCOPE), NewFact(sandbox, replace(SCOPE, tool_call="cal_a")))


async def test_r7_a_whole_number_is_sent_as_it_is_chained(tmp_path: Path) -> None:
    """R7: `4096` live is `4096` after a restart, and the facts themselves are equal."""
    store = open_store(tmp_path)
    live = await store.facts.append(batch(0, *_facts()))
    sent = [bytes(build_wire_event(record, "rtm").payload) for record in live]
    chained = [stored.payload for stored in await store.facts.read_bytes(STREAM)]
    await store.close()

    again = open_store(tmp_path)
    read = await again.facts.read(STREAM)
    await again.close()

    assert [bytes(build_wire_event(record, "rtm").payload) for record in read] == sent == chained
    assert (b"4096" in sent[1], b"4096.0" in sent[1]) == (True, False)
    assert [repr(record.fact) for record in read] == [repr(record.fact) for record in live]


async def test_r7_the_store_in_memory_sends_the_same() -> None:
    """R7"""
    store = MemoryStore()
    live = await store.facts.append(batch(0, *_facts()))
    assert [repr(record.fact) for record in await store.facts.read(STREAM)] == [repr(record.fact) for record in live]


def test_r7_every_fact_with_a_float_is_decoded_at_once() -> None:
    """R7: the rule depends on types, so a new field needs no code."""
    cost = CostRecorded(amount=3)
    decoded = normalise_floats(cost, encode_payload(cost))
    assert repr(decoded) == repr(decode_payload(CostRecorded.type, encode_payload(cost)))
    assert {"cost.recorded", "sandbox.applied"} <= set(FACTS)
