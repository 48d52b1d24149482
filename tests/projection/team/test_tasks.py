"""The board: what becomes of a task and of each attempt of it."""

from __future__ import annotations

from callboard.contracts.entities.team import Ref
from callboard.contracts.facts.agent import AgentSlept, AgentWoke
from callboard.contracts.facts.session import ThreadPaused, ThreadResumed
from callboard.contracts.facts.task import TaskCompleted, TaskCreated, TaskFailed, TaskStarted, TaskUpdated
from callboard.contracts.facts.turn import TurnCompleted, TurnFailed
from callboard.contracts.rows.team import AgentRow, AttemptRow, EdgeRow, TaskRow
from tests.projection.runs import within
from tests.projection.story import asked
from tests.projection.team.tales import (
    ATTEMPTED,
    CRITIC,
    WATCH,
    WATCHER,
    begins,
    run_of,
    shown,
    tried,
    tries,
    watcher,
)
from tests.projection.team.troupe import (
    PARENT_TASK,
    Said,
    begun,
    conforming,
    joined,
    specialist,
    team,
    told,
    working,
    wrote,
)


def outline(row: TaskRow) -> tuple[str, bool, bool, list[tuple[int, str, str]]]:
    return row.status, row.paused, row.cancelling, [(one.number, one.run_id, one.status) for one in row.attempts]


def test_a_retry_is_a_new_attempt_and_the_failed_one_stays():
    """CTL-07, UI-21: the card moves when the fact arrives."""
    first, second, third = (run_of(CRITIC, number).run for number in (1, 2, 3))
    failed = (1, first, "failed")
    assert [outline(row) for row in shown(tried(), TaskRow, "tsk_c")] == [
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
    story = tried()
    row = story.table.row(TaskRow, "tsk_c")
    assert row is not None
    started = {one.attempts[-1].number: one for one in shown(story, TaskRow, "tsk_c") if one.attempts}
    assert row.attempts[0] == AttemptRow(
        run_id=run_of(CRITIC, 1).run,
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


def test_what_a_failed_task_waits_for_is_still_what_it_waits_for():
    """CTL-07: another attempt can be made, so its lines stay until it is over."""
    story = told(asked(), specialist("critic"), *tried_until_failed())
    assert [row.key for row in story.table.panel(EdgeRow) if row.edge_type == "depends"] == ["depends:tsk_c>tsk_0"]
    story.say(TaskCompleted(summary="after all"), ATTEMPTED)
    assert [row.key for row in story.table.panel(EdgeRow) if row.edge_type == "depends"] == []


def tried_until_failed() -> Said:
    created = TaskCreated(title="Check it", depends_on=("tsk_0",)), ATTEMPTED
    return created, *tries(1), (TaskFailed(code="reported", message="no"), ATTEMPTED)


def test_a_child_given_more_to_do_while_it_works_is_still_at_its_first_attempt():
    """CTL-07: a run is not a retry."""
    story = told(team(), *wrote(1), *begun(1)[2:])
    row = story.table.row(TaskRow, "tsk_w1")
    assert row is not None
    assert [(one.number, one.run_id, one.status, one.agent_id) for one in row.attempts] == [
        (1, working(1).run, "running", "writer-1")
    ]


def test_the_tasks_of_a_turn_and_of_a_child_end_with_what_they_came_to():
    """SUB-01"""
    rows = {row.key: row for row in conforming().table.panel(TaskRow)}
    assert {key: (row.status, [one.status for one in row.attempts]) for key, row in rows.items()} == {
        PARENT_TASK: ("done", ["completed"]),
        "tsk_w1": ("done", ["completed"]),
    }


def test_a_task_that_is_done_before_its_run_is_over_leaves_no_attempt_under_way():
    """UI-26: nothing reads as running for ever."""
    story = told(asked(), specialist("critic"), *tried_until_failed()[:1], *tries(1))
    told(story, (TaskCompleted(summary="done"), ATTEMPTED), (TurnCompleted(iterations=1), run_of(CRITIC, 1)))
    row = story.table.row(TaskRow, "tsk_c")
    assert row is not None
    assert outline(row) == ("done", False, False, [(1, run_of(CRITIC, 1).run, "completed")])


def test_a_task_becomes_part_of_another():
    """UI-21"""
    story = told(team(), *joined(2), (TaskUpdated(parent_task="tsk_w1"), joined(2)[0][1]))
    row = story.table.row(TaskRow, "tsk_w2")
    assert row is not None
    assert row.parent_task == "tsk_w1"


def test_the_work_of_an_agent_that_sleeps_rests_when_it_is_resumed_before_its_time():
    """D2: nothing runs until the time comes, so that nothing reads running."""
    story, run = told(asked(), *watcher()), run_of(WATCHER, 1)
    told(story, (AgentWoke(reason="schedule"), within(run, run="", task=WATCH.task)))
    told(story, (TaskStarted(assignee="watcher"), within(run, run="", task=WATCH.task, attempt=1)), *begins(WATCHER, 1))
    told(story, (TurnFailed(code="no_progress", message=""), run))
    told(story, (ThreadPaused(cause="no_progress", reason="no progress"), WATCHER))
    told(story, (AgentSlept(reason="ran", wake_at=9, schedule="every 1800 s"), WATCH))
    paused = story.table.row(TaskRow, WATCH.task)
    agents = [story.table.row(AgentRow, "watcher")]
    told(story, (ThreadResumed(), WATCHER))
    resumed = story.table.row(TaskRow, WATCH.task)
    agents.append(story.table.row(AgentRow, "watcher"))

    assert [row and row.paused for row in agents] == ["no_progress", None]
    assert paused is not None
    assert resumed is not None
    assert (paused.status, paused.blocker) == ("blocked", "no progress")
    assert (resumed.status, resumed.blocker) == ("claimed", "")
