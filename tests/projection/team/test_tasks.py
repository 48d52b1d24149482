"""The board: the states of a task and of its attempts."""

from __future__ import annotations

from callboard.contracts.entities.team import Ref
from callboard.contracts.facts.agent import AgentSlept, AgentWoke
from callboard.contracts.facts.session import ThreadPaused, ThreadResumed
from callboard.contracts.facts.task import TaskCompleted, TaskCreated, TaskFailed, TaskStarted, TaskUpdated
from callboard.contracts.facts.turn import TurnCompleted, TurnFailed
from callboard.contracts.rows.agent import AgentRow
from callboard.contracts.rows.task import AttemptRow, TaskRow
from callboard.contracts.rows.team import EdgeRow
from tests.projection.runs import with_ids
from tests.projection.session_builder import model_session
from tests.projection.team.scenarios import (
    ATTEMPTED,
    CRITIC,
    WATCH,
    WATCHER,
    attempt_facts,
    retry_session,
    rows_over_time,
    run_facts,
    run_scope,
    watcher_facts,
)
from tests.projection.team.worker_team import (
    PARENT_TASK,
    ScopedFacts,
    add_facts,
    child_run,
    conformance_session,
    join_facts,
    specialist_fact,
    start_facts,
    team_session,
    write_facts,
)


def outline(row: TaskRow) -> tuple[str, bool, bool, list[tuple[int, str, str]]]:
    return (
        row.status,
        row.paused,
        row.cancelling,
        [(attempt.number, attempt.run_id, attempt.status) for attempt in row.attempts],
    )


def test_a_retry_is_a_new_attempt_and_the_failed_one_stays():
    """CTL-07, UI-21: the card moves when the fact arrives."""
    first, second, third = (run_scope(CRITIC, number).run for number in (1, 2, 3))
    failed = (1, first, "failed")
    assert [outline(row) for row in rows_over_time(retry_session(), TaskRow, "tsk_c")] == [
        ("open", False, False, []),
        ("running", False, False, [(1, "", "running")]),
        ("running", False, False, [(1, first, "running")]),
        ("running", False, False, [failed]),
        ("blocked", False, False, [failed]),
        ("running", False, False, [failed, (2, "", "running")]),
        ("running", False, False, [failed, (2, second, "running")]),
        ("running", False, False, [failed, (2, second, "running")]),
        ("blocked", True, False, [failed, (2, second, "running")]),
        ("blocked", True, False, [failed, (2, second, "cancelled")]),
        ("claimed", False, False, [failed, (2, second, "cancelled")]),
        ("running", False, False, [failed, (2, third, "running")]),
        ("running", False, True, [failed, (2, third, "running")]),
        ("running", False, True, [failed, (2, third, "cancelled")]),
        ("cancelled", False, False, [failed, (2, third, "cancelled")]),
    ]


def test_a_card_has_every_reported_field_of_its_task():
    """CTL-07, UI-20"""
    session = retry_session()
    row = session.table.get_row(TaskRow, "tsk_c")
    assert row is not None
    started = {card.attempts[-1].number: card for card in rows_over_time(session, TaskRow, "tsk_c") if card.attempts}
    assert row.attempts[0] == AttemptRow(
        run_id=run_scope(CRITIC, 1).run,
        status="failed",
        detail="max_iters",
        number=1,
        agent_id="critic",
        started=started[1].attempts[0].started,
        ended=started[1].attempts[0].ended,
    )
    assert 0 < row.attempts[0].started < row.attempts[0].ended < row.attempts[1].started < row.attempts[1].ended
    assert (row.phase, row.counters, row.progress, row.refs) == (
        "reading",
        {"files": 3},
        "half of it",
        (Ref(type="file", ref="a.md"),),
    )
    assert (row.assignee, row.priority, row.summary, row.depends_on) == ("critic", "high", "no more", ("tsk_0",))


def test_a_failed_task_keeps_its_dependencies():
    """CTL-07: another attempt is possible, so its dependencies stay until its end."""
    session = add_facts(model_session(), specialist_fact("critic"), *failed_attempt_facts())
    assert [row.key for row in session.table.list_rows(EdgeRow) if row.edge_type == "depends"] == [
        "depends:tsk_c>tsk_0"
    ]
    session.add(TaskCompleted(summary="after all"), ATTEMPTED)
    assert [row.key for row in session.table.list_rows(EdgeRow) if row.edge_type == "depends"] == []


def failed_attempt_facts() -> ScopedFacts:
    created = TaskCreated(title="Check it", depends_on=("tsk_0",)), ATTEMPTED
    return created, *attempt_facts(1), (TaskFailed(code="reported", message="no"), ATTEMPTED)


def test_more_input_for_a_working_child_is_not_another_attempt():
    """CTL-07: a further run is not a retry."""
    session = add_facts(team_session(), *write_facts(1), *start_facts(1)[2:])
    row = session.table.get_row(TaskRow, "tsk_w1")
    assert row is not None
    assert [(attempt.number, attempt.run_id, attempt.status, attempt.agent_id) for attempt in row.attempts] == [
        (1, child_run(1).run, "running", "writer-1")
    ]


def test_the_tasks_of_a_turn_and_a_child_end_with_their_results():
    """SUB-01"""
    rows = {row.key: row for row in conformance_session().table.list_rows(TaskRow)}
    assert {key: (row.status, [attempt.status for attempt in row.attempts]) for key, row in rows.items()} == {
        PARENT_TASK: ("done", ["completed"]),
        "tsk_w1": ("done", ["completed"]),
    }


def test_a_task_that_ends_before_its_run_has_no_running_attempt():
    """UI-26: no attempt reads as running forever."""
    session = add_facts(model_session(), specialist_fact("critic"), *failed_attempt_facts()[:1], *attempt_facts(1))
    add_facts(session, (TaskCompleted(summary="done"), ATTEMPTED), (TurnCompleted(iterations=1), run_scope(CRITIC, 1)))
    row = session.table.get_row(TaskRow, "tsk_c")
    assert row is not None
    assert outline(row) == ("done", False, False, [(1, run_scope(CRITIC, 1).run, "completed")])


def test_a_task_becomes_part_of_another():
    """UI-21"""
    session = add_facts(team_session(), *join_facts(2), (TaskUpdated(parent_task="tsk_w1"), join_facts(2)[0][1]))
    row = session.table.get_row(TaskRow, "tsk_w2")
    assert row is not None
    assert row.parent_task == "tsk_w1"


def test_a_resumed_background_task_rests_until_its_time():
    """D2: it does not run before its time, so it does not read as running."""
    session, run = add_facts(model_session(), *watcher_facts()), run_scope(WATCHER, 1)
    add_facts(session, (AgentWoke(reason="schedule"), with_ids(run, run="", task=WATCH.task)))
    add_facts(
        session,
        (TaskStarted(assignee="watcher"), with_ids(run, run="", task=WATCH.task, attempt=1)),
        *run_facts(WATCHER, 1),
    )
    add_facts(session, (TurnFailed(code="no_progress", message=""), run))
    add_facts(session, (ThreadPaused(cause="no_progress", reason="no progress"), WATCHER))
    add_facts(session, (AgentSlept(reason="ran", wake_at=9, schedule="every 1800 s"), WATCH))
    paused = session.table.get_row(TaskRow, WATCH.task)
    agents = [session.table.get_row(AgentRow, "watcher")]
    add_facts(session, (ThreadResumed(), WATCHER))
    resumed = session.table.get_row(TaskRow, WATCH.task)
    agents.append(session.table.get_row(AgentRow, "watcher"))

    assert [row and row.paused for row in agents] == ["no_progress", None]
    assert paused is not None
    assert resumed is not None
    assert (paused.status, paused.blocker) == ("blocked", "no progress")
    assert (resumed.status, resumed.blocker) == ("claimed", "")
