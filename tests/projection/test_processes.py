"""The panel of processes: one row for each, from start to end."""

from __future__ import annotations

import msgspec

from callboard.contracts.content import Text
from callboard.contracts.facts.base import ErasedFact
from callboard.contracts.facts.process import ProcessEnded, ProcessStarted, ProcessStopRequested
from callboard.contracts.facts.session import WarningRaised
from callboard.contracts.rows.part import NoticePart
from callboard.contracts.rows.process import ProcessRow
from callboard.contracts.scope import Scope
from tests.projection.session_builder import RUN, SessionBuilder, model_session

from .runs import with_ids

SCOPE = with_ids(RUN, step=2, tool_call="cal_1", process="prc_1")


def started() -> SessionBuilder:
    return model_session().add(ProcessStarted(command=Text(text="npm run dev"), summary="Bash npm run dev"), SCOPE)


def row(session: SessionBuilder) -> ProcessRow:
    (process,) = session.table.list_rows(ProcessRow)
    return process


def test_a_process_is_shown_from_its_start_to_its_end():
    """CTL-09"""
    session = started()
    running = row(session)
    assert (running.process_id, running.state, running.command.text) == ("prc_1", "running", "npm run dev")
    assert (running.thread_id, running.turn_id, running.tool_call_id) == (RUN.thread, RUN.turn, "cal_1")

    session.add(ProcessStopRequested(reason="enough"), SCOPE)
    assert (row(session).state, row(session).reason) == ("stopping", "enough")

    session.add(ProcessEnded(status="terminated", exit_code=137, output=Text(text="ready\n")), SCOPE)
    over = row(session)
    assert (over.state, over.exit_code, over.output.text, over.order) == ("terminated", 137, "ready\n", running.order)
    assert over.ended_at > over.started_at


def test_a_lost_process_shows_its_state_and_its_warning():
    """CTL-09"""
    session = started()
    session.add(ProcessEnded(status="lost", code="process_unavailable", message="It is gone."), SCOPE)
    session.add(WarningRaised(code="process_unavailable", message="It is gone."), SCOPE)

    assert (row(session).state, row(session).message) == ("lost", "It is gone.")
    assert [part.code for part in session.table.list_rows(NoticePart)] == ["process_unavailable"]


def test_the_erased_end_of_a_process_is_unknown():
    session = started()
    log = session.log
    record = log.add(ProcessEnded(status="exited", output=Text(text="secret")), SCOPE)
    session._record_ops(session.view.apply(msgspec.structs.replace(record, fact=ErasedFact())))

    assert (row(session).state, row(session).output) == ("unknown", Text(erased=True))


def test_facts_of_unknown_processes_change_nothing():
    session = model_session()
    session.add(ProcessEnded(status="exited"), with_ids(Scope(), thread=RUN.thread, process="prc_9"))

    assert list(session.table.list_rows(ProcessRow)) == []
