"""Model responses and failed attempts: their facts, recorded once and in order."""

from __future__ import annotations

import msgspec
import pytest

from callboard.contracts.content import Text
from callboard.contracts.facts.base import Fact
from callboard.contracts.facts.message import MessageInterrupted, OutputFinal, ReasoningCompleted, ReasoningInterrupted
from callboard.contracts.facts.model import ModelFailed
from callboard.contracts.facts.session import ThreadPaused, WarningRaised
from callboard.contracts.facts.tool import ToolCancelled
from callboard.contracts.facts.turn import TurnCompleted, TurnFailed, TurnInterrupted
from callboard.control.outcomes import Piece
from tests.control.rigs.decisions import session_after
from tests.control.rigs.examples import (
    ALLOW,
    at,
    attempt_failure,
    interrupt,
    model_response,
    requested_call,
    run_stop,
    submit,
    text_part,
    text_response,
    tool_end,
)
from tests.control.rigs.expected_facts import message_text, model_completion, model_request, tool_request, tool_start

RUN = at(turn=1, run=1)
CALL = at(turn=1, run=1, step=1)


def reasoning_part(step: int, thought: str, signature: str = "") -> Piece:
    return Piece(kind="reasoning", step=step, text=thought, signature=signature)


def test_parts_are_recorded_in_the_order_in_which_they_came():
    parts = (reasoning_part(2, "hm", "sig"), text_part(3, "First,"), reasoning_part(4, "so"), text_part(5, "then."))
    result = session_after(submit()).when(model_response(*parts))
    result.then(
        (ReasoningCompleted(content=Text(text="hm"), signature="sig"), at(turn=1, run=1, step=2)),
        message_text("First,", at(turn=1, run=1, step=3)),
        (ReasoningCompleted(content=Text(text="so")), at(turn=1, run=1, step=4)),
        message_text("then.", at(turn=1, run=1, step=5)),
        *model_completion(CALL),
        (OutputFinal(parts=(3, 5)), RUN),
        (TurnCompleted(iterations=1), RUN),
    )
    assert result.decision.ends == ("run_1.2.reasoning", "run_1.3.text", "run_1.4.reasoning", "run_1.5.text")


def test_text_before_a_call_keeps_its_place_and_is_not_part_of_the_output():
    session = session_after(submit())
    call = at(turn=1, run=1, step=3, call=1)
    result = session.when(model_response(text_part(2, "I will look."), requested_call(1, 3)))
    result.then(
        message_text("I will look.", at(turn=1, run=1, step=2)),
        *model_completion(CALL, "tool_calls"),
        *tool_request(1, call, ALLOW),
        *tool_start(call),
    )
    assert result.decision.ends == ("run_1.2.text", "run_1.3.arguments")
    assert session.run.answer_parts == ()


@pytest.mark.parametrize(
    ("response", "warning"),
    [
        (
            model_response(text_part(2, "Once upon"), stop="length"),
            WarningRaised(
                code="answer_cut", message="The model stopped at its output limit.", hint="Ask it to continue."
            ),
        ),
        (
            model_response(text_part(2, "Once upon"), stop="content_filter"),
            WarningRaised(code="answer_filtered", message="The provider's content filter ended the response."),
        ),
        (
            model_response(text_part(2, " \n")),
            WarningRaised(code="answer_empty", message="The model gave an empty response."),
        ),
    ],
    ids=["length", "content filter", "nothing"],
)
def test_an_incomplete_response_is_recorded_with_a_warning(response, warning: Fact):
    content = response.pieces[0].text
    session_after(submit()).when(response).then(
        message_text(content, at(turn=1, run=1, step=2)),
        *model_completion(CALL, response.stop_reason),
        (warning, CALL),
        (OutputFinal(parts=(2,)), RUN),
        (TurnCompleted(iterations=1), RUN),
    )


def test_a_repeated_response_changes_nothing():
    """CTL-15"""
    session = session_after(submit(mode="auto"), text_response("one"))
    session.when(text_response("one")).then_nothing()
    session.when(attempt_failure()).then_nothing()


@pytest.mark.parametrize(
    "late",
    [
        text_response("late"),
        attempt_failure(text_part(2, "la")),
        attempt_failure(retry_in_ms=100),
        model_response(requested_call(9, 2)),
        tool_end(9),
        run_stop(),
    ],
    ids=["response", "failure", "retry", "call", "result", "stop"],
)
def test_an_outcome_after_the_turn_changes_nothing(late):
    """CTL-15"""
    session_after(submit(), text_response("done")).when(late).then_nothing()
    session_after(submit(), text_response("done"), submit()).when(late).then_nothing()


@pytest.mark.parametrize(
    "unknown",
    [
        text_response("?", step=9),
        text_response("?", run=9),
        msgspec.structs.replace(text_response("?"), thread="thr_9"),
        msgspec.structs.replace(run_stop(), thread="thr_9"),
        msgspec.structs.replace(tool_end(1), thread="thr_9"),
    ],
    ids=["step", "run", "thread", "stop of a thread", "result of a thread"],
)
def test_an_outcome_of_an_unknown_step_run_or_thread_changes_nothing(unknown):
    """CTL-15"""
    session_after(submit()).when(unknown).then_nothing()


def test_a_response_cannot_come_while_its_calls_are_open():
    """CTL-15: no model call is open, so step 0 names none."""
    session_after(submit(), model_response(requested_call(1, 2))).when(model_response(step=0)).then_nothing()


def test_complete_text_of_a_stopping_turn_is_stored_and_the_turn_is_interrupted():
    """COM-10"""
    session = session_after(submit(), interrupt())
    session.when(text_response("done")).then(message_text("done", at(turn=1, run=1, step=2)), *model_completion(CALL))
    session.when(run_stop()).then((TurnInterrupted(cause="person", iterations=1), RUN))


def test_no_call_of_a_response_starts_while_the_turn_is_stopping():
    """CTL-08"""
    session = session_after(submit(mode="auto"), interrupt())
    first, second = at(turn=1, run=1, step=2, call=1), at(turn=1, run=1, step=3, call=2)
    session.when(model_response(requested_call(1, 2), requested_call(2, 3))).then(
        *model_completion(CALL, "tool_calls"),
        *tool_request(1, first, ALLOW),
        (ToolCancelled(started=False), first),
        *tool_request(2, second, ALLOW),
        (ToolCancelled(started=False), second),
    )


def test_a_retried_attempt_records_its_failure_and_no_part():
    """CTL-07"""
    session = session_after(submit())
    pieces = (text_part(2, "Once"), Piece(kind="arguments", step=3, text='{"pa'))
    result = session.when(attempt_failure(*pieces, retry_in_ms=500))
    result.then(
        (ModelFailed(code="model_unavailable", message="The provider cannot be reached.", retry_in_ms=500), CALL)
    )
    assert result.decision.ends == ("run_1.2.text", "run_1.3.arguments")
    session.when(text_response("done")).ends_with((TurnCompleted(iterations=1), RUN))


def test_the_last_failed_attempt_ends_the_turn_and_keeps_the_partial_output():
    """MAR-16"""
    pieces = (reasoning_part(2, "hm"), text_part(3, "Once"), Piece(kind="arguments", step=4, text='{"pa'))
    result = session_after(submit(), attempt_failure(retry_in_ms=500)).when(attempt_failure(*pieces, attempt=2))
    result.then(
        (ReasoningInterrupted(content=Text(text="hm")), at(turn=1, run=1, step=2)),
        (MessageInterrupted(content=Text(text="Once")), at(turn=1, run=1, step=3)),
        (ModelFailed(code="model_unavailable", message="The provider cannot be reached.", attempt=2), CALL),
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
    assert set(result.decision.ends) == {"run_1.2.reasoning", "run_1.3.text", "run_1.4.arguments"}


def test_a_failed_turn_pauses_its_queue():
    result = session_after(submit(), submit("next")).when(attempt_failure())
    result.ends_with(
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
        (ThreadPaused(cause="failed", reason="model_unavailable"), at()),
    )


def test_a_failed_model_call_of_a_stopping_turn_ends_without_ending_the_turn():
    """CTL-15"""
    session = session_after(submit(), interrupt())
    session.when(attempt_failure()).then(
        (ModelFailed(code="model_unavailable", message="The provider cannot be reached."), CALL)
    )
    session.when(run_stop()).then((TurnInterrupted(cause="person", iterations=1), RUN))


def test_the_next_step_follows_every_part_of_a_response():
    session = session_after(submit(mode="auto"), model_response(reasoning_part(2, "hm"), text_part(3, "so")))
    assert session.run.model_step == 4
    session.when(text_response("more", step=4)).ends_with(model_request(3, at(turn=1, run=1, step=6)))
