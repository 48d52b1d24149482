"""Views of erased and unknown facts."""

from __future__ import annotations

import random

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from callboard.contracts.content import Text
from callboard.contracts.facts import FACTS
from callboard.contracts.facts.base import ErasedFact, UnknownFact
from callboard.contracts.facts.turn import TurnCompleted
from callboard.contracts.record import Record
from callboard.contracts.rows import decode_row
from callboard.contracts.rows.message import TextPart
from callboard.contracts.rows.part import NoticePart
from callboard.contracts.rows.tool import ToolPart
from callboard.contracts.rows.turn import TurnRow
from callboard.contracts.scope import Scope
from callboard.projection.rows import Table
from callboard.projection.view import SessionView
from tests.projection.histories import History, histories
from tests.projection.session_builder import RUN, SessionBuilder, model_session, running_session, step


def erase(record: Record) -> Record:
    return msgspec.structs.replace(record, fact=ErasedFact())


def refold(session: SessionBuilder, *tags: str) -> Table:
    """Fold the session again with facts of these types erased."""
    view = SessionView()
    records = [item for item in session.log.items if isinstance(item, Record)]
    return Table(op for record in records for op in view.apply(erase(record) if record.header.type in tags else record))


@given(history=histories(), seed=st.integers(0, 2**16))
@settings(max_examples=60, deadline=None)
def test_erasing_any_content_leaves_a_view_of_the_same_shape(history: History, seed: int):
    """UI-26: turns and calls exist and end the same way, whichever content was erased."""
    source = random.Random(seed)
    whole, view = SessionView(), SessionView()
    table, blank = Table(), Table()
    for record in history.records:
        table.apply(whole.apply(record))
        blank.apply(view.apply(erase(record) if source.random() < 0.5 else record))
    for rows in blank.group_rows().values():
        assert [decode_row(msgspec.json.encode(row)) for row in rows] == rows
    assert [(row.key, row.state) for row in blank.list_rows(TurnRow)] == [
        (row.key, row.state) for row in table.list_rows(TurnRow)
    ]
    assert [(row.key, row.state, row.order) for row in blank.list_rows(ToolPart)] == [
        (row.key, row.state, row.order) for row in table.list_rows(ToolPart)
    ]


def test_an_erased_text_reads_as_erased_and_not_as_empty():
    """UI-26"""
    session = running_session()
    table = refold(session, "turn.submitted", "tool.requested")
    turn, call = table.get_row(TurnRow, "trn_1"), table.get_row(ToolPart, "cal_1")
    assert turn is not None
    assert call is not None
    assert (turn.input, turn.state) == (Text(erased=True), "running")
    assert (call.arguments, call.tool, call.state) == (Text(erased=True), "unknown", "running")


def test_a_fact_of_an_unknown_type_is_shown_as_unknown():
    """UI-26: it is neither guessed nor hidden."""
    session = model_session()
    record = session.log.add(TurnCompleted(iterations=1), RUN)
    header = msgspec.structs.replace(record.header, type="plan.sketched")
    session.table.apply(session.view.apply(msgspec.structs.replace(record, header=header, fact=UnknownFact())))
    (notice,) = session.table.list_rows(NoticePart)
    assert (notice.code, notice.message, notice.turn_id) == ("unknown_fact", "plan.sketched", "trn_1")
    assert session.table.list_rows(TextPart) == []


def test_no_type_of_fact_stops_a_view_when_it_is_erased():
    """UI-26"""
    for tag in FACTS:
        session = running_session()
        scope = Scope(
            agent="solo", thread="thr_1", turn="trn_1", run="run_1", step=9, tool_call="cal_1", action="act_1"
        )
        record = session.log.add(TurnCompleted(iterations=1), step(9))
        header = msgspec.structs.replace(record.header, type=tag, scope=scope)
        session.view.apply(msgspec.structs.replace(record, header=header, fact=ErasedFact()))
        assert session.view.sequence == record.sequence
