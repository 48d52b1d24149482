"""Steers: input for a running turn, accepted by a model call or rejected at the end of the turn."""

from __future__ import annotations

from callboard.contracts.commands.turn import SteerQueued
from callboard.contracts.content import Text
from callboard.contracts.errors import Problem
from callboard.contracts.facts.message import OutputFinal
from callboard.contracts.facts.model import ModelFailed, ModelInterrupted
from callboard.contracts.facts.queue import SteerAccepted, SteerRejected, SteerRequested
from callboard.contracts.facts.tool import ToolCompleted
from callboard.contracts.facts.turn import TurnCompleted, TurnFailed, TurnInterrupted
from tests.control.rigs.decisions import session_after
from tests.control.rigs.examples import (
    ASK,
    SESSION,
    at,
    attempt_failure,
    interrupt,
    model_response,
    reject,
    requested_call,
    run_stop,
    steer,
    submit,
    text_part,
    text_response,
    tool_end,
)
from tests.control.rigs.expected_facts import (
    approval_request,
    message_text,
    model_completion,
    model_request,
    tool_request,
    tool_start,
)

DONE = ToolCompleted(output=Text(text="done"), duration_ms=4)
RUN = at(turn=1, run=1)


def test_a_steer_waits_for_the_next_model_call():
    """UI-11"""
    result = session_after(submit()).when(steer("in French"))
    result.then((SteerRequested(steer_id="str_1", input=Text(text="in French")), RUN))
    result.with_answer(SteerQueued(session_id=SESSION, turn_id="trn_1", steer_id="str_1", sequence=7))


def test_a_steer_is_accepted_by_the_model_call_that_follows_all_results():
    """UI-11"""
    session = session_after(
        submit(mode="auto"),
        model_response(requested_call(1, 2), requested_call(2, 3)),
        steer("in French"),
        steer("and short"),
    )
    session.when(tool_end(1)).then((DONE, at(turn=1, run=1, step=2, call=1)))
    next_call = at(turn=1, run=1, step=4)
    session.when(tool_end(2)).then(
        (DONE, at(turn=1, run=1, step=3, call=2)),
        (SteerAccepted(steer_id="str_1"), next_call),
        (SteerAccepted(steer_id="str_2"), next_call),
        model_request(2, next_call),
    )
    assert session.run.steers == ()


def test_a_steer_waits_behind_a_pending_approval():
    session = session_after(submit(), model_response(requested_call(1, 2, ASK)))
    session.when(steer("stop asking")).then((SteerRequested(steer_id="str_1", input=Text(text="stop asking")), RUN))
    session.when(reject()).ends_with(
        (SteerAccepted(steer_id="str_1"), at(turn=1, run=1, step=4)), model_request(2, at(turn=1, run=1, step=4))
    )


def test_a_steer_during_a_text_only_response_continues_the_turn():
    """UI-11"""
    session_after(submit(), steer("in French")).when(text_response("done")).then(
        message_text("done", at(turn=1, run=1, step=2)),
        *model_completion(at(turn=1, run=1, step=1)),
        (SteerAccepted(steer_id="str_1"), at(turn=1, run=1, step=3)),
        model_request(2, at(turn=1, run=1, step=3)),
    )


def test_a_text_only_response_at_the_limit_completes_the_turn_and_rejects_the_steer_with_its_draft():
    """UI-11, MAR-12: no model call is left to read the steer, and the response is final."""
    session = session_after(submit(), *_two_calls(), steer("in French"))
    session.when(text_response("done", step=5)).then(
        message_text("done", at(turn=1, run=1, step=6)),
        *model_completion(at(turn=1, run=1, step=5)),
        (SteerRejected(steer_id="str_1", input=Text(text="in French"), reason="turn_completed"), RUN),
        (OutputFinal(parts=(6,)), RUN),
        (TurnCompleted(iterations=3), RUN),
    )


def test_a_steer_that_waits_for_a_result_at_the_limit_is_rejected_with_its_draft():
    """UI-11, MAR-12"""
    session = session_after(submit(), *_two_calls(), model_response(requested_call(3, 6), step=5), steer("in French"))
    session.when(tool_end(3)).then(
        (DONE, at(turn=1, run=1, step=6, call=3)),
        (SteerRejected(steer_id="str_1", input=Text(text="in French"), reason="turn_failed"), RUN),
        (
            TurnFailed(
                code="max_iters",
                message="The turn reached its limit of 3 model calls.",
                hint="Send another turn to continue.",
                iterations=3,
            ),
            RUN,
        ),
    )


def test_a_steer_of_a_turn_that_is_finalised_is_rejected_with_its_draft():
    """UI-11"""
    session = session_after(
        submit(mode="auto"), model_response(requested_call(1, 2, tool="Finalize")), steer("one more thing")
    )
    session.when(tool_end(1)).then(
        (DONE, at(turn=1, run=1, step=2, call=1)),
        (SteerRejected(steer_id="str_1", input=Text(text="one more thing"), reason="turn_completed"), RUN),
        (OutputFinal(parts=()), RUN),
        (TurnCompleted(iterations=1), RUN),
    )


def test_a_steer_of_a_turn_that_fails_is_rejected_with_its_draft():
    """UI-11"""
    session_after(submit(), steer("in French")).when(attempt_failure()).then(
        (
            ModelFailed(code="model_unavailable", message="The provider cannot be reached."),
            at(turn=1, run=1, step=1),
        ),
        (SteerRejected(steer_id="str_1", input=Text(text="in French"), reason="turn_failed"), RUN),
        (
            TurnFailed(
                code="model_unavailable",
                message="The provider cannot be reached.",
                hint="Check that the provider can be reached, then send the turn again.",
                retryable=True,
                iterations=1,
            ),
            RUN,
        ),
    )


def test_a_steer_of_a_turn_that_is_interrupted_is_rejected_with_its_draft():
    """UI-11"""
    session_after(submit(), steer("in French"), interrupt()).when(run_stop()).then(
        (ModelInterrupted(), at(turn=1, run=1, step=1)),
        (SteerRejected(steer_id="str_1", input=Text(text="in French"), reason="turn_interrupted"), RUN),
        (TurnInterrupted(cause="person", iterations=1), RUN),
    )


def test_a_steer_waits_through_a_retry():
    session_after(submit(), steer("in French")).when(attempt_failure(text_part(2, "Bon"), retry_in_ms=500)).then(
        (
            ModelFailed(code="model_unavailable", message="The provider cannot be reached.", retry_in_ms=500),
            at(turn=1, run=1, step=1),
        ),
    )


def test_steering_a_thread_without_a_running_turn_is_a_clear_error():
    session = session_after(submit(), text_response("done"))
    problem = Problem(
        code="nothing_running",
        message="No turn is running in this thread.",
        hint="Submit the text as a turn.",
    )
    assert session.refuses(steer("in French")) == problem
    assert session_after(submit(), interrupt()).refuses(steer("in French")) == problem


def test_a_repeated_steer_with_the_same_id_is_accepted_once():
    session = session_after(submit(), steer("in French", steer_id="str_a"))
    session.when(steer("in French", steer_id="str_a")).then().with_answer(
        SteerQueued(session_id=SESSION, turn_id="trn_1", steer_id="str_a", sequence=7)
    )
    assert session.refuses(steer("in Chinese", steer_id="str_a")) == Problem(
        code="idempotency_conflict",
        message="The steer str_a already has another text.",
        field="steerId",
        hint="Leave steerId out, or use a new id.",
    )


def test_the_calls_of_a_response_run_before_a_pending_steer_is_read():
    session = session_after(submit(), steer("in French"))
    call = at(turn=1, run=1, step=2, call=1)
    session.when(model_response(requested_call(1, 2))).then(
        *model_completion(at(turn=1, run=1, step=1), "tool_calls"),
        *tool_request(1, call, requested_call(1, 2).evaluation),
        *tool_start(call),
    )
    waiting = session_after(submit(), steer("in French"))
    waiting.when(model_response(requested_call(1, 2, ASK))).ends_with(approval_request(3, 1, call))


def _two_calls():
    return (
        model_response(requested_call(1, 2)),
        tool_end(1),
        model_response(requested_call(2, 4), step=3),
        tool_end(2),
    )
