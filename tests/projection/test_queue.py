"""Queued turns, and what a person does with them."""

from __future__ import annotations

from callboard.contracts.content import Text
from callboard.contracts.facts.queue import QueueAdded, QueueEdited, QueuePromoted, QueueRemoved
from callboard.contracts.facts.turn import TurnInterrupted
from callboard.contracts.rows.base import Upsert
from callboard.contracts.rows.conversation import QueueRow, TurnRow
from callboard.contracts.scope import Scope
from tests.projection.runs import within
from tests.projection.story import RUN, THREAD, Story, model_story, started, submitted


def turn(number: int) -> Scope:
    return within(THREAD, turn=f"trn_{number}")


def queued() -> Story:
    """Return a session in which three turns wait behind a running one."""
    story = model_story()
    for number in (2, 3, 4):
        story.say(submitted(text=f"Number {number}."), turn(number))
        story.say(QueueAdded(position=number - 1), turn(number))
    return story


def order(story: Story) -> list[tuple[int, str]]:
    return [(row.order, row.turn_id) for row in story.table.panel(QueueRow)]


def test_a_queued_turn_shows_its_place():
    """UI-11"""
    assert order(queued()) == [(1, "trn_2"), (2, "trn_3"), (3, "trn_4")]


def test_a_promoted_turn_moves_to_the_front_and_only_moved_turns_change():
    """UI-11"""
    story = queued().say(QueuePromoted(), turn(3))
    assert order(story) == [(1, "trn_3"), (2, "trn_2"), (3, "trn_4")]
    assert [op.row.key for op in story.ops if isinstance(op, Upsert)] == ["trn_3", "trn_2"]


def test_an_edited_turn_has_its_new_input_in_the_queue_and_in_its_row():
    """UI-11"""
    story = queued().say(QueueEdited(input=Text(text="Rather this.")), turn(3))
    inputs = [row.input.text for row in story.table.panel(QueueRow)]
    row = story.table.row(TurnRow, "trn_3")
    assert inputs == ["Number 2.", "Rather this.", "Number 4."]
    assert row is not None
    assert (row.input.text, row.state) == ("Rather this.", "queued")


def test_a_removed_turn_leaves_the_queue_and_stays_among_the_turns():
    """UI-11"""
    story = queued().say(QueueRemoved(reason="not needed"), turn(2))
    row = story.table.row(TurnRow, "trn_2")
    assert order(story) == [(1, "trn_3"), (2, "trn_4")]
    assert row is not None
    assert (row.state, row.message) == ("removed", "not needed")


def test_a_turn_that_starts_leaves_the_queue_and_moves_to_its_start():
    story = queued().say(TurnInterrupted(cause="person"), RUN)
    story.say(started(), within(turn(2), run="run_2"))
    row = story.table.row(TurnRow, "trn_2")
    assert order(story) == [(1, "trn_3"), (2, "trn_4")]
    assert row is not None
    assert (row.state, row.order) == ("running", story.log.sequence)
