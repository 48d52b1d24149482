"""Recovery of a thread: truthful ends of a dead host's runs, and no automatic resume."""

from __future__ import annotations

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.facts.action import ActionResolved, ActionWithdrawn
from callboard.contracts.facts.message import MessageInterrupted, ReasoningInterrupted
from callboard.contracts.facts.model import ModelInterrupted
from callboard.contracts.facts.queue import SteerRejected
from callboard.contracts.facts.session import SessionTakenOver, ThreadPaused
from callboard.contracts.facts.tool import ToolCancelled, ToolLost
from callboard.contracts.facts.turn import TurnInterrupted
from callboard.contracts.live import Partial, PartialKind
from callboard.contracts.scope import Scope
from callboard.control.outcomes import HostTakenOver
from tests.control.rigs.decisions import Scenario, session_after
from tests.control.rigs.examples import (
    ALLOW,
    ASK,
    approve,
    at,
    interrupt,
    model_response,
    requested_call,
    steer,
    submit,
    text_response,
    tool_end,
)
from tests.control.rigs.expected_facts import tool_start

RUN = at(turn=1, run=1)
CALL = at(turn=1, run=1, step=2, call=1)
TAKEOVER = (SessionTakenOver(previous_epoch=1, epoch=2), Scope())
CRASHED = (TurnInterrupted(cause="crash", reason="its process ended", iterations=1), RUN)
HOST_TAKEN_OVER = HostTakenOver(partials=())


def next_host(session: Scenario) -> Scenario:
    """Advance the epoch, as the next host of the session does."""
    session.epoch += 1
    return session


def partial(kind: PartialKind, scope: Scope, text: str) -> Partial:
    return Partial(kind=kind, scope=scope, text=text)


def test_a_takeover_records_partial_output_as_interrupted():
    """MAR-16"""
    session = next_host(session_after(submit()))
    step = at(turn=1, run=1, step=2)
    partials = (
        partial("arguments", msgspec.structs.replace(step, step=4), '{"pa'),
        partial("text", msgspec.structs.replace(step, step=3), "Once upon"),
        partial("reasoning", step, "hm"),
    )
    result = session.when(HostTakenOver(partials=partials))
    result.then(
        TAKEOVER,
        (ReasoningInterrupted(content=Text(text="hm")), step),
        (MessageInterrupted(content=Text(text="Once upon")), msgspec.structs.replace(step, step=3)),
        (ModelInterrupted(), at(turn=1, run=1, step=1)),
        CRASHED,
    )
    assert set(result.decision.ends) == {"run_1.2.reasoning", "run_1.3.text", "run_1.4.arguments"}


def test_a_call_that_had_started_is_lost():
    """CTL-06, CTL-16"""
    session = next_host(session_after(submit(), model_response(requested_call(1, 2))))
    result = session.when(HostTakenOver(partials=(partial("output", CALL, "line 1"),)))
    result.then(TAKEOVER, (ToolLost(output=Text(text="line 1")), CALL), CRASHED)
    session.when(tool_end(1)).then_nothing()


def test_a_pending_approval_survives_a_takeover():
    """CTL-06, CTL-04"""
    session = next_host(session_after(submit(), model_response(requested_call(1, 2, ASK)), steer("in French")))
    before = session.run
    session.when(HOST_TAKEN_OVER).then(TAKEOVER)
    assert session.run == msgspec.structs.replace(before, epoch=2)
    session.when(approve()).then(
        (ActionResolved(decision="approve"), at(turn=1, run=1, step=3, call=1, action=1)), *tool_start(CALL)
    )


def test_a_run_that_continues_after_a_takeover_belongs_to_the_new_host():
    """CTL-17"""
    session = next_host(session_after(submit(), model_response(requested_call(1, 2, ASK))))
    session.after(HOST_TAKEN_OVER, approve())
    session.when(HOST_TAKEN_OVER).then_nothing()
    next_host(session).when(HOST_TAKEN_OVER).then(
        (SessionTakenOver(previous_epoch=2, epoch=3), Scope()), (ToolLost(), CALL), CRASHED
    )


def test_a_turn_with_a_running_and_a_pending_call_ends_with_both():
    """CTL-16, CTL-04"""
    session = next_host(
        session_after(submit(mode="auto"), model_response(requested_call(1, 2, ASK), requested_call(2, 3)))
    )
    result = session.when(HOST_TAKEN_OVER)
    result.then(
        TAKEOVER,
        (ActionWithdrawn(reason="the turn was interrupted (crash)"), at(turn=1, run=1, step=4, call=1, action=1)),
        (ToolCancelled(started=False), CALL),
        (ToolLost(), at(turn=1, run=1, step=3, call=2)),
        CRASHED,
    )
    assert result.decision.closed == ("act_1", "cal_1", "cal_2", "trn_1")
    assert session.refuses(approve()).code == "unknown_action"


def test_a_stopping_turn_with_only_a_pending_approval_ends_at_a_takeover():
    """CTL-08"""
    session = next_host(session_after(submit(), model_response(requested_call(1, 2, ASK)), interrupt()))
    session.when(HOST_TAKEN_OVER).then(
        TAKEOVER,
        (ActionWithdrawn(reason="the turn was interrupted (crash)"), at(turn=1, run=1, step=3, call=1, action=1)),
        (ToolCancelled(started=False), CALL),
        CRASHED,
    )


def test_steers_of_a_turn_that_crashed_are_rejected_with_their_drafts():
    session = next_host(session_after(submit(), steer("in French")))
    session.when(HOST_TAKEN_OVER).then(
        TAKEOVER,
        (ModelInterrupted(), at(turn=1, run=1, step=1)),
        (SteerRejected(steer_id="str_1", input=Text(text="in French"), reason="turn_interrupted"), RUN),
        CRASHED,
    )


def test_turns_behind_a_crashed_turn_wait_for_a_person():
    """CTL-06"""
    session = next_host(session_after(submit(), submit(), submit()))
    session.when(HOST_TAKEN_OVER).then(
        TAKEOVER,
        (ModelInterrupted(), at(turn=1, run=1, step=1)),
        CRASHED,
        (ThreadPaused(cause="recovered", reason="its process ended"), at()),
    )
    assert session.queue == ["trn_2", "trn_3"]


def test_turns_behind_a_turn_with_a_pending_approval_stay_behind_it():
    """CTL-06"""
    session = next_host(session_after(submit(), model_response(requested_call(1, 2, ASK)), submit()))
    session.when(HOST_TAKEN_OVER).then(TAKEOVER)
    assert (session.queue, session.thread.paused) == (["trn_2"], None)


def test_a_session_without_open_entities_is_taken_over_without_a_fact():
    next_host(session_after(submit(), text_response("done"))).when(HOST_TAKEN_OVER).then_nothing()
    next_host(session_after()).when(HOST_TAKEN_OVER).then_nothing()


def test_a_takeover_in_the_same_epoch_changes_nothing():
    """CTL-17"""
    session_after(submit()).when(HOST_TAKEN_OVER).then_nothing()


def test_a_session_is_taken_over_once():
    """CTL-17"""
    session = next_host(session_after(submit(), submit()))
    session.after(HOST_TAKEN_OVER)
    session.when(HOST_TAKEN_OVER).then_nothing()
    next_host(session).when(HOST_TAKEN_OVER).then_nothing()


def test_a_response_for_a_run_of_a_dead_host_changes_nothing():
    """CTL-15, CTL-17"""
    session = next_host(session_after(submit())).after(HOST_TAKEN_OVER)
    session.when(text_response("late")).then_nothing()
    session.when(model_response(requested_call(1, 2, ALLOW))).then_nothing()
