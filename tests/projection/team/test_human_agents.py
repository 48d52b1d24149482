"""Human agents that need attention while something waits for them."""

from __future__ import annotations

from callboard.contracts.entities.handoff_payload import Payload
from callboard.contracts.facts.exchange.handoff import (
    HandoffAccepted,
    HandoffCompleted,
    HandoffRejected,
    HandoffRequested,
)
from callboard.contracts.facts.exchange.review import ReviewRequested, ReviewVerdict
from callboard.contracts.facts.session import ThreadOpened
from callboard.contracts.facts.task import TaskCompleted, TaskCreated, TaskFailed, TaskStarted, TaskUpdated
from callboard.contracts.rows.agent import AgentRow
from callboard.contracts.rows.session import SessionCard
from callboard.contracts.scope import Scope
from callboard.projection.view import SessionView
from tests.projection.session_builder import THREAD
from tests.projection.team.scenarios import rows_over_time
from tests.projection.team.worker_team import ScopedFacts, add_facts, team_session

ANN = Scope(agent="ann", thread="thr_ann")
OPENED: ScopedFacts = ((ThreadOpened(agent_name="Ann", kind="human", definition="ann", definition_hash="h"), ANN),)
HANDOFF = Scope(agent="solo", thread=THREAD.thread, handoff="han_1")
HANDED: ScopedFacts = (
    (
        HandoffRequested(
            source="solo", target="ann", to_thread="thr_ann", edge="handoff", payload=Payload(message="Which one?")
        ),
        HANDOFF,
    ),
)
TASK = Scope(task="tsk_ann")
CREATED: ScopedFacts = ((TaskCreated(title="Decide", assignee="ann"), TASK),)


NEEDED, IDLE = ("needs_input", "needs_input"), ("idle", "none")


def read_states(*steps: ScopedFacts) -> list[tuple[str, str]]:
    """Return the states of the person and of the session's card after each step.

    A restored view must show the same.
    """
    session, states = add_facts(team_session(), *OPENED), list[tuple[str, str]]()
    for step in steps:
        add_facts(session, *step)
        person, card = rows_over_time(session, AgentRow, "ann")[-1], rows_over_time(session, SessionCard)[-1]
        session.view = SessionView.from_state(session.view.encode_state())
        assert session.table.get_row(AgentRow, "ann") == person
        states.append((person.state, card.attention))
    return states


def test_a_handoff_waits_for_the_person_until_it_is_answered():
    """UI-18, COM-06"""
    accepted = HandoffAccepted(source="solo", target="ann")
    over = HandoffCompleted(source="solo", target="ann")
    back = HandoffRejected(source="solo", target="ann", to_thread=THREAD.thread, reason="not mine")
    assert read_states((), HANDED, ((accepted, HANDOFF),), ((over, HANDOFF),)) == [IDLE, NEEDED, IDLE, IDLE]
    assert read_states(HANDED, ((back, HANDOFF),)) == [NEEDED, IDLE]


def test_a_review_waits_for_the_person_until_its_verdict():
    """UI-18"""
    scope = Scope(agent="solo", thread=THREAD.thread, task="tsk_r", review="rev_9")
    wanted = ReviewRequested(reviewer="ann", target="solo", item="itm_9", to_thread="thr_ann")
    verdict = ReviewVerdict(reviewer="person", target="solo", verdict="passed", summary="Good.")
    assert read_states(((wanted, scope),), ((verdict, scope),)) == [NEEDED, IDLE]


def test_a_task_waits_for_its_person_until_it_starts_or_ends():
    """UI-18"""
    begun = TaskStarted(assignee="ann"), Scope(agent="ann", thread="thr_ann", task="tsk_ann", attempt=1)
    stuck, running = TaskUpdated(status="blocked", blocker="no word"), TaskUpdated(status="running")
    assert read_states(CREATED, (begun,), ((stuck, TASK),), ((running, TASK),)) == [NEEDED, IDLE, NEEDED, IDLE]
    assert read_states(CREATED, ((TaskCompleted(summary="Two."), TASK),)) == [NEEDED, IDLE]
    assert read_states(CREATED, (begun,), ((TaskFailed(code="no", message="no"), TASK),)) == [NEEDED, IDLE, NEEDED]
    assert read_states(CREATED, ((TaskUpdated(assignee="solo"), TASK),)) == [NEEDED, IDLE]


def test_a_task_waits_for_a_person_who_joins_later():
    """UI-18"""
    session = add_facts(team_session(), *CREATED, *OPENED)
    assert rows_over_time(session, AgentRow, "ann")[-1].state == "needs_input"
    assert rows_over_time(session, SessionCard)[-1].attention == "needs_input"
