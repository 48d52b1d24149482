"""A batch: facts that change the working state, and the decision built from them."""

from __future__ import annotations

from typing import get_args

import msgspec
import pytest

from callboard.contracts.content import MAX_INLINE_BYTES, Text, make_blob
from callboard.contracts.facts import FACTS, AnySessionFact
from callboard.contracts.facts.base import ErasedFact, UnknownFact
from callboard.contracts.facts.session import SessionCreated, WarningRaised
from callboard.contracts.facts.tool import ToolStarted
from callboard.contracts.facts.turn import TurnCompleted, TurnSubmitted
from callboard.contracts.scope import Scope
from callboard.control.batch import Batch, Decision
from callboard.control.decision_inputs import DecisionInputs
from callboard.control.evolve import CHANGES, apply, evolve
from callboard.control.state.session import Session
from tests.control.rigs.decisions import CountedIds, session_after
from tests.control.rigs.examples import (
    ASK,
    FOLDER,
    NOW,
    SESSION,
    WORKSPACE,
    approve,
    at,
    configure_run,
    interrupt,
    model_response,
    requested_call,
    run_stop,
    steer,
    submit,
    text_response,
    tool_end,
)

INPUTS = DecisionInputs(now=NOW, ids=CountedIds(), configure_run=configure_run, epoch=3)


def new_batch(state: Session | None = None) -> Batch:
    return Batch(state or Session(session=SESSION), INPUTS)


def test_a_batch_without_a_fact_decides_nothing():
    assert new_batch().build_decision() == Decision(facts=(), state=Session(session=SESSION))


def test_each_fact_advances_the_sequence_and_carries_the_time_and_the_epoch():
    batch = new_batch()
    batch.add(SessionCreated(workspace_id=WORKSPACE, folder=FOLDER, title="t"), Scope())
    assert (batch.state.sequence, batch.state.at, batch.state.epoch) == (1, NOW, 3)
    assert (batch.state.workspace, batch.state.folder, batch.state.title) == (WORKSPACE, FOLDER, "t")


def test_time_never_goes_back():
    later = NOW + 5
    batch = new_batch(Session(session=SESSION, sequence=1, at=later))
    batch.add(WarningRaised(code="w", message="m"), Scope())
    assert batch.state.at == later


def test_a_fact_without_a_needed_id_is_rejected_and_changes_nothing():
    batch = new_batch()
    with pytest.raises(ValueError, match=r"tool\.started needs the id of its tool_call"):
        batch.add(ToolStarted(tool="Read"), at(turn=1, run=1, step=2))
    assert batch.build_decision() == Decision(facts=(), state=Session(session=SESSION))
    assert batch.state == Session(session=SESSION)


def test_a_small_text_is_stored_in_its_fact_and_a_large_one_as_a_blob_of_the_batch():
    batch = new_batch()
    assert batch.store_text("small") == Text(text="small")
    large = "é" * MAX_INLINE_BYTES
    stored = batch.store_text(large)
    assert stored == Text(text="é" * 1024, ref=make_blob(large.encode()).ref, tail="é" * 1024)
    assert batch.build_decision().blobs == (make_blob(large.encode()),)


def test_a_partial_that_is_dropped_twice_ends_once():
    batch = new_batch()
    scope = at(turn=1, run=1, step=2)
    batch.drop_partial("text", scope)
    batch.drop_partial("text", scope)
    assert batch.build_decision().ends == ("run_1.2.text",)


def test_a_decision_lists_the_ids_that_its_facts_close():
    batch = new_batch()
    batch.add(TurnCompleted(iterations=1), at(turn=4, run=2))
    assert batch.build_decision().closed == ("trn_4",)


def test_every_fact_that_closes_an_entity_needs_its_id():
    """CTL-15"""
    assert [tag for tag, fact in FACTS.items() if fact.closes is not None and fact.closes not in fact.needs] == []


@pytest.mark.parametrize("fact", [UnknownFact(), ErasedFact()], ids=["unknown", "erased"])
def test_an_unreadable_fact_advances_the_sequence_and_changes_nothing_else(fact):
    state = session_after(submit()).state
    changed = apply(state, fact, at(turn=1, run=1), state.sequence + 1, NOW + 1, 2)
    assert changed == msgspec.structs.replace(state, sequence=state.sequence + 1, at=NOW + 1, epoch=2)


def test_every_fact_of_a_session_has_a_function_that_applies_it():
    """CTL-06"""
    assert set(CHANGES) == set(get_args(AnySessionFact))


def test_a_fact_of_a_thread_or_run_that_is_not_open_changes_no_entity():
    state = session_after(submit(), text_response("done")).state
    facts: list[AnySessionFact] = [
        ToolStarted(tool="Read"),
        TurnSubmitted(input=Text(text="?"), mode="chat", permission_mode="ask"),
    ]
    for fact in facts:
        scope = Scope(thread="thr_9", turn="trn_1", run="run_1", step=1, tool_call="cal_1")
        assert apply(state, fact, scope, 99, NOW, 1).threads == state.threads
    assert apply(state, facts[0], at(turn=1, run=1, step=2, call=1), 99, NOW, 1).threads == state.threads


def test_an_ended_entity_stays_ended_if_any_one_fact_is_erased():
    """CTL-15: the header names the entity that a fact ends."""
    session = session_after(submit(), model_response(requested_call(1, 2, ASK)), approve(), tool_end(1), submit())
    session.after(text_response("done", step=4), steer("left"), interrupt(), run_stop(run=2))
    session.after(
        submit(),
        model_response(requested_call(2, 2), run=3),
        submit(),
        tool_end(2, run=3),
        text_response("done", run=3, step=3),
    )
    session.after(text_response("done", run=4))
    for erased in session.records:
        state = Session(session=SESSION)
        for record in session.records:
            erased_record = msgspec.structs.replace(record, fact=ErasedFact())
            state = evolve(state, erased_record if record is erased else record)
        thread = state.threads["thr_1"]
        assert (thread.run, thread.queue, thread.paused) == (None, (), None), erased.fact.type


def test_a_state_is_restored_from_its_snapshot():
    """CTL-06"""
    session = session_after(
        submit(mode="auto"),
        model_response(requested_call(1, 2, ASK), requested_call(2, 3)),
        steer("in French"),
        submit(),
        submit(),
    )
    assert msgspec.json.decode(msgspec.json.encode(session.state), type=Session) == session.state
