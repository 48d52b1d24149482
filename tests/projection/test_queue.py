"""Queued turns, and what a person does with them."""

from __future__ import annotations

from callboard.contracts.content import Text
from callboard.contracts.facts.queue import QueueAdded, QueueEdited, QueuePromoted, QueueRemoved
from callboard.contracts.facts.turn import TurnInterrupted
from callboard.contracts.rows.base import Upsert
from callboard.contracts.rows.queue import QueueRow
from callboard.contracts.rows.turn import TurnRow
from callboard.contracts.scope import Scope
from tests.projection.runs import with_ids
from tests.projection.session_builder import RUN, THREAD, SessionBuilder, model_session, turn_started, turn_submitted


def turn(number: int) -> Scope:
    return with_ids(THREAD, turn=f"trn_{number}")


def queued_session() -> SessionBuilder:
    """Return a session in which three turns wait behind a running one."""
    session = model_session()
    for number in (2, 3, 4):
        session.add(turn_submitted(text=f"Number {number}."), turn(number))
        session.add(QueueAdded(position=number - 1), turn(number))
    return session


def order(session: SessionBuilder) -> list[tuple[int, str]]:
    return [(row.order, row.turn_id) for row in session.table.list_rows(QueueRow)]


def test_a_queued_turn_shows_its_place():
    """UI-11"""
    assert order(queued_session()) == [(1, "trn_2"), (2, "trn_3"), (3, "trn_4")]


def test_a_promoted_turn_moves_to_the_front_and_only_moved_turns_change():
    """UI-11"""
    session = queued_session().add(QueuePromoted(), turn(3))
    assert order(session) == [(1, "trn_3"), (2, "trn_2"), (3, "trn_4")]
    assert [op.row.key for op in session.ops if isinstance(op, Upsert)] == ["trn_3", "trn_2"]


def test_an_edited_turn_has_its_new_input_in_the_queue_and_in_its_row():
    """UI-11"""
    session = queued_session().add(QueueEdited(input=Text(text="Rather this.")), turn(3))
    inputs = [row.input.text for row in session.table.list_rows(QueueRow)]
    row = session.table.get_row(TurnRow, "trn_3")
    assert inputs == ["Number 2.", "Rather this.", "Number 4."]
    assert row is not None
    assert (row.input.text, row.state) == ("Rather this.", "queued")


def test_a_removed_turn_leaves_the_queue_and_stays_among_the_turns():
    """UI-11"""
    session = queued_session().add(QueueRemoved(reason="not needed"), turn(2))
    row = session.table.get_row(TurnRow, "trn_2")
    assert order(session) == [(1, "trn_3"), (2, "trn_4")]
    assert row is not None
    assert (row.state, row.message) == ("removed", "not needed")


def test_a_turn_that_starts_leaves_the_queue_and_moves_to_its_start():
    session = queued_session().add(TurnInterrupted(cause="person"), RUN)
    session.add(turn_started(), with_ids(turn(2), run="run_2"))
    row = session.table.get_row(TurnRow, "trn_2")
    assert order(session) == [(1, "trn_3"), (2, "trn_4")]
    assert row is not None
    assert (row.state, row.order) == ("running", session.log.sequence)
