"""Stops: the intent, then the ends of all open entities, the end of the turn and the next turn."""

from __future__ import annotations

import msgspec
import pytest

from callboard.contracts.commands.turn import ThreadChanged
from callboard.contracts.content import Text, make_blob
from callboard.contracts.errors import Problem
from callboard.contracts.facts.action import ActionWithdrawn
from callboard.contracts.facts.artifact import ArtifactCreated, ArtifactVersionCreated
from callboard.contracts.facts.message import MessageInterrupted, MessageText, ReasoningCompleted, ReasoningInterrupted
from callboard.contracts.facts.model import ModelInterrupted
from callboard.contracts.facts.queue import QueueRemoved
from callboard.contracts.facts.session import ThreadPaused
from callboard.contracts.facts.tool import FileChange, ToolCancelled, ToolCompleted, ToolLost
from callboard.contracts.facts.turn import TurnInterrupted, TurnInterruptRequested
from callboard.contracts.ports.tools import ToolOutcome
from callboard.control.outcomes import Piece
from tests.control.rigs.decisions import session_after
from tests.control.rigs.examples import (
    ASK,
    SERIAL,
    SESSION,
    THREAD,
    at,
    interrupt,
    model_response,
    requested_call,
    run_stop,
    submit,
    text_part,
    text_response,
    tool_end,
)
from tests.control.rigs.expected_facts import model_completion, turn_start
from tests.control.rigs.witness import Witness

RUN = at(turn=1, run=1)
FIRST = at(turn=1, run=1, step=2, call=1)
SECOND = at(turn=1, run=1, step=3, call=2)


def test_an_interrupt_records_its_intent():
    """CTL-08"""
    result = session_after(submit()).when(interrupt(reason="wrong folder"))
    result.then((TurnInterruptRequested(reason="wrong folder"), RUN))
    result.with_answer(ThreadChanged(session_id=SESSION, thread_id=THREAD, turn_id="trn_1", sequence=7))


def test_interrupting_an_idle_agent_is_a_clear_error_and_changes_nothing():
    """COM-11"""
    session = session_after(submit(), text_response("done"))
    before = session.state
    assert session.refuses(interrupt()) == Problem(
        code="nothing_running", message="No turn is running in this thread.", hint="No action is needed."
    )
    assert session.state == before


def test_an_interrupt_of_another_turn_does_not_stop_the_running_turn():
    session = session_after(submit(), text_response("done"), submit(), submit())
    assert session.refuses(interrupt(turn_id="trn_1")) == Problem(
        code="turn_already_ended",
        message="The turn trn_1 is not running.",
        field="turnId",
        hint="get_thread_read shows the running turn.",
    )
    assert session.refuses(interrupt(turn_id="trn_3")).code == "unknown_turn"
    session.when(interrupt(turn_id="trn_2")).then((TurnInterruptRequested(), at(turn=2, run=2)))


def test_a_repeated_interrupt_records_no_second_intent():
    """CTL-08"""
    result = session_after(submit(), interrupt()).when(interrupt())
    result.then().with_answer(ThreadChanged(session_id=SESSION, thread_id=THREAD, turn_id="trn_1", sequence=7))


def test_an_interrupt_keeps_the_queue_and_records_that():
    """CTL-08, COM-10"""
    session = session_after(submit(), submit(), submit())
    session.when(interrupt()).then((TurnInterruptRequested(queued="keep"), RUN))
    session.when(run_stop()).ends_with((TurnInterrupted(cause="person", iterations=1), RUN), *turn_start(2, 2))
    assert session.queue == ["trn_3"]


def test_an_interrupt_that_clears_the_queue_records_that_first():
    """CTL-08"""
    session = session_after(submit(), submit(), submit())
    result = session.when(interrupt(queued="clear"))
    result.then(
        (TurnInterruptRequested(queued="clear"), RUN),
        (QueueRemoved(reason="cleared by an interrupt"), at(turn=2)),
        (QueueRemoved(reason="cleared by an interrupt"), at(turn=3)),
    )
    assert result.decision.closed == ("trn_2", "trn_3")
    session.when(run_stop()).ends_with(
        (ModelInterrupted(), at(turn=1, run=1, step=1)), (TurnInterrupted(cause="person", iterations=1), RUN)
    )


def test_a_second_interrupt_may_still_clear_the_queue():
    """CTL-08"""
    session = session_after(submit(), submit(), interrupt())
    session.when(interrupt(queued="clear")).then((QueueRemoved(reason="cleared by an interrupt"), at(turn=2)))


def test_the_partial_output_is_kept_as_interrupted():
    """COM-10"""
    session = session_after(submit(), interrupt(reason="enough"))
    pieces = (
        Piece(kind="reasoning", step=2, text="hm"),
        text_part(3, "Once upon"),
        Piece(kind="arguments", step=4, text='{"pa'),
    )
    result = session.when(run_stop(*pieces, reason="enough"))
    result.then(
        (ReasoningInterrupted(content=Text(text="hm")), at(turn=1, run=1, step=2)),
        (MessageInterrupted(content=Text(text="Once upon")), at(turn=1, run=1, step=3)),
        (ModelInterrupted(), at(turn=1, run=1, step=1)),
        (TurnInterrupted(cause="person", reason="enough", iterations=1), RUN),
    )
    assert result.decision.closed == ("trn_1",)
    assert set(result.decision.ends) == {"run_1.2.reasoning", "run_1.3.text", "run_1.4.arguments"}


def test_open_calls_and_actions_close_before_their_turn():
    """CTL-16, CTL-08"""
    session = session_after(
        submit(mode="auto"),
        model_response(requested_call(1, 2, ASK), requested_call(2, 3), requested_call(3, 4)),
        tool_end(3),
        interrupt(),
    )
    change = FileChange(path="a.md", kind="created", added=1, after=make_blob(b"a").ref)
    outcome = ToolOutcome(output="line 1", duration_ms=3, changes=(change,), blobs=(make_blob(b"a"),))
    artifact_scope = msgspec.structs.replace(SECOND, artifact="art_1")
    result = session.when(run_stop(outcomes={"cal_2": outcome}))
    result.then(
        (
            ActionWithdrawn(reason="the turn was interrupted (person)"),
            at(turn=1, run=1, step=5, call=1, action=1),
        ),
        (ToolCancelled(started=False), FIRST),
        (ArtifactCreated(artifact_kind="document", path="a.md"), artifact_scope),
        (
            ArtifactVersionCreated(
                version=1, content=make_blob(b"a").ref, version_origin="agent", path="a.md", added=1
            ),
            artifact_scope,
        ),
        (ToolCancelled(started=True, output=Text(text="line 1"), duration_ms=3, changes=(change,)), SECOND),
        (TurnInterrupted(cause="person", iterations=1), RUN),
    )
    assert result.decision.closed == ("act_1", "cal_1", "cal_2", "trn_1")
    assert result.decision.blobs == (make_blob(b"a"),)


def test_a_complete_response_of_a_stopped_turn_is_recorded_with_its_usage_and_without_its_calls():
    """CTL-08: the provider charged for it."""
    session = session_after(submit(), interrupt())
    thought = Piece(kind="reasoning", step=2, text="First a note.", signature="seal of what follows")
    response = model_response(
        thought, text_part(3, "I write it."), Piece(kind="arguments", step=4, text="{}"), stop="tool_calls"
    )
    result = session.when(run_stop(response=response))
    result.then(
        (ReasoningCompleted(content=Text(text="First a note.")), at(turn=1, run=1, step=2)),
        (MessageText(content=Text(text="I write it.")), at(turn=1, run=1, step=3)),
        *model_completion(at(turn=1, run=1, step=1), "tool_calls"),
        (TurnInterrupted(cause="person", iterations=1), RUN),
    )


def test_an_already_recorded_response_is_not_recorded_again_by_a_stop():
    """CTL-15"""
    session = session_after(submit(), model_response(requested_call(1, 2)), interrupt())
    session.when(run_stop(response=model_response(text_part(2, "Again.")))).then(
        (ToolCancelled(started=True), FIRST), (TurnInterrupted(cause="person", iterations=1), RUN)
    )


def test_a_call_that_ends_while_its_turn_is_stopping_keeps_its_result():
    """CTL-08: finished calls stay finished."""
    session = session_after(submit(), model_response(requested_call(1, 2)), interrupt())
    session.when(tool_end(1)).then((ToolCompleted(output=Text(text="done"), duration_ms=4), FIRST))
    session.when(run_stop()).then((TurnInterrupted(cause="person", iterations=1), RUN))


@pytest.mark.parametrize("cause", ["crash", "lost"])
def test_a_call_without_an_observed_end_is_lost(cause):
    """CTL-16"""
    session = session_after(submit(), model_response(requested_call(1, 2)))
    session.when(run_stop(cause=cause, outcomes={"cal_1": ToolOutcome(output="half")})).then(
        (ToolLost(output=Text(text="half")), FIRST), (TurnInterrupted(cause=cause, iterations=1), RUN)
    )


def test_a_turn_is_stopped_once():
    """CTL-15"""
    session = session_after(submit(), interrupt(), run_stop())
    session.when(run_stop()).then_nothing()
    assert session.refuses(interrupt()).code == "nothing_running"


def test_a_shutdown_ends_the_turn_and_pauses_the_queue():
    """CTL-06"""
    session = session_after(submit(), model_response(requested_call(1, 2)), submit())
    session.when(run_stop(cause="shutdown", reason="the process was stopped")).then(
        (ToolCancelled(started=True), FIRST),
        (TurnInterrupted(cause="shutdown", reason="the process was stopped", iterations=1), RUN),
        (ThreadPaused(cause="recovered", reason="its process ended"), at()),
    )
    assert session.queue == ["trn_2"]


def test_a_shutdown_of_a_thread_without_a_queue_pauses_nothing():
    session = session_after(submit(), run_stop(cause="shutdown"))
    assert session.thread.paused is None


def test_a_call_that_waits_for_another_does_not_start_once_the_turn_is_stopping():
    """CTL-08: the end of the earlier call is recorded. The stop ends the waiting call."""
    session, witness = session_after(), Witness()
    calls = model_response(requested_call(1, 2, SERIAL), requested_call(2, 3, SERIAL))
    for step in (submit(mode="auto"), calls, interrupt()):
        decided = session.when(step).decision
        witness.check(decided.facts, decided.closed)
    result = session.when(tool_end(1))
    witness.check(result.decision.facts, result.decision.closed)
    assert [fact.type for fact in result.facts] == ["tool.completed"]
    last = session.when(run_stop())
    witness.check(last.decision.facts, last.decision.closed)
    last.then((ToolCancelled(started=False), SECOND), (TurnInterrupted(cause="person", iterations=1), RUN))
