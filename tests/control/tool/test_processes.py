"""Background processes: commands and ends."""

from __future__ import annotations

import msgspec

from callboard.contracts.commands.process import ProcessChanged, TerminateProcess, WriteProcessStdin
from callboard.contracts.content import MAX_INLINE_BYTES, Text
from callboard.contracts.facts.process import ProcessEnded, ProcessInputGiven, ProcessStarted, ProcessStopRequested
from callboard.contracts.facts.session import WarningRaised
from callboard.control.effects import EndProcesses, WriteProcess
from callboard.control.outcomes import HostTakenOver, ProcessEndReported, ProcessStartReported
from tests.control.rigs.decisions import Scenario, session_after
from tests.control.rigs.examples import (
    ALLOW,
    SESSION,
    at,
    model_response,
    requested_call,
    submit,
    text_response,
    tool_end,
)

RUN = msgspec.structs.replace(at(turn=1, run=1, step=2, call=1), process="prc_1")
STARTED = ProcessStartReported(scope=RUN, command="npm run dev", summary="Bash npm run dev")
EXITED = ProcessEndReported(process="prc_1", status="exited", output="ready\n", exit_code=0, duration_ms=7)
STOP = TerminateProcess(session_id=SESSION, process_id="prc_1", reason="enough")
WRITE = WriteProcessStdin(session_id=SESSION, process_id="prc_1", text="y\n", end=True)


def session_with_process() -> Scenario:
    """Return a session whose ended turn started a process."""
    return session_with_running_call().after(STARTED, tool_end(1), text_response("It runs.", step=3))


def session_with_running_call() -> Scenario:
    """Return a session with a running call."""
    return session_after(submit("serve"), model_response(requested_call(1, 2, ALLOW)))


def test_the_start_and_the_end_of_a_process_are_recorded():
    """CTL-09"""
    started = session_with_running_call().when(STARTED)
    started.then((ProcessStarted(command=Text(text="npm run dev"), summary="Bash npm run dev"), RUN))

    ended = session_with_process().when(EXITED)

    fact = ProcessEnded(status="exited", exit_code=0, output=Text(text="ready\n"), duration_ms=7)
    ended.then((fact, RUN))
    assert ended.decision.closed == ("prc_1",)


def test_input_of_a_person_is_recorded_before_it_is_written():
    """CTL-09"""
    written = session_with_process().when(WRITE)

    written.then((ProcessInputGiven(text=Text(text="y\n"), end=True), RUN))
    assert written.effects == [WriteProcess(RUN, "y\n", end=True)]
    written.with_answer(ProcessChanged(session_id=SESSION, process_id="prc_1", sequence=written.before + 1))


def test_the_intent_to_end_a_process_is_recorded_first_and_once():
    """CTL-09"""
    stopped = session_with_process().when(STOP)
    stopped.then((ProcessStopRequested(reason="enough"), RUN))
    assert stopped.effects == [EndProcesses(RUN)]

    stopping = session_with_process()
    stopping.after(STOP)
    stopping.when(STOP).then()

    stopping.when(msgspec.structs.replace(EXITED, exit_code=137)).then(
        (ProcessEnded(status="terminated", exit_code=137, output=Text(text="ready\n"), duration_ms=7), RUN)
    )


def test_an_ended_and_an_unknown_process_are_refused_with_different_codes():
    """CTL-09"""
    assert (
        session_with_process().refuses(TerminateProcess(session_id=SESSION, process_id="prc_9")).code
        == "unknown_process"
    )
    session = session_with_process()
    session.after(EXITED)

    assert session.refuses(STOP).code == "process_unavailable"
    session.when(EXITED).then_nothing()


def test_empty_and_too_large_input_are_refused():
    """SAFE-05"""
    assert (
        session_with_process().refuses(WriteProcessStdin(session_id=SESSION, process_id="prc_1")).code
        == "invalid_input"
    )
    command = WriteProcessStdin(session_id=SESSION, process_id="prc_1", text="é" * MAX_INLINE_BYTES)
    assert session_with_process().refuses(command).code == "too_large"


def test_a_takeover_records_processes_as_lost():
    """CTL-09: no host saw how it ended."""
    session = session_with_process()
    session.epoch += 1

    taken_over = session.when(HostTakenOver(partials=()))

    message = "The process prc_1 cannot be reached: its process ended."
    taken_over.then(
        (ProcessEnded(status="lost", code="process_unavailable", message=message), RUN),
        (
            WarningRaised(
                code="process_unavailable", message=message, hint="Run its command again if you still need it."
            ),
            RUN,
        ),
    )
