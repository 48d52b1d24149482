"""Runs without progress: repeated results pause the thread and name the repeated steps."""

from __future__ import annotations

import msgspec
import pytest

from callboard.contracts.facts.queue import QueueAdded, SteerRejected
from callboard.contracts.facts.session import ThreadPaused, ThreadResumed
from callboard.contracts.facts.turn import Mode, PermissionMode, TurnFailed, TurnStarted
from callboard.control.decision_inputs import RunConfig
from tests.control.rigs.decisions import Scenario
from tests.control.rigs.examples import (
    ASK,
    DENY,
    RUN_CONFIG,
    at,
    model_response,
    reject,
    requested_call,
    steer,
    submit,
    text_response,
    tool_end,
)

MESSAGE = "The last 3 model calls led to the same result."


def patient_run_config(definition: str, mode: Mode, permission_mode: PermissionMode) -> RunConfig:
    """Return a run configuration with a high limit of model calls."""
    return msgspec.structs.replace(RUN_CONFIG, max_iters=9)


def running_session(mode: Mode = "chat") -> Scenario:
    return Scenario(configure_run=patient_run_config).after(submit(mode=mode))


def repeat_call(session: Scenario, *outputs: str) -> Scenario:
    """Repeat one call of the model with these outputs."""
    for output in outputs:
        step = session.run.model_step
        number = len(session.records)
        session.after(model_response(requested_call(number, step + 1), step=step), tool_end(number, output))
    return session


def recorded_pauses(session: Scenario) -> list[ThreadPaused]:
    return [record.fact for record in session.records if isinstance(record.fact, ThreadPaused)]


def test_the_same_call_with_the_same_result_three_times_in_a_row_pauses_the_thread():
    session = repeat_call(running_session(), "one", "same", "same")
    steps = [record.scope.step for record in session.records if record.header.type == "model.requested"]
    last = session.run.model_step
    assert last == steps[-1]
    session.after(model_response(requested_call(99, last + 1), step=last))
    session.when(tool_end(99, "same")).ends_with(
        (
            TurnFailed(
                code="no_progress",
                message=MESSAGE,
                hint="Send other instructions, or send the turn again.",
                iterations=4,
            ),
            at(turn=1, run=1),
        ),
        (
            ThreadPaused(
                cause="no_progress",
                reason="no_progress",
                evidence=tuple(f"run_1.{step}" for step in steps[1:]),
            ),
            at(),
        ),
    )
    assert session.thread.run is None
    assert session.thread.paused == "no_progress"


@pytest.mark.parametrize("outputs", [("same", "same", "other", "same", "same"), ("1", "2", "3", "4")])
def test_a_call_whose_result_differs_is_progress(outputs: tuple[str, ...]):
    session = repeat_call(running_session(), *outputs)
    assert recorded_pauses(session) == []
    assert session.thread.run is not None


def test_the_same_text_three_times_in_a_row_pauses_an_auto_turn():
    session = running_session("auto")
    for content in ("Working.", "Still.", "Still.", "Still."):
        step = session.run.model_step
        session.after(text_response(content, step=step))
    assert [pause.cause for pause in recorded_pauses(session)] == ["no_progress"]


def test_m3_three_empty_responses_pause_an_auto_turn_before_its_limit():
    session = running_session("auto")
    for content in ("", " \n", ""):
        session.after(text_response(content, step=session.run.model_step))
    assert [pause.cause for pause in recorded_pauses(session)] == ["no_progress"]


def test_m3_a_response_with_a_text_between_empty_ones_is_progress():
    session = running_session("auto")
    for content in ("", "", "Working.", "", ""):
        session.after(text_response(content, step=session.run.model_step))
    assert recorded_pauses(session) == []
    assert session.thread.run is not None


def test_calls_that_the_gate_denies_the_same_way_are_no_progress():
    session = running_session()
    for number in (1, 2, 3):
        step = session.run.model_step
        session.after(model_response(requested_call(number, step + 1, DENY), step=step))
    assert [len(pause.evidence) for pause in recorded_pauses(session)] == [3]


def test_calls_that_a_person_rejects_the_same_way_are_no_progress():
    session = running_session()
    for number in (1, 2, 3):
        step = session.run.model_step
        session.after(model_response(requested_call(number, step + 1, ASK), step=step), reject(number))
    assert [len(pause.evidence) for pause in recorded_pauses(session)] == [3]


def test_a_pause_without_progress_keeps_the_queue_and_rejects_steers():
    session = repeat_call(running_session(), "same", "same")
    session.after(submit("next", when_busy="queue"), steer("left!"))
    repeat_call(session, "same")
    kinds = [type(record.fact) for record in session.records]
    assert QueueAdded in kinds
    assert SteerRejected in kinds
    assert kinds.count(TurnStarted) == 1
    assert session.queue == ["trn_2"]


def test_new_input_resumes_a_thread_without_progress():
    session = repeat_call(running_session(), "same", "same", "same")
    session.after(submit("try the other file"))
    kinds = [type(record.fact) for record in session.records]
    assert ThreadResumed in kinds
    assert session.thread.paused is None
    assert repeat_call(session, "same").thread.run is not None
