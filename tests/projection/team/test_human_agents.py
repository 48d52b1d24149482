"""Human agents that need attention while something waits for them."""

from __future__ import annotations

from callboard.contracts.entities.handoff_payload import Payload
from callboard.contracts.facts.handoff import HandoffAccepted, HandoffCompleted, HandoffRejected, HandoffRequested
from callboard.contracts.facts.session import ThreadOpened
from callboard.contracts.facts.task import (
    ReviewRequested,
    ReviewVerdict,
    TaskCompleted,
    TaskCreated,
    TaskFailed,
    TaskStarted,
    TaskUpdated,
)
from callboard.contracts.rows.session import SessionCard
from callboard.contracts.rows.team import AgentRow
from callboard.contracts.scope import Scope
from callboard.projection.view import SessionView
from tests.projection.story import THREAD
from tests.projection.team.tales import rows_over_time
from tests.projection.team.troupe import ScopedFacts, add_facts, team

ANN = Scope(agent="ann", thread="thr_ann")
OPENED: ScopedFacts = ((ThreadOpened(agent_name="Ann", kind="human", definition="ann", definition_hash="h"), ANN),)
GIVEN = Scope(agent="solo", thread=THREAD.thread, handoff="han_1")
HANDED: ScopedFacts = (
    (
        HandoffRequested(
            source="solo", target="ann", to_thread="thr_ann", edge="handoff", payload=Payload(message="Which one?")
        ),
        GIVEN,
    ),
)
TASK = Scope(task="tsk_ann")
CREATED: ScopedFacts = ((TaskCreated(title="Decide", assignee="ann"), TASK),)


ASKED, QUIET = ("needs_input", "needs_input"), ("idle", "none")


def reads(*steps: ScopedFacts) -> list[tuple[str, str]]:
    """Return the states of the person and of the session's card after each step.

    A restored view must show the same.
    """
    story, found = add_facts(team(), *OPENED), list[tuple[str, str]]()
    for step in steps:
        add_facts(story, *step)
        person, card = rows_over_time(story, AgentRow, "ann")[-1], rows_over_time(story, SessionCard)[-1]
        story.view = SessionView.from_state(story.view.state())
        assert story.table.row(AgentRow, "ann") == person
        found.append((person.state, card.attention))
    return found


def test_a_handoff_waits_for_the_person_until_it_is_answered():
    """UI-18, COM-06"""
    taken = HandoffAccepted(source="solo", target="ann")
    over = HandoffCompleted(source="solo", target="ann")
    back = HandoffRejected(source="solo", target="ann", to_thread=THREAD.thread, reason="not mine")
    assert reads((), HANDED, ((taken, GIVEN),), ((over, GIVEN),)) == [QUIET, ASKED, QUIET, QUIET]
    assert reads(HANDED, ((back, GIVEN),)) == [ASKED, QUIET]


def test_a_review_waits_for_the_person_until_its_verdict():
    """UI-18"""
    scope = Scope(agent="solo", thread=THREAD.thread, task="tsk_r", review="rev_9")
    wanted = ReviewRequested(reviewer="ann", target="solo", item="itm_9", to_thread="thr_ann")
    verdict = ReviewVerdict(reviewer="person", target="solo", verdict="passed", summary="Good.")
    assert reads(((wanted, scope),), ((verdict, scope),)) == [ASKED, QUIET]


def test_a_task_waits_for_its_person_until_it_starts_or_ends():
    """UI-18"""
    begun = TaskStarted(assignee="ann"), Scope(agent="ann", thread="thr_ann", task="tsk_ann", attempt=1)
    stuck, running = TaskUpdated(status="blocked", blocker="no word"), TaskUpdated(status="running")
    assert reads(CREATED, (begun,), ((stuck, TASK),), ((running, TASK),)) == [ASKED, QUIET, ASKED, QUIET]
    assert reads(CREATED, ((TaskCompleted(summary="Two."), TASK),)) == [ASKED, QUIET]
    assert reads(CREATED, (begun,), ((TaskFailed(code="no", message="no"), TASK),)) == [ASKED, QUIET, ASKED]
    assert reads(CREATED, ((TaskUpdated(assignee="solo"), TASK),)) == [ASKED, QUIET]


def test_a_task_waits_for_a_person_who_joins_later():
    """UI-18"""
    story = add_facts(team(), *CREATED, *OPENED)
    assert rows_over_time(story, AgentRow, "ann")[-1].state == "needs_input"
    assert rows_over_time(story, SessionCard)[-1].attention == "needs_input"
