"""The queue of a thread: order of arrival, and its changes."""

from __future__ import annotations

import pytest

from callboard.contracts.commands.queue import EditQueuedTurn, PromoteQueuedTurn, QueueChanged, RemoveQueuedTurn
from callboard.contracts.commands.turn import ResumeThread
from callboard.contracts.content import Text
from callboard.contracts.facts.message import OutputFinal
from callboard.contracts.facts.queue import QueueAdded, QueueEdited, QueuePromoted, QueueRemoved
from callboard.contracts.facts.session import ThreadResumed
from callboard.contracts.facts.turn import TurnCompleted, TurnInterruptRequested, TurnSubmitted
from callboard.control.outcomes import HostTakenOver
from tests.control.rigs.decisions import Scenario, session_after
from tests.control.rigs.examples import SESSION, THREAD, at, interrupt, run_stop, submit, text_response
from tests.control.rigs.expected_facts import message_text, model_completion, turn_start


def remove(turn: int, reason: str = "") -> RemoveQueuedTurn:
    return RemoveQueuedTurn(session_id=SESSION, turn_id=f"trn_{turn}", reason=reason)


def promote(turn: int, reason: str = "") -> PromoteQueuedTurn:
    return PromoteQueuedTurn(session_id=SESSION, turn_id=f"trn_{turn}", reason=reason)


def edit(turn: int, text: str) -> EditQueuedTurn:
    return EditQueuedTurn(session_id=SESSION, turn_id=f"trn_{turn}", text=text)


def queue_changed(*turns: int, sequence: int) -> QueueChanged:
    names = tuple(f"trn_{turn}" for turn in turns)
    return QueueChanged(session_id=SESSION, thread_id=THREAD, queued=names, sequence=sequence)


def test_a_busy_agent_queues_messages_and_shows_their_places():
    """MAR-13"""
    session = session_after(submit("one"), submit("two"))
    session.when(submit("three")).then(
        (TurnSubmitted(input=Text(text="three"), mode="chat", permission_mode="ask"), at(turn=3)),
        (QueueAdded(position=2), at(turn=3)),
    )
    assert session.queue == ["trn_2", "trn_3"]


def test_a_busy_agent_runs_its_messages_in_order():
    """MAR-13"""
    session = session_after(submit("one"), submit("two"), submit("three"))
    session.when(text_response("done")).then(
        message_text("done", at(turn=1, run=1, step=2)),
        *model_completion(at(turn=1, run=1, step=1)),
        (OutputFinal(parts=(2,)), at(turn=1, run=1)),
        (TurnCompleted(iterations=1), at(turn=1, run=1)),
        *turn_start(2, 2),
    )
    session.when(text_response("done", run=2)).ends_with(*turn_start(3, 3))
    assert session.queue == []


def test_a_queued_turn_keeps_the_mode_that_it_was_submitted_with():
    session = session_after(submit("one"), submit("two", mode="auto"))
    session.when(text_response("done")).ends_with(*turn_start(2, 2, mode="auto"))


def test_a_queued_turn_is_removed():
    """UI-11"""
    result = session_after(submit("one"), submit("two"), submit("three")).when(remove(2, "not needed"))
    result.then((QueueRemoved(reason="not needed"), at(turn=2))).with_answer(queue_changed(3, sequence=11))
    assert result.decision.closed == ("trn_2",)


def test_a_removed_turn_neither_starts_nor_frees_its_id():
    """CTL-02, CTL-15"""
    session = session_after(submit("one"), submit("two"), remove(2))
    assert session.refuses(remove(2)).code == "turn_not_queued"
    assert session.refuses(submit(turn_id="trn_2")).code == "turn_id_used"
    assert session.when(text_response("done")).facts[-1] == TurnCompleted(iterations=1)


def test_a_queued_turn_is_moved_to_the_front():
    result = session_after(submit("one"), submit("two"), submit("three")).when(promote(3, "urgent"))
    result.then((QueuePromoted(reason="urgent"), at(turn=3))).with_answer(queue_changed(3, 2, sequence=11))


def test_the_first_in_the_queue_stays_the_first_without_a_fact():
    result = session_after(submit("one"), submit("two"), submit("three")).when(promote(2))
    result.then().with_answer(queue_changed(2, 3, sequence=10))


def test_a_queued_turn_can_be_edited_and_keeps_its_place():
    """UI-11"""
    result = session_after(submit("one"), submit("two"), submit("three")).when(edit(2, "two, but better"))
    result.then((QueueEdited(input=Text(text="two, but better")), at(turn=2))).with_answer(
        queue_changed(2, 3, sequence=11)
    )


@pytest.mark.parametrize("change", [remove(1), promote(1), edit(1, "x")], ids=["remove", "promote", "edit"])
def test_a_started_turn_is_no_longer_in_the_queue(change):
    session = session_after(submit("one"))
    assert session.refuses(change).code == "turn_not_queued"


def test_interrupting_input_is_first_in_the_queue_and_interrupts_the_running_turn():
    result = session_after(submit("one"), submit("two")).when(submit("now", when_busy="interrupt"))
    result.then(
        (TurnSubmitted(input=Text(text="now"), mode="chat", permission_mode="ask"), at(turn=3)),
        (QueueAdded(position=2), at(turn=3)),
        (QueuePromoted(reason="interrupts the running turn"), at(turn=3)),
        (TurnInterruptRequested(cause="replaced", reason="replaced by newer input"), at(turn=1, run=1)),
    )


def test_interrupting_input_for_a_stopping_turn_requests_no_second_interrupt():
    session = session_after(submit("one"), interrupt())
    session.when(submit("now", when_busy="interrupt")).then(
        (TurnSubmitted(input=Text(text="now"), mode="chat", permission_mode="ask"), at(turn=2)),
        (QueueAdded(position=1), at(turn=2)),
    )


def test_the_newer_of_two_interrupting_inputs_runs_first():
    session = session_after(submit("one"), submit("now", when_busy="interrupt"), submit("now!", when_busy="interrupt"))
    assert session.queue == ["trn_3", "trn_2"]
    session.when(run_stop(cause="replaced")).ends_with(*turn_start(3, 2))


def test_interrupting_input_for_an_idle_thread_starts_at_once():
    session = session_after(submit("one"), text_response("done"))
    session.when(submit("two", when_busy="interrupt")).then(
        (TurnSubmitted(input=Text(text="two"), mode="chat", permission_mode="ask"), at(turn=2)), *turn_start(2, 2)
    )


def test_a_queue_survives_a_restart_in_its_order_and_waits_for_a_person():
    """CTL-06"""
    session = session_after(submit("one"), submit("two"), submit("three"), promote(3))
    session.epoch = 2
    session.after(HostTakenOver(partials=()))
    assert session.queue == ["trn_3", "trn_2"]
    assert session.thread.run is None
    session.when(ResumeThread(session_id=SESSION)).ends_with(*turn_start(3, 2))


def test_a_paused_thread_queues_input_and_starts_nothing():
    """CTL-06"""
    session = _recovered_session()
    session.when(submit("three")).then(
        (TurnSubmitted(input=Text(text="three"), mode="chat", permission_mode="ask"), at(turn=3)),
        (QueueAdded(position=2), at(turn=3)),
    )
    session.after(submit("four", when_busy="interrupt"))
    assert session.queue == ["trn_4", "trn_2", "trn_3"]


def test_new_input_for_a_paused_thread_waits_behind_its_queue():
    """CTL-06"""
    session = _recovered_session()
    session.when(submit("three")).then(
        (TurnSubmitted(input=Text(text="three"), mode="chat", permission_mode="ask"), at(turn=3)),
        (QueueAdded(position=2), at(turn=3)),
    )


def test_new_input_for_a_paused_thread_with_an_emptied_queue_resumes_it():
    """CTL-06: the person sent the input, and no older turn waits."""
    session = _recovered_session().after(remove(2))
    session.when(submit("three")).then(
        (TurnSubmitted(input=Text(text="three"), mode="chat", permission_mode="ask"), at(turn=3)),
        (ThreadResumed(reason="new input with an empty queue"), at()),
        *turn_start(3, 2),
    )


def test_a_paused_thread_with_an_empty_queue_is_resumed_and_starts_nothing():
    """CTL-06"""
    _recovered_session().after(remove(2)).when(ResumeThread(session_id=SESSION)).then((ThreadResumed(), at()))


def _recovered_session() -> Scenario:
    session = session_after(submit("one"), submit("two"))
    session.epoch = 2
    return session.after(HostTakenOver(partials=()))
